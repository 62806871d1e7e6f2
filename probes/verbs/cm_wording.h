// What is said of connections through the connection manager, by protocol. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "probes/transport.h"
#include "probes/verbs/cm.h"

namespace rdmapulse::verbs {

// Where an end can be dialled.
CmAddress DialledAt(const probes::QpEndpoint& end);
// "iWARP", for that is what TCP's connections are there; else "rdma_cm".
std::string_view MannerOf(const probes::QpEndpoint& here);
// What to look at when nobody answers.
std::string_view AdviceWhenLate(Protocol protocol);
// What ended a connection or keeps it from coming up; nullopt: the event is none of that. `up`: it
// was established.
std::optional<Error> FailureOf(const CmEvent& event, const probes::QpEndpoint& here,
                               const probes::QpEndpoint& there, bool up);

}  // namespace rdmapulse::verbs
