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
  bool atomics = false;  // of the device
};

// In INIT, allowing the peer to READ and WRITE, and atomic operations where the device has them.
Result<Qp> CreateInit(const QpPlace& place);

struct RtsRequest {
  ibv_qp* qp = nullptr;
  probes::GidEntry local_gid;
  probes::QpEndpoint local;
  probes::QpEndpoint remote;
  probes::QpAttributes attributes;
};

// The path MTU is the smaller of both ends' (op_support.h).
Result<void> MoveToRts(const RtsRequest& request);

// One probe's work: what it moves, from or to `mr`'s memory here and the peer's buffer there.
struct ProbeRequest {
  ibv_qp* qp = nullptr;
  const ibv_mr* mr = nullptr;
  probes::Op op = probes::Op::kWrite0;
  std::uint32_t bytes = 0;  // at most mr->length
  std::uint64_t remote_address = 0;
  std::uint32_t remote_rkey = 0;
  std::uint64_t wr_id = 0;
};

// Signalled.
Result<void> PostProbe(const ProbeRequest& request);

}  // namespace rdmapulse::verbs
