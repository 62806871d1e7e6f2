// What the daemon costs its host, as Prometheus' client libraries name it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rdmapulse::metrics {

// What could not be read is absent.
struct ProcessStats {
  std::optional<double> cpu_seconds;
  std::optional<std::uint64_t> resident_bytes;
  std::optional<std::uint64_t> open_fds;

  bool operator==(const ProcessStats&) const = default;
};

// `stat` is the text of /proc/PID/stat (proc(5)).
ProcessStats ParseProcessStat(std::string_view stat, std::uint64_t ticks_per_second,
                              std::uint64_t page_bytes);

// Of this process, from /proc/self. Any thread.
ProcessStats ReadProcessStats();

}  // namespace rdmapulse::metrics
