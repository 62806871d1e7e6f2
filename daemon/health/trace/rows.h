// The rows of hosts.csv and probes.csv as the detectors' inputs (design 5.3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/health/inputs.h"
#include "daemon/health/trace/table.h"

namespace rdmapulse::health::trace {

// Priority 3 is the lossless class of a trace, and so is a row that names none.
inline constexpr std::uint32_t kLosslessPriority = 3;

struct HostRow {
  std::string host;
  PortSample port;
  HostSample self;
};

class HostRows {
 public:
  // Errors: time_us or host is missing.
  static Result<HostRows> Open(std::unique_ptr<LineReader> lines);
  // nullopt: the end.
  Result<std::optional<HostRow>> Next();

  const Table& table() const { return table_; }
  const std::vector<std::string>& ignored() const { return ignored_; }  // columns nobody knows

 private:
  explicit HostRows(Table table) : table_(std::move(table)) {}
  Result<void> ReadGauges(HostRow& row) const;

  Table table_;
  std::size_t time_ = 0;
  std::size_t host_ = 0;
  std::optional<std::size_t> device_, port_, priority_, up_, rate_, mtu_, epoch_, late_, present_,
      maintenance_, config_;
  std::vector<std::pair<std::size_t, Signal>> signals_;
  std::vector<std::string> ignored_;
};

// As in the column `outcome`: "ok", "late_blocked", …
std::string_view Name(ProbeOutcome outcome);

struct ProbeRow {
  std::string src{};
  ProbePath path{};
  Time posted{};
  bool outstanding = false;  // neither a round trip nor an outcome: it never came back
  bool to_peer = true;       // false: a loopback or a connection, which no detector reads
  ProbeResult result{};      // when not outstanding
  std::optional<bool> session_up{};
  std::optional<std::uint64_t> peer_epoch{};
};

class ProbeRows {
 public:
  // Errors: time_us, src or dst is missing.
  static Result<ProbeRows> Open(std::unique_ptr<LineReader> lines);
  Result<std::optional<ProbeRow>> Next();

  const Table& table() const { return table_; }
  const std::vector<std::string>& ignored() const { return ignored_; }

 private:
  explicit ProbeRows(Table table) : table_(std::move(table)) {}
  Result<void> ReadPath(ProbeRow& row) const;
  Result<void> ReadResult(ProbeRow& row) const;

  Table table_;
  std::size_t time_ = 0;
  std::size_t src_ = 0;
  std::size_t dst_ = 0;
  std::optional<std::size_t> device_, port_, class_, kind_, sport_, rtt_, outcome_, status_,
      responder_, session_, epoch_;
  std::vector<std::string> ignored_;
};

}  // namespace rdmapulse::health::trace
