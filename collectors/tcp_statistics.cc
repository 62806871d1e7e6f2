#include "collectors/tcp_statistics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace rdmapulse::collectors {
namespace {

constexpr const char* kFile = "net/snmp";
// Counters of segments, and of connections that were reset. The other numbers of these lines are
// settings and gauges.
constexpr std::array<std::string_view, 6> kNames = {"InSegs", "OutSegs",     "RetransSegs",
                                                    "InErrs", "EstabResets", "InCsumErrors"};

std::vector<std::string_view> Words(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end > 0) words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

// The lines of this protocol, without its name.
std::vector<std::string_view> LinesOf(std::string_view text, std::string_view protocol) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (line.starts_with(protocol)) lines.push_back(line.substr(protocol.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

Result<std::vector<Value>> ParseTcpStatistics(std::string_view snmp) {
  const std::vector<std::string_view> lines = LinesOf(snmp, "Tcp: ");
  if (lines.size() != 2) return Fail({"there are not two lines of Tcp in it"});
  const std::vector<std::string_view> names = Words(lines[0]);
  const std::vector<std::string_view> numbers = Words(lines[1]);
  if (names.size() != numbers.size()) {
    return Fail({"it has ", std::to_string(names.size()), " names and ",
                 std::to_string(numbers.size()), " numbers for Tcp"});
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(kNames.begin(), kNames.end(), names[i]) == kNames.end()) continue;
    const Result<std::optional<std::uint64_t>> number = ParseCounter(numbers[i]);
    if (!number) return tl::unexpected(number.error());
    if (*number) values.push_back({.name = "Tcp/" + std::string(names[i]), .value = **number});
  }
  return values;
}

bool RunsOverTheKernelsTcp(std::string_view driver) { return driver == "siw"; }

TcpStatistics::TcpStatistics(const KernelFiles& procfs, std::string device, std::uint32_t port)
    : procfs_(&procfs), device_(std::move(device)), port_(port) {}

SourceRead TcpStatistics::Read(Reading& reading) {
  reading = {.source = Source::kProcNet, .device = device_, .port = port_, .started = Clock::now()};
  const Result<std::optional<std::string>> text = procfs_->ReadText(kFile);
  reading.finished = Clock::now();
  if (text && !*text) return {.exists = false, .success = true};
  Result<std::vector<Value>> values =
      text ? ParseTcpStatistics(**text) : tl::unexpected(text.error());
  if (!values) {
    reading.problems.push_back(
        {kFile, values.error().code ? values.error().code.message() : values.error().doing});
    return {.exists = true, .success = false};
  }
  reading.values = std::move(*values);
  return {.exists = true, .success = true};
}

}  // namespace rdmapulse::collectors
