// Answers of a daemon, line by line: whatever comes, rows never go back in time.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "daemon/cli/record/probe_rows.h"
#include "daemon/health/trace/line_reader.h"
#include "daemon/health/trace/writer.h"

namespace {

namespace trace = rdmapulse::health::trace;

void Check(const std::string& rows) {
  const std::string file = trace::ProbeHeader() + rows;
  auto read = trace::ProbeRows::Open(trace::LinesOf("probes.csv", file));
  if (!read) std::abort();
  rdmapulse::health::Time last = rdmapulse::health::kNever;
  for (;;) {
    const auto row = read->Next();
    if (!row || !*row) return;
    if ((*row)->posted < last) std::abort();
    last = (*row)->posted;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(static_cast<const char*>(static_cast<const void*>(data)), size);
  rdmapulse::cli::ProbeRows rows("h1", rdmapulse::cli::ProbeRows::Peers::kNumbered,
                                 rdmapulse::health::kNever, 4);
  rdmapulse::health::Time now{};
  std::string text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (!rows.AddProbe(line)) static_cast<void>(rows.AddPeers(rdmapulse::health::Time(7), line));
    text += rows.TakeFinished(now += std::chrono::seconds(1));
  }
  Check(text + rows.TakeAll());
  return 0;
}
