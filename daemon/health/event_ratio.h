// How many of the packets of a time were lost, sent again or refused.
#pragma once

#include <algorithm>

namespace rdmapulse::health {

struct EventRatio {
  double events = 0;
  double packets = 0;  // packets, or segments of TCP

  // Packets that are not counted, or not by this port, leave it open how many of them it were.
  bool Known() const { return packets > 0; }
  // At most 1: what is counted of fewer packets than events was not counted well. 0: not known.
  double Value() const { return events <= 0 || !Known() ? 0 : events / std::max(packets, events); }
};

}  // namespace rdmapulse::health
