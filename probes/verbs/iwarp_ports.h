// The addresses of iWARP ports, and listening on them. A port's GID there is its netdev's MAC, by
// which nobody can be dialled. Every call here may block and runs off the loop.
#pragma once

#include <cstdint>
#include <vector>

#include "daemon/base/device_info.h"
#include "probes/verbs/cm.h"
#include "probes/verbs/open_device.h"

namespace rdmapulse::verbs {

// `owner` of the events of identifiers that listen; a QP's is its QpId.
inline constexpr std::uint64_t kListenerOwner = std::uint64_t{1} << 63U;

bool HasIwarp(const DeviceInfo& info);

// Puts the addresses and listeners of iWARP ports into `facts`, or why there are none. Listeners in
// `kept` whose address is still there go on, the others end.
void ListenOnIwarpPorts(CmHost& host, int cm, const DeviceInfo& info,
                        std::vector<IwarpListener> kept, std::vector<PortFacts>& facts);

}  // namespace rdmapulse::verbs
