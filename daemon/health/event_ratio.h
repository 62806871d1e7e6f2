// How many of the packets of a time were lost, sent again or refused.
#pragma once

#include <algorithm>

namespace rdmapulse::health {

struct EventRatio {
  double events = 0;
  double packets = 0;  // packets, or segments of TCP

  // At most 1: what is counted of fewer packets than events was not counted well.
  double Value() const { return events <= 0 ? 0 : events / std::max(packets, events); }
};

}  // namespace rdmapulse::health
