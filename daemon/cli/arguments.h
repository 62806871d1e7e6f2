// The command line as values (design.md 5.1).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "daemon/cli/api_client.h"
#include "daemon/cli/probe_report.h"

namespace rdmapulse::cli {

// Exit codes of every command; `probe` adds 1: no reply.
inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 2;

// A command that asks the daemon.
struct Daemon {
  std::string socket = kDefaultSocket;
  bool json = false;

  bool operator==(const Daemon&) const = default;
};

struct ScrapeCommand {
  std::optional<std::string> root = {};    // a recorded host (design.md 5.2); none: this host
  std::optional<std::string> config = {};  // how this host is read; none: the daemon's

  bool operator==(const ScrapeCommand&) const = default;
};

struct RecordCommand {
  std::string folder = {};
  std::chrono::milliseconds duration = std::chrono::seconds(60);
  std::chrono::milliseconds every = std::chrono::milliseconds(100);
  bool anonymise = false;
  std::optional<std::string> config = {};  // whose devices are recorded; none: the daemon's
  std::optional<std::string> socket = {};  // of a daemon; none: the configuration's

  bool operator==(const RecordCommand&) const = default;
};

struct ReplayCommand {
  std::string folder = {};                 // a trace (design.md 5.3)
  std::optional<std::string> config = {};  // whose thresholds hold; none: the defaults
  bool json = false;

  bool operator==(const ReplayCommand&) const = default;
};

struct PortsCommand {
  Daemon daemon = {};

  bool operator==(const PortsCommand&) const = default;
};

struct PeersCommand {
  Daemon daemon = {};
  bool hops = false;  // also of paths that are well

  bool operator==(const PeersCommand&) const = default;
};

struct FindingsCommand {
  Daemon daemon = {};
  std::string id;      // empty: all of them
  bool trace = false;  // what led to that one

  bool operator==(const FindingsCommand&) const = default;
};

struct StatusCommand {
  Daemon daemon = {};
  std::optional<bool> maintenance;  // set it first

  bool operator==(const StatusCommand&) const = default;
};

struct ProbeCommand {
  Daemon daemon = {};
  ProbeTarget target = {};
  std::uint32_t count = 0;  // 0: until interrupted
  double interval_seconds = 1;
  bool trace = false;

  bool operator==(const ProbeCommand&) const = default;
};

struct TopCommand {
  Daemon daemon = {};
  double interval_seconds = 1;
  std::uint32_t count = 0;  // 0: until interrupted

  bool operator==(const TopCommand&) const = default;
};

struct LocateCommand {
  Daemon daemon = {};
  std::string prometheus = {};                // its address; empty: this host's daemon alone
  std::optional<double> window_seconds = {};  // none: the command's own choice

  bool operator==(const LocateCommand&) const = default;
};

// What the command line comes to when there is nothing to run: help, the version, or a usage error.
struct Finished {
  int exit_code = kExitDone;
  std::string output;  // for standard output, with its end of line
  std::string error;   // one sentence for standard error

  bool operator==(const Finished&) const = default;
};

using Command =
    std::variant<Finished, ScrapeCommand, RecordCommand, ReplayCommand, PortsCommand, PeersCommand,
                 FindingsCommand, StatusCommand, ProbeCommand, TopCommand, LocateCommand>;

Command ParseArguments(int argc, const char* const* argv);

}  // namespace rdmapulse::cli
