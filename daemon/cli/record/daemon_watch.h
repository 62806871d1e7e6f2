// What a running daemon tells while this host is recorded: its probes, its sessions, itself.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/record/probe_rows.h"
#include "daemon/health/inputs.h"

namespace rdmapulse::cli {

class DaemonWatch {
 public:
  // `rows` takes the probes and sessions. Error: no daemon answers there, or it has no such page.
  static Result<DaemonWatch> Start(const std::string& socket, ProbeRows rows,
                                   std::chrono::microseconds unix_minus_monotonic);

  // Takes what has come since; blocks only for as long as the daemon needs for an answer. Error:
  // the daemon has ended or cannot go on. What came before is kept.
  Result<void> Take(TimePoint now);

  // What the daemon has said of itself since the last call.
  std::optional<health::HostSample> TakeAgent() { return std::exchange(agent_, std::nullopt); }
  ProbeRows& probes() { return probes_; }

 private:
  DaemonWatch(std::string socket, ApiLines lines, ProbeRows rows,
              std::chrono::microseconds unix_minus_monotonic)
      : socket_(std::move(socket)),
        lines_(std::move(lines)),
        probes_(std::move(rows)),
        unix_minus_monotonic_(unix_minus_monotonic) {}

  Result<void> TakeLines();
  Result<void> TakeState(TimePoint now);

  std::string socket_;
  ApiLines lines_;
  ProbeRows probes_;
  std::chrono::microseconds unix_minus_monotonic_;
  std::optional<health::HostSample> agent_;
  TimePoint next_state_{};
};

}  // namespace rdmapulse::cli
