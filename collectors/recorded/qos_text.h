// What `dcb` and `mlnx_qos` print, read back into one PortQos. Pure. Formats: dcb-pfc(8),
// dcb-app(8), dcb-ets(8) and iproute2's dcb/*.c; mlnx_qos of MLNX_OFED 4 to 24 and mlnx-tools.
#pragma once

#include <string_view>
#include <vector>

#include "collectors/port_qos.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors::recorded {

enum class DcbPart { kPfc, kApp, kEts };

// What a text said beside the settings.
struct QosText {
  std::vector<Value> statistics{};  // Source::kDcb, of `dcb -s pfc show`
  std::vector<Problem> problems{};

  bool operator==(const QosText&) const = default;
};

// `dcb [-s] [-j] {pfc|app|ets} show dev IFNAME`. Sets in `qos` what the text says.
QosText ParseDcb(DcbPart part, std::string_view text, PortQos& qos);

// `mlnx_qos -i IFNAME`. Sets in `qos` what the text says.
QosText ParseMlnxQos(std::string_view text, PortQos& qos);

}  // namespace rdmapulse::collectors::recorded
