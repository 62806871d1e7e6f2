#include "tests/lab/switch/fabric_switch.h"

#include <utility>

namespace rdmapulse::lab {

FabricSwitch::FabricSwitch(const std::vector<std::string>& port_names, std::uint64_t seed)
    : impairments_(seed) {
  for (const std::string& name : port_names) ports_.emplace_back(name);
}

void FabricSwitch::Receive(PortId ingress, Frame frame, TimePoint now) {
  PortCounters& counters = ports_[ingress].Counters();
  ++counters.received_frames;
  counters.received_bytes += frame.size();
  const std::optional<FrameFields> fields = ParseFrame(frame);
  if (!fields) {
    ++counters.malformed;
    return;
  }
  learned_.Learn(fields->source, ingress);
  const std::optional<PortId> known = learned_.Find(fields->destination);
  if (known && *known == ingress) return;  // the sender's own side of the switch
  if (known) {
    Forward(ingress, *known, std::move(frame), *fields, now);
    return;
  }
  for (PortId egress = 0; egress < ports_.size(); ++egress) {
    if (egress != ingress) Forward(ingress, egress, frame, *fields, now);
  }
}

void FabricSwitch::Forward(PortId ingress, PortId egress, Frame frame, const FrameFields& fields,
                           TimePoint now) {
  const Verdict verdict = impairments_.Decide(ingress, egress, fields, frame.size(), now);
  if (verdict.dropped) {
    ++ports_[egress].Counters().impairment_drops;
    return;
  }
  if (verdict.mark_ecn) MarkCongestionExperienced(frame, fields);
  if (verdict.depart_at <= now) {
    ports_[egress].Enqueue(std::move(frame));
  } else if (!delay_line_.Push(verdict.depart_at, egress, std::move(frame))) {
    ++delay_line_drops_;
  }
}

std::optional<TimePoint> FabricSwitch::Advance(TimePoint now) {
  while (auto due = delay_line_.PopDue(now)) ports_[due->first].Enqueue(std::move(due->second));
  return delay_line_.NextDue();
}

std::optional<PortId> FabricSwitch::FindPort(std::string_view name) const {
  for (PortId port = 0; port < ports_.size(); ++port) {
    if (ports_[port].Name() == name) return port;
  }
  return std::nullopt;
}

}  // namespace rdmapulse::lab
