// One RC QP's life: RESET → INIT → RTR → RTS (InfiniBand specification 10.3; ibv_modify_qp(3)).
// Creating and moving may block, RTR for a second while ARP goes unanswered: off the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "daemon/base/result.h"
#include "probes/gid_choice.h"
#include "probes/op_support.h"
#include "probes/probe.h"
#include "probes/transport.h"
#include "probes/verbs/cm.h"
#include "probes/verbs/handles.h"

namespace rdmapulse::verbs {

// Where a QP is made: plain values and borrowed handles that outlive the call.
struct QpPlace {
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  std::uint32_t port = 1;
  bool atomics = false;  // of the device
  // Echoes: receives are posted, with this wr_id and those that follow. 0: none (iWARP).
  std::uint64_t first_receive = 0;
};

// A QP, and the memory of the messages that it sends and receives, which no peer can address.
// Members are destroyed bottom up.
struct RcQp {
  std::unique_ptr<std::byte, FreeBytes> slots;
  Mr mr;
  Qp qp;
};

// One slot a receive, in which its answer is sent too, and one for the message that asks.
inline constexpr std::size_t kAskingSlot = probes::kEchoReceives;
std::span<std::uint8_t> SlotOf(const RcQp& qp, std::size_t slot);

// What of a QP may be in its completion queue at once: a receive or its answer each, and a probe.
inline constexpr std::uint32_t kCompletionsOfAQp = probes::kEchoReceives + 1;

// In INIT, allowing the peer to READ and WRITE, and atomic operations where the device has them.
// Its receives are posted: the peer may send as soon as both ends are connected.
Result<RcQp> CreateInit(const QpPlace& place);

// The slot's memory waits for a message of the peer.
Result<void> PostReceive(const RcQp& qp, std::size_t slot, std::uint64_t wr_id);
// Sends the echo message that the slot holds. Signalled.
Result<void> PostMessage(const RcQp& qp, std::size_t slot, std::uint64_t wr_id);

struct RtsRequest {
  ibv_qp* qp = nullptr;
  probes::GidEntry local_gid;
  probes::QpEndpoint local;
  probes::QpEndpoint remote;
  probes::QpAttributes attributes;
};

// Where the QP's packets go, and as what; datagrams beside it go the same way.
ibv_ah_attr AddressOf(const RtsRequest& request);
// What a call that may have waited for ARP or neighbour discovery failed with, and why.
Error NoRoute(Error error);

// The path MTU is the smaller of both ends' (op_support.h).
Result<void> MoveToRts(const RtsRequest& request);
// The same by what the connection manager says of the path, once it may be asked (Cm::Move). Of
// `remote` nothing but the MTU counts, and may be unknown: 0. The address that the QP then has.
Result<ibv_ah_attr> MoveToRts(const Cm& cm, std::uint32_t cm_id, const RtsRequest& request);

// What connecting by it tells the peer.
CmQp CmQpOf(const RtsRequest& request);

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
