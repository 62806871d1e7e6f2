// What a port counted, as the detectors reckon it (health/port_history.h): rates between two good
// readings, and the state of its link. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "daemon/health/finding.h"
#include "daemon/health/inputs.h"
#include "daemon/health/port_history.h"
#include "daemon/recorder/track.h"

namespace rdmapulse::recorder {

class PortTracks {
 public:
  explicit PortTracks(health::Subject subject) : subject_(std::move(subject)) {}

  // Rows of other ports are passed over. Of a device that is named without a port, the first one
  // stands for it.
  void Add(const health::PortSample& row);

  // Of every quantity in the best form that this port counts: a duration rather than frames, bytes
  // of the priority rather than of the whole port.
  std::vector<Track> Take();

 private:
  // Which quantity (port_tracks.cc), of which priority; 0 for those of the port.
  using Key = std::pair<std::size_t, std::uint32_t>;

  bool IsMine(const health::PortSample& row);
  bool Wanted(Topic topic, std::uint32_t priority) const;
  void AddRates(const health::PortSample& row);

  health::Subject subject_;
  health::PortHistory history_;
  std::map<Key, Track> rates_;
  Track link_{.topic = Topic::kLink, .name = "link", .unit = "up", .fold = Fold::kMin};
  Track device_{
      .topic = Topic::kDevice, .name = "device present", .unit = "up", .fold = Fold::kMin};
};

}  // namespace rdmapulse::recorder
