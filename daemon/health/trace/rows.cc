#include "daemon/health/trace/rows.h"

#include <algorithm>
#include <array>

#include "collectors/catalogue.h"

namespace rdmapulse::health::trace {
namespace {

// A host name of DNS has 253; the same for whatever else is called by name.
constexpr std::size_t kNameMax = 253;
constexpr std::uint64_t kTimeMax = std::uint64_t{1} << 62;
// No QP retries longer than some minutes.
constexpr double kRttUsMax = 1e12;

bool IsCanonical(const std::string& name) { return collectors::FindSignal(name) != nullptr; }

Result<std::size_t> Need(const Table& table, std::string_view column) {
  if (const auto found = table.Find(column)) return *found;
  return Fail({"reading ", table.Here(), ": there is no column ", column},
              "a trace's columns are named in its first line");
}

Result<Time> TimeOf(const Table& table, std::size_t column) {
  const auto time = table.Unsigned(column);
  if (!time) return tl::unexpected(time.error());
  if (!*time) return table.Bad(column, "is no time");
  if (**time > kTimeMax) return table.Bad(column, "is no time in microseconds");
  return Time(static_cast<std::int64_t>(**time));
}

Result<std::string> NameOf(const Table& table, std::size_t column, bool needed) {
  const std::string_view text = table.cell(column);
  if (needed && text.empty()) return table.Bad(column, "is no name");
  if (text.size() > kNameMax) return table.Bad(column, "is longer than 253 characters");
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!printable)
    return table.Bad(column, "holds a blank or something that is not printable ASCII");
  return std::string(text);
}

// A flag, a number or a count of an optional column into `out`; false: an error is in `error`.
template <typename Value, typename Out>
bool Into(const Result<std::optional<Value>>& read, Out& out, Result<void>& error) {
  if (!read) {
    error = tl::unexpected(read.error());
    return false;
  }
  if (*read) out = **read;
  return true;
}

// In the order of ProbeOutcome.
constexpr std::array<std::string_view, 6> kOutcomes = {"ok",        "late_blocked", "late_retx",
                                                       "late_self", "failed",       "aborted"};

// The port that a row names.
Result<PortName> PortOf(const Table& table, std::optional<std::size_t> device_column,
                        std::optional<std::size_t> port_column) {
  PortName name;
  if (device_column) {
    auto device = NameOf(table, *device_column, false);
    if (!device) return tl::unexpected(device.error());
    name.device = std::move(*device);
  }
  if (port_column) {
    const auto port = table.Unsigned(*port_column);
    if (!port) return tl::unexpected(port.error());
    if (*port && **port > 0xffff) return table.Bad(*port_column, "is no port");
    if (*port) name.port = static_cast<std::uint32_t>(**port);
  }
  return name;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    if (end != 0) parts.emplace_back(text.substr(0, end));
    if (end == text.npos) break;
    text.remove_prefix(end + 1);
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

}  // namespace

std::string_view Name(ProbeOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

Result<HostRows> HostRows::Open(std::unique_ptr<LineReader> lines) {
  auto table = Table::Open(std::move(lines));
  if (!table) return tl::unexpected(table.error());
  HostRows rows(std::move(*table));
  const auto time = Need(rows.table_, "time_us");
  if (!time) return tl::unexpected(time.error());
  const auto host = Need(rows.table_, "host");
  if (!host) return tl::unexpected(host.error());
  rows.time_ = *time;
  rows.host_ = *host;
  const std::array<std::pair<std::string_view, std::optional<std::size_t>*>, 11> known = {{
      {"device", &rows.device_},
      {"port", &rows.port_},
      {"priority", &rows.priority_},
      {"port_up", &rows.up_},
      {"port_rate_bytes_per_second", &rows.rate_},
      {"port_mtu_bytes", &rows.mtu_},
      {"agent_epoch", &rows.epoch_},
      {"loop_late_us", &rows.late_},
      {"device_present", &rows.present_},
      {"maintenance", &rows.maintenance_},
      {"config_findings", &rows.config_},
  }};
  const std::vector<std::string>& columns = rows.table_.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i];
    if (i == rows.time_ || i == rows.host_ || name == "tor") continue;
    const auto gauge = std::find_if(known.begin(), known.end(),
                                    [&name](const auto& entry) { return entry.first == name; });
    if (gauge != known.end()) {
      *gauge->second = i;
    } else if (const auto signal = ParseSignal(name)) {
      rows.signals_.emplace_back(i, *signal);
    } else if (!IsCanonical(name)) {
      rows.ignored_.push_back(name);
    }
  }
  return rows;
}

Result<void> HostRows::ReadGauges(HostRow& row) const {
  Result<void> error;
  if (up_ && !Into(table_.Flag(*up_), row.port.up, error)) return error;
  if (rate_ && !Into(table_.Number(*rate_), row.port.rate_bytes_per_second, error)) return error;
  if (mtu_ && !Into(table_.Number(*mtu_), row.port.mtu_bytes, error)) return error;
  if (present_ && !Into(table_.Flag(*present_), row.port.device_present, error)) return error;
  if (epoch_ && !Into(table_.Unsigned(*epoch_), row.self.epoch, error)) return error;
  if (maintenance_ && !Into(table_.Flag(*maintenance_), row.self.maintenance, error)) return error;
  if (config_) row.port.config_findings = Split(table_.cell(*config_), ';');
  if (late_) {
    std::optional<double> late;
    if (!Into(table_.Number(*late_), late, error)) return error;
    if (late) row.self.loop_late = Time(static_cast<std::int64_t>(std::min(*late, kRttUsMax)));
  }
  return {};
}

Result<std::optional<HostRow>> HostRows::Next() {
  const Result<bool> more = table_.Next();
  if (!more) return tl::unexpected(more.error());
  if (!*more) return std::nullopt;
  HostRow row;
  const auto time = TimeOf(table_, time_);
  if (!time) return tl::unexpected(time.error());
  row.port.time = row.self.time = *time;
  auto host = NameOf(table_, host_, true);
  if (!host) return tl::unexpected(host.error());
  row.host = std::move(*host);
  auto port = PortOf(table_, device_, port_);
  if (!port) return tl::unexpected(port.error());
  row.port.port = std::move(*port);
  Result<void> error;
  std::optional<std::uint64_t> priority;
  if (priority_ && !Into(table_.Unsigned(*priority_), priority, error)) {
    return tl::unexpected(error.error());
  }
  if (priority && *priority > 7) return table_.Bad(*priority_, "is no priority of 0 to 7");
  row.port.priority = static_cast<std::uint32_t>(priority.value_or(kLosslessPriority));
  if (const auto read = ReadGauges(row); !read) return tl::unexpected(read.error());
  for (const auto& [column, signal] : signals_) {
    const auto value = table_.Unsigned(column);
    if (!value) return tl::unexpected(value.error());
    if (*value) row.port.counters.Set(signal, **value);
  }
  return row;
}

Result<ProbeRows> ProbeRows::Open(std::unique_ptr<LineReader> lines) {
  auto table = Table::Open(std::move(lines));
  if (!table) return tl::unexpected(table.error());
  ProbeRows rows(std::move(*table));
  for (const auto& [name, at] : {std::pair{"time_us", &rows.time_}, std::pair{"src", &rows.src_},
                                 std::pair{"dst", &rows.dst_}}) {
    const auto found = Need(rows.table_, name);
    if (!found) return tl::unexpected(found.error());
    *at = *found;
  }
  const std::array<std::pair<std::string_view, std::optional<std::size_t>*>, 11> known = {{
      {"device", &rows.device_},
      {"port", &rows.port_},
      {"class", &rows.class_},
      {"kind", &rows.kind_},
      {"sport", &rows.sport_},
      {"rtt_us", &rows.rtt_},
      {"outcome", &rows.outcome_},
      {"status", &rows.status_},
      {"responder_us", &rows.responder_},
      {"session_up", &rows.session_},
      {"peer_epoch", &rows.epoch_},
  }};
  const std::vector<std::string>& columns = rows.table_.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i];
    if (i == rows.time_ || i == rows.src_ || i == rows.dst_) continue;
    const auto found = std::find_if(known.begin(), known.end(),
                                    [&name](const auto& entry) { return entry.first == name; });
    if (found != known.end())
      *found->second = i;
    else
      rows.ignored_.push_back(name);
  }
  return rows;
}

Result<void> ProbeRows::ReadPath(ProbeRow& row) const {
  auto src = NameOf(table_, src_, true);
  if (!src) return tl::unexpected(src.error());
  auto dst = NameOf(table_, dst_, true);
  if (!dst) return tl::unexpected(dst.error());
  row.src = std::move(*src);
  row.path.peer = std::move(*dst);
  auto local = PortOf(table_, device_, port_);
  if (!local) return tl::unexpected(local.error());
  row.path.local = std::move(*local);
  const std::string_view traffic_class = table_.cell(class_);
  if (traffic_class == "control") {
    row.path.traffic_class = ProbeClass::kControl;
  } else if (!traffic_class.empty() && traffic_class != "lossless") {
    return table_.Bad(*class_, "is neither lossless nor control");
  }
  constexpr std::array<std::string_view, 10> kKinds = {"write0",   "write",  "write_mtu", "read",
                                                       "echo",     "send",   "atomic",    "ud",
                                                       "loopback", "connect"};
  const std::string_view kind = table_.cell(kind_);
  row.path.op = kind.empty() ? "write0" : kind;
  if (std::find(kKinds.begin(), kKinds.end(), row.path.op) == kKinds.end()) {
    return table_.Bad(*kind_, "is no kind of probe");
  }
  row.to_peer = kind != "loopback" && kind != "connect";
  if (sport_) {
    const auto sport = table_.Unsigned(*sport_);
    if (!sport) return tl::unexpected(sport.error());
    if (*sport && **sport > 0xffff) return table_.Bad(*sport_, "is no UDP port");
    if (*sport) row.path.sport = static_cast<std::uint32_t>(**sport);
  }
  return {};
}

Result<void> ProbeRows::ReadResult(ProbeRow& row) const {
  ProbeResult& result = row.result;
  Result<void> error;
  std::optional<double> rtt_us;
  if (rtt_ && !Into(table_.Number(*rtt_), rtt_us, error)) return error;
  if (rtt_us && *rtt_us > kRttUsMax) return table_.Bad(*rtt_, "is no round trip in microseconds");
  if (responder_ && !Into(table_.Number(*responder_), result.responder_us, error)) return error;
  if (session_ && !Into(table_.Flag(*session_), row.session_up, error)) return error;
  if (epoch_ && !Into(table_.Unsigned(*epoch_), row.peer_epoch, error)) return error;
  if (const std::string_view outcome = table_.cell(outcome_); !outcome.empty()) {
    const auto found = std::find(kOutcomes.begin(), kOutcomes.end(), outcome);
    if (found == kOutcomes.end()) return table_.Bad(*outcome_, "is no outcome");
    result.outcome = static_cast<ProbeOutcome>(found - kOutcomes.begin());
  }
  result.status = table_.cell(status_);
  row.outstanding = !rtt_us && !result.outcome;
  result.path = row.path;
  result.posted = row.posted;
  result.time = row.posted;
  if (rtt_us) {
    result.rtt_us = rtt_us;
    result.rtt = Time(static_cast<std::int64_t>(*rtt_us));
    result.time += *result.rtt;
  }
  return {};
}

Result<std::optional<ProbeRow>> ProbeRows::Next() {
  const Result<bool> more = table_.Next();
  if (!more) return tl::unexpected(more.error());
  if (!*more) return std::nullopt;
  ProbeRow row;
  const auto time = TimeOf(table_, time_);
  if (!time) return tl::unexpected(time.error());
  row.posted = *time;
  if (const auto path = ReadPath(row); !path) return tl::unexpected(path.error());
  if (const auto result = ReadResult(row); !result) return tl::unexpected(result.error());
  return row;
}

}  // namespace rdmapulse::health::trace
