// What is known of a driver's DCB, applied to what `dcb` printed of one of its interfaces, as the
// live source applies it to what the kernel answers. Pure.
#pragma once

#include <string_view>
#include <vector>

#include "collectors/port_qos.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors::recorded {

// `netdev_driver`: what the interface is bound to, "mlx5_core". `values` ("requests[3]", …) are put
// right, or emptied where the driver counts nothing; in `qos` the trust that follows from the rules
// is filled in.
void ApplyDcbQuirks(std::string_view netdev_driver, std::vector<Value>& values);
void ApplyDcbQuirks(std::string_view netdev_driver, PortQos& qos);

}  // namespace rdmapulse::collectors::recorded
