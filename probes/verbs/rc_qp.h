// One RC QP's life: RESET → INIT → RTR → RTS (InfiniBand specification 10.3; ibv_modify_qp(3)).
// Creating and moving may block, RTR for a second while ARP goes unanswered: off the loop.
#pragma once

#include <cstdint>

#include "daemon/base/result.h"
#include "probes/gid_choice.h"
#include "probes/probe.h"
#include "probes/transport.h"
#include "probes/verbs/handles.h"

namespace rdmapulse::verbs {

// Where a QP is made: plain values and borrowed handles that outlive the call.
struct QpPlace {
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  std::uint32_t port = 1;
};

// In INIT, allowing the peer to READ and WRITE.
Result<Qp> CreateInit(const QpPlace& place);

struct RtsRequest {
  ibv_qp* qp = nullptr;
  probes::GidEntry local_gid;
  probes::QpEndpoint local;
  probes::QpEndpoint remote;
  probes::QpAttributes attributes;
};

// The path MTU is the smaller of both ends'.
Result<void> MoveToRts(const RtsRequest& request);

// One signalled work request; `mr` covers the local buffer.
Result<void> PostProbe(ibv_qp& qp, const ibv_mr& mr, const probes::QpEndpoint& remote,
                       probes::Op op, std::uint64_t wr_id);

}  // namespace rdmapulse::verbs
