// The switch's control language: one line in, lines out. The lab's Python speaks it; numbers have
// fixed units there, so that units are parsed in one place.
//
//   add [from=h1] [to=h2] [dscp=26] [sport=49152] [larger=1000] ACTION -> "ok id=1"
//       ACTION: drop=0.01 | blackhole | delay_us=20000 [jitter_us=1000]
//             | rate_bps=10000000 [queue_bytes=65536] | ecn=0.5 [not_ect_too]
//   del ID | clear                                           -> "ok"
//   list     -> "ok", then a line for each rule: what `add` was told and its counters
//   stats    -> "ok", then a line for each port and one of the switch
//   anything wrong                                           -> "error TEXT"
#pragma once

#include <string>
#include <string_view>

#include "tests/lab/switch/fabric_switch.h"

namespace rdmapulse::lab {

std::string HandleControlLine(FabricSwitch& fabric, std::string_view line);

}  // namespace rdmapulse::lab
