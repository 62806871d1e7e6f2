// The snapshot as the JSON of GET /api/v1/{status,ports,peers,findings} (design.md 5.1). Pure. What
// is unknown is null. Texts from outside (labels, the kernel's words) are made well-formed UTF-8.
#pragma once

#include <string>

#include "daemon/base/time.h"
#include "daemon/snapshot.h"

namespace rdmapulse::http {

// `now` dates the uptime.
std::string StatusJson(const Snapshot& snapshot, TimePoint now);

// Ports of discovery, with what the transport knows of each.
std::string PortsJson(const Snapshot& snapshot);

// A path has one entry an op; a path that sends nothing yet has one whose op is null.
std::string PeersJson(const Snapshot& snapshot);

// Design.md 5.3; those that are suspect, active or clearing.
std::string FindingsJson(const Snapshot& snapshot);

}  // namespace rdmapulse::http
