#include "daemon/health/trace/writer.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace rdmapulse::health::trace {
namespace {

constexpr std::string_view kHostColumns =
    "time_us,host,device,port,priority,port_up,port_rate_bytes_per_second,port_mtu_bytes,"
    "agent_epoch,loop_late_us,device_present,maintenance,config_findings";
constexpr std::string_view kProbeColumns =
    "time_us,src,dst,device,port,class,kind,sport,rtt_us,outcome,status,responder_us,session_up,"
    "peer_epoch";

void AppendName(std::string_view name, bool blanks, std::string& out) {
  for (const char c : name) {
    const bool plain = static_cast<unsigned char>(c) > 0x20 && c != 0x7f && c != ',' && c != '"';
    out += plain || (blanks && c == ' ') ? c : '_';
  }
}

template <typename Value>
void AppendNumber(const Value& value, std::string& out) {
  fmt::format_to(std::back_inserter(out), "{}", value);
}

// The cell and the comma before it.
template <typename Value>
void AppendCell(const std::optional<Value>& value, std::string& out) {
  out += ',';
  if (value) AppendNumber(*value, out);
}

void AppendCell(const std::optional<bool>& value, std::string& out) {
  out += ',';
  if (value) out += *value ? '1' : '0';
}

void AppendPort(const PortName& port, std::string& out) {
  out += ',';
  AppendName(port.device, false, out);
  AppendCell(port.port, out);
}

}  // namespace

std::string HostHeader() {
  std::string line(kHostColumns);
  for (const SignalInfo& info : Signals()) {
    line += ',';
    line += info.name;
  }
  return line + "\n";
}

std::string ProbeHeader() { return std::string(kProbeColumns) + "\n"; }

void Append(const HostRow& row, std::string& out) {
  const PortSample& port = row.port;
  AppendNumber(port.time.count(), out);
  out += ',';
  AppendName(row.host, false, out);
  AppendPort(port.port, out);
  out += ',';
  AppendNumber(port.priority.value_or(kLosslessPriority), out);
  AppendCell(port.up, out);
  AppendCell(port.rate_bytes_per_second, out);
  AppendCell(port.mtu_bytes, out);
  AppendCell(row.self.epoch, out);
  out += ',';
  if (row.self.loop_late) AppendNumber(row.self.loop_late->count(), out);
  AppendCell(port.device_present, out);
  AppendCell(row.self.maintenance, out);
  out += ',';
  if (port.config_findings) {
    std::string_view separator;
    for (const std::string& check : *port.config_findings) {
      out += separator;
      AppendName(check, false, out);
      separator = ";";
    }
  }
  for (const SignalInfo& info : Signals()) {
    out += ',';
    if (port.counters.Has(info.signal)) AppendNumber(port.counters.Get(info.signal), out);
  }
  out += '\n';
}

void Append(const ProbeRow& row, std::string& out) {
  const ProbeResult& result = row.result;
  AppendNumber(row.posted.count(), out);
  for (const std::string* const name : {&row.src, &row.path.peer}) {
    out += ',';
    AppendName(*name, false, out);
  }
  AppendPort(row.path.local, out);
  out += row.path.traffic_class == ProbeClass::kControl ? ",control," : ",lossless,";
  AppendName(row.path.op, false, out);
  AppendCell(row.path.sport, out);
  out += ',';
  if (!row.outstanding) {
    if (result.rtt_us)
      AppendNumber(*result.rtt_us, out);
    else
      AppendNumber(result.rtt.value_or(result.time - result.posted).count(), out);
  }
  out += ',';
  if (!row.outstanding && result.outcome) out += Name(*result.outcome);
  out += ',';
  if (!row.outstanding) AppendName(result.status, true, out);
  AppendCell(row.outstanding ? std::nullopt : result.responder_us, out);
  AppendCell(row.session_up, out);
  AppendCell(row.peer_epoch, out);
  out += '\n';
}

}  // namespace rdmapulse::health::trace
