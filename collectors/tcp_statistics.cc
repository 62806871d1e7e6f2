#include "collectors/tcp_statistics.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "collectors/words.h"

namespace rdmapulse::collectors {
namespace {

struct File {
  const char* path;
  std::string_view protocol;  // its lines begin so
  bool required;
};
constexpr std::size_t kMaxBytes = 16384;  // net/netstat has a little over 4 KiB
constexpr File kSnmp{"self/net/snmp", "Tcp", true};
constexpr File kNetstat{"self/net/netstat", "TcpExt", false};
// Counters of segments, and of connections that were reset. The other numbers of these lines are
// settings, gauges, or of no use here.
constexpr std::array<std::string_view, 8> kNames = {"InSegs",       "OutSegs",      "RetransSegs",
                                                    "InErrs",       "EstabResets",  "InCsumErrors",
                                                    "TCPDSACKRecv", "TCPLossProbes"};

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

// As KernelFiles::ReadText; that one is for what fits into a page.
Result<std::optional<std::string>> ReadText(const KernelFiles& files, const char* path) {
  const Result<std::optional<UniqueFd>> fd = files.Open(path);
  if (!fd) return tl::unexpected(fd.error());
  if (!*fd) return std::nullopt;
  std::vector<char> buffer(kMaxBytes + 1);
  const auto text = ReadFromStart((*fd)->get(), buffer);
  if (!text) return Fail(text.error(), {"reading ", files.Root(), "/", path});
  return std::string(*text);
}

}  // namespace

Result<std::vector<Value>> ParseTcpStatistics(std::string_view text, std::string_view protocol) {
  const std::string name(protocol);
  const std::vector<std::string_view> lines = LinesOf(text, name + ": ");
  if (lines.size() != 2) return Fail({"there are not two lines of ", name, " in it"});
  const std::vector<std::string_view> names = Words(lines[0]);
  const std::vector<std::string_view> numbers = Words(lines[1]);
  if (names.size() != numbers.size()) {
    return Fail({"it has ", std::to_string(names.size()), " names and ",
                 std::to_string(numbers.size()), " numbers for ", name});
  }
  std::vector<Value> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (std::find(kNames.begin(), kNames.end(), names[i]) == kNames.end()) continue;
    const Result<std::optional<std::uint64_t>> number = ParseCounter(numbers[i]);
    if (!number) return tl::unexpected(number.error());
    if (*number) values.push_back({.name = name + "/" + std::string(names[i]), .value = **number});
  }
  return values;
}

bool RunsOverTheKernelsTcp(std::string_view driver) { return driver == "siw"; }

TcpStatistics::TcpStatistics(const KernelFiles& procfs, std::string device, std::uint32_t port)
    : procfs_(&procfs), device_(std::move(device)), port_(port) {}

SourceRead TcpStatistics::Read(Reading& reading) {
  reading = {.source = Source::kProcNet, .device = device_, .port = port_, .started = Clock::now()};
  SourceRead read{.exists = false, .success = true};
  for (const File& file : {kSnmp, kNetstat}) {
    const Result<std::optional<std::string>> text = ReadText(*procfs_, file.path);
    if (text && !*text) {
      if (file.required) break;
      continue;
    }
    read.exists = true;
    const Result<std::vector<Value>> values =
        text ? ParseTcpStatistics(**text, file.protocol) : tl::unexpected(text.error());
    if (!values) {
      const Error& error = values.error();
      reading.problems.push_back(error.code ? ProblemOf(file.path, error.code.value())
                                            : Problem{file.path, error.doing});
      read.success = false;
      continue;
    }
    reading.values.insert(reading.values.end(), values->begin(), values->end());
  }
  reading.finished = Clock::now();
  return read;
}

}  // namespace rdmapulse::collectors
