#include "probes/probe.h"

#include <array>

namespace rdmapulse::probes {
namespace {

constexpr std::array<std::string_view, kOpCount> kOpNames = {
    "write0", "write", "write_mtu", "read", "echo", "atomic", "loopback", "connect", "ud"};
constexpr std::array<std::string_view, kClassCount> kClassNames = {"lossless", "control"};
constexpr std::array<std::string_view, kOutcomeCount> kOutcomeNames = {
    "ok", "late_blocked", "late_retx", "late_self", "failed", "aborted"};

// By ibv_wc_status, in the words of ibv_wc_status_str(3) made fit for a label.
constexpr std::array<std::string_view, 24> kStatusNames = {
    "success",
    "local length error",
    "local QP operation error",
    "local EE context operation error",
    "local protection error",
    "work request flushed",
    "memory window bind error",
    "bad response",
    "local access error",
    "remote invalid request",
    "remote access error",
    "remote operation error",
    "transport retry exceeded",
    "RNR retry exceeded",
    "local RDD violation",
    "remote invalid RD request",
    "remote abort",
    "invalid EE context number",
    "invalid EE context state",
    "fatal error",
    "response timeout",
    "general error",
    "TM error",
    "TM software rendezvous",
};

template <typename Enum, std::size_t kCount>
std::optional<Enum> Find(const std::array<std::string_view, kCount>& names, std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view Name(Op op) { return kOpNames[static_cast<std::size_t>(op)]; }
std::optional<Op> ParseOp(std::string_view name) {
  return name == "send" ? Op::kEcho : Find<Op>(kOpNames, name);
}

std::string OpNames() {
  std::string names;
  for (const std::string_view name : kOpNames) {
    if (!IsSent(*ParseOp(name))) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

std::string_view Name(Class traffic_class) {
  return kClassNames[static_cast<std::size_t>(traffic_class)];
}
std::optional<Class> ParseClass(std::string_view name) { return Find<Class>(kClassNames, name); }

std::string Text(const PathKey& key) {
  return key.peer + " " + key.local.Text() + " to " + key.remote.Text() + " " +
         std::string(Name(key.traffic_class)) +
         (key.stream == 0 ? "" : " #" + std::to_string(key.stream + 1));
}

std::string_view Name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

std::string_view StatusName(int code) {
  if (code == kStatusNoCompletion) return "no completion";
  if (code == kStatusNotConnected) return "not connected";
  if (code == kStatusNoAnswer) return "no answer";
  const auto index = static_cast<std::size_t>(code);
  return index < kStatusNames.size() ? kStatusNames[index] : "unknown status";
}

}  // namespace rdmapulse::probes
