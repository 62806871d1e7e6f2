// The switch without its sockets: a frame comes in at a port and time, and frames stand in the
// egress queues of other ports, now or later. Three stages that do not know of each other:
// forwarding chooses ports, impairments decide per port, the port's egress stage queues.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/base/time.h"
#include "tests/lab/switch/delay_line.h"
#include "tests/lab/switch/impairments.h"
#include "tests/lab/switch/learning_table.h"
#include "tests/lab/switch/switch_port.h"

namespace rdmapulse::lab {

class FabricSwitch {
 public:
  FabricSwitch(const std::vector<std::string>& port_names, std::uint64_t seed);

  void Receive(PortId ingress, Frame frame, TimePoint now);

  // Moves what is due into egress queues; says when there is more to move.
  std::optional<TimePoint> Advance(TimePoint now);

  std::optional<PortId> FindPort(std::string_view name) const;
  std::vector<SwitchPort>& Ports() { return ports_; }
  const std::vector<SwitchPort>& Ports() const { return ports_; }
  Impairments& Rules() { return impairments_; }
  const Impairments& Rules() const { return impairments_; }
  std::size_t DelayedFrames() const { return delay_line_.Size(); }
  std::size_t LearnedAddresses() const { return learned_.Size(); }
  std::uint64_t DelayLineDrops() const { return delay_line_drops_; }

 private:
  void Forward(PortId ingress, PortId egress, Frame frame, const FrameFields& fields,
               TimePoint now);

  std::vector<SwitchPort> ports_;
  LearningTable learned_;
  Impairments impairments_;
  DelayLine delay_line_;
  std::uint64_t delay_line_drops_ = 0;
};

}  // namespace rdmapulse::lab
