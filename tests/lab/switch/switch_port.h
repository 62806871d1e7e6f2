#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

#include "tests/lab/switch/frame.h"

namespace rdmapulse::lab {

struct PortCounters {
  std::uint64_t received_frames = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_frames = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t malformed = 0;         // no whole Ethernet header
  std::uint64_t impairment_drops = 0;  // of frames to this port
  std::uint64_t queue_drops = 0;       // its host does not take them: paused, or too slow
  std::uint64_t down_drops = 0;        // nobody is there: the VM is off
};

// One host's port. Its egress stage is one bounded queue; queues by priority, and PFC that stops
// one of them, belong here.
class SwitchPort {
 public:
  // As a small switch would: some 0.4 MB of full frames in front of a host that has stopped.
  static constexpr std::size_t kQueueFramesMax = 256;

  explicit SwitchPort(std::string name) : name_(std::move(name)) {}

  const std::string& Name() const { return name_; }
  PortCounters& Counters() { return counters_; }
  const PortCounters& Counters() const { return counters_; }
  std::size_t QueuedFrames() const { return queue_.size(); }

  // The egress stage: what forwarding hands over waits here until the host takes it.
  void Enqueue(Frame frame) {
    if (queue_.size() >= kQueueFramesMax) {
      ++counters_.queue_drops;
      return;
    }
    queue_.push_back(std::move(frame));
  }
  const Frame* Front() const { return queue_.empty() ? nullptr : &queue_.front(); }
  void FrontSent() {
    ++counters_.sent_frames;
    counters_.sent_bytes += queue_.front().size();
    queue_.pop_front();
  }
  void FrontLost() {
    ++counters_.down_drops;
    queue_.pop_front();
  }

 private:
  std::string name_;
  PortCounters counters_;
  std::deque<Frame> queue_;
};

}  // namespace rdmapulse::lab
