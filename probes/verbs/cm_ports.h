// The addresses by which ports can be dialled through the connection manager, and listening on
// them: always for iWARP, whose port's GID is its netdev's MAC, by which nobody can be dialled; for
// RoCE and InfiniBand where the configuration says so. Every call here may block and runs off the
// loop.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/device_info.h"
#include "probes/verbs/cm.h"
#include "probes/verbs/open_device.h"

namespace rdmapulse::verbs {

// `owner` of the events of identifiers that listen; a QP's is its QpId.
inline constexpr std::uint64_t kListenerOwner = std::uint64_t{1} << 63U;

// Whether ports of the device need the connection manager. `all`: not those of iWARP alone.
bool NeedsCm(const DeviceInfo& info, bool all);
// Whether the device has RoCE or InfiniBand ports, where it may be used or not.
bool HasSelectablePorts(const DeviceInfo& info);

// Puts the listeners of such ports, and the addresses of iWARP ports, into `facts`, or why there
// are none. Listeners in `kept` whose address is still there go on, the others end.
void ListenOnPorts(CmHost& host, int cm, const DeviceInfo& info, bool all,
                   std::vector<CmListener> kept, std::vector<PortFacts>& facts);

}  // namespace rdmapulse::verbs
