#include "daemon/cli/host_records.h"

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "daemon/cli/json_fields.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr const char* kWhat = "the list of peers";
constexpr std::array<const char*, 4> kOutcomes = {"ok", "late_blocked", "late_retx", "failed"};

struct PathKey {
  std::string port;
  std::string peer;
  std::string peer_port;
  std::string traffic_class;

  auto operator<=>(const PathKey&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy 14
};

// Of all ops together.
struct PathSeen {
  std::array<std::uint64_t, kOutcomes.size()> outcomes{};  // by kOutcomes, since the daemon's start
  std::uint64_t overdue = 0;
  std::uint16_t sport = 0;  // 0: unknown
};

struct Peers {
  std::map<PathKey, PathSeen> paths;
  std::map<std::string, std::string> tors;  // peer → ToR
  bool has_outcomes = false;
};

std::string LabelOf(const json::object& object, std::string_view name) {
  const json::object* const labels = ObjectField(object, "labels");
  return labels == nullptr ? "" : TextField(*labels, name).value_or("");
}

void AddPath(const std::string& peer, const json::object& path, Peers& peers) {
  const std::string op = TextOrDash(path, "op");
  // An echo waits for the peer's CPU, not for the network; datagrams go other ways than the path,
  // and a connect is no probe.
  if (op == "echo" || op == "ud" || op == "connect") return;
  const PathKey key{.port = PortName(path, "device", "port"),
                    .peer = peer,
                    .peer_port = PortName(path, "peer_device", "peer_port"),
                    .traffic_class = TextOrDash(path, "class")};
  PathSeen& seen = peers.paths[key];
  if (BoolField(path, "overdue").value_or(false)) seen.overdue = 1;  // a path has one outstanding
  const std::uint64_t sport = CountField(path, "sport").value_or(0);
  if (sport <= std::numeric_limits<std::uint16_t>::max())
    seen.sport = static_cast<std::uint16_t>(sport);
  const json::object* const outcomes = ObjectField(path, "outcomes");
  if (outcomes == nullptr) return;
  peers.has_outcomes = true;
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    // Far below what a sum of some ops could overflow.
    constexpr std::uint64_t kMost = 1ULL << 50;
    const std::uint64_t count = CountField(*outcomes, kOutcomes[i]).value_or(0);
    seen.outcomes[i] += count < kMost ? count : 0;
  }
}

Result<Peers> Parse(std::string_view text) {
  const Result<json::object> answer = ParseObject(text, kWhat);
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> array = RequiredArray(*answer, "peers");
  if (!array) return tl::unexpected(array.error());
  Peers peers;
  for (const json::object* const peer : Objects(**array)) {
    const std::string name = TextOrDash(*peer, "peer");
    peers.tors[name] = LabelOf(*peer, "tor");
    const json::array* const paths = ArrayField(*peer, "paths");
    if (paths == nullptr) continue;
    for (const json::object* const path : Objects(*paths)) AddPath(name, *path, peers);
  }
  return peers;
}

class WindowBuilder {
 public:
  WindowBuilder(std::string host, std::string tor) : host_(std::move(host)), tor_(std::move(tor)) {}

  void Add(const PathKey& key, const std::string& peer_tor, const PathSeen& before,
           const PathSeen& after) {
    std::array<std::uint64_t, kOutcomes.size()> counts{};
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
      if (after.outcomes[i] < before.outcomes[i]) return;  // the daemon began anew
      counts[i] = after.outcomes[i] - before.outcomes[i];
    }
    locate::Record record{.source = Nic(host_, key.port, tor_),
                          .destination = Nic(key.peer, key.peer_port, peer_tor),
                          .traffic_class = key.traffic_class,
                          .sport = {},
                          .hops = {},
                          .probes = counts[0] + counts[1] + counts[2] + counts[3] + after.overdue,
                          .late_blocked = counts[1] + after.overdue,
                          .late_retx = counts[2],
                          .failed = counts[3]};
    if (after.sport != 0) record.sport = after.sport;
    window_.records.push_back(std::move(record));
  }
  locate::Window Take() { return std::move(window_); }

 private:
  std::size_t Nic(const std::string& host, const std::string& port, const std::string& tor) {
    const auto [place, is_new] = indices_.try_emplace({host, port}, window_.nics.size());
    if (is_new) window_.nics.push_back({.host = host, .port = port, .tor = tor, .explained = {}});
    return place->second;
  }

  std::string host_;
  std::string tor_;
  std::map<std::pair<std::string, std::string>, std::size_t> indices_;
  locate::Window window_;
};

}  // namespace

Result<locate::Window> HostWindow(std::string_view status, std::string_view peers_before,
                                  std::string_view peers_after) {
  const Result<json::object> self = ParseObject(status, "the daemon's status");
  if (!self) return tl::unexpected(self.error());
  const Result<Peers> before = Parse(peers_before);
  if (!before) return tl::unexpected(before.error());
  const Result<Peers> after = Parse(peers_after);
  if (!after) return tl::unexpected(after.error());
  if (!after->paths.empty() && !after->has_outcomes) {
    return Fail({"reading the daemon's answer: its paths have no \"outcomes\""},
                "are rdmapulse and rdmapulsed of the same version?");
  }
  WindowBuilder builder(TextOrDash(*self, "host"), LabelOf(*self, "tor"));
  for (const auto& [key, seen] : after->paths) {
    const auto earlier = before->paths.find(key);
    if (earlier == before->paths.end()) continue;
    builder.Add(key, after->tors.at(key.peer), earlier->second, seen);
  }
  return builder.Take();
}

std::uint16_t SportOf(std::string_view peers, const std::string& port, const std::string& peer,
                      const std::string& peer_port, const std::string& traffic_class) {
  const Result<Peers> parsed = Parse(peers);
  if (!parsed) return 0;
  const auto found = parsed->paths.find(
      {.port = port, .peer = peer, .peer_port = peer_port, .traffic_class = traffic_class});
  return found == parsed->paths.end() ? std::uint16_t{0} : found->second.sport;
}

}  // namespace rdmapulse::cli
