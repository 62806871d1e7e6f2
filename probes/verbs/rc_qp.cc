#include "probes/verbs/rc_qp.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "probes/echo_message.h"

namespace rdmapulse::verbs {
namespace {

// One probe is out on a QP, and an answer for each receive; the rest is room for flushed ones whose
// places are not free yet.
constexpr std::uint32_t kSendDepth = 4 + probes::kEchoReceives;
// A cache line each, and room for longer messages of later versions.
constexpr std::size_t kSlotBytes = 64;
constexpr std::size_t kSlots = kAskingSlot + 1;
static_assert(kSlotBytes >= probes::kEchoBytes);
constexpr std::uint8_t kHopLimit = 64;  // crosses any fabric; 1 would not leave the subnet
// There is a receive for every message that a peer of ours sends. What comes without one is a
// result after 0.64 ms, three times; 7 times would be for ever.
constexpr std::uint8_t kMinRnrTimer = 12;
constexpr std::uint8_t kRnrRetry = 3;

ibv_mtu MtuOf(std::uint32_t bytes) {
  if (bytes >= 4096) return IBV_MTU_4096;
  if (bytes >= 2048) return IBV_MTU_2048;
  if (bytes >= 1024) return IBV_MTU_1024;
  if (bytes >= 512) return IBV_MTU_512;
  return IBV_MTU_256;
}

// Within a subnet InfiniBand needs no GRH; RoCE always has one.
bool NeedsGrh(const RtsRequest& request) {
  if (request.local.protocol != Protocol::kInfiniband) return true;
  return !std::equal(request.local.gid.bytes.begin(), request.local.gid.bytes.begin() + 8,
                     request.remote.gid.bytes.begin());
}

}  // namespace

ibv_ah_attr AddressOf(const RtsRequest& request) {
  ibv_ah_attr address{};
  address.port_num = static_cast<std::uint8_t>(request.local.port.port);
  address.dlid = static_cast<std::uint16_t>(request.remote.lid);
  if (!NeedsGrh(request)) return address;
  address.is_global = 1;
  std::memcpy(address.grh.dgid.raw, request.remote.gid.bytes.data(),
              request.remote.gid.bytes.size());
  address.grh.sgid_index = static_cast<std::uint8_t>(request.local_gid.index);
  address.grh.flow_label = request.attributes.flow_label;
  address.grh.traffic_class = request.attributes.traffic_class;
  address.grh.hop_limit = kHopLimit;
  return address;
}

Error NoRoute(Error error) {
  if (error.code == std::errc::timed_out) {
    error.advice = "the address does not answer ARP or neighbour discovery, or has no route";
  }
  return error;
}

namespace {

Result<void> MoveToRtr(const RtsRequest& request) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = MtuOf(probes::PathMtuBytes(request.local, request.remote));
  attr.dest_qp_num = request.remote.qpn;
  attr.rq_psn = request.remote.psn;
  attr.max_dest_rd_atomic = 1;  // READs and atomics: the peer has one out at a time
  attr.min_rnr_timer = kMinRnrTimer;
  attr.ah_attr = AddressOf(request);
  const std::string to = request.remote.gid.Text();
  const std::string port = request.local.port.Text();
  const int rc =
      ibv_modify_qp(request.qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  Result<void> moved = CheckVerb(rc, {"moving a QP on ", port, " to RTR towards ", to});
  if (!moved) return tl::unexpected(NoRoute(moved.error()));
  return moved;
}

Result<void> MakeSlots(ibv_pd& pd, const std::string& name, RcQp& qp) {
  constexpr std::size_t kBytes = kSlots * kSlotBytes;
  qp.slots.reset(static_cast<std::byte*>(std::aligned_alloc(kSlotBytes, kBytes)));
  if (qp.slots == nullptr) return Fail(ENOMEM, {"allocating a QP's messages for ", name});
  std::memset(qp.slots.get(), 0, kBytes);
  qp.mr.reset(ibv_reg_mr(&pd, qp.slots.get(), kBytes, IBV_ACCESS_LOCAL_WRITE));
  if (qp.mr != nullptr) return {};
  const int code = errno;
  return Fail(code, {"ibv_reg_mr of ", std::to_string(kBytes), " bytes on ", name},
              MemlockAdvice(code));
}

ibv_sge SgeOf(const RcQp& qp, std::size_t slot, std::size_t bytes) {
  ibv_sge sge{};
  sge.addr = reinterpret_cast<std::uintptr_t>(SlotOf(qp, slot).data());
  sge.length = static_cast<std::uint32_t>(bytes);
  sge.lkey = qp.mr->lkey;
  return sge;
}

}  // namespace

Result<RcQp> CreateInit(const QpPlace& place) {
  const bool echoes = place.first_receive != 0;
  ibv_qp_init_attr init{};
  init.send_cq = place.cq;
  init.recv_cq = place.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = kSendDepth;
  init.cap.max_recv_wr = echoes ? probes::kEchoReceives : 1;
  init.cap.max_send_sge = 1;
  init.cap.max_recv_sge = 1;
  const std::string name = ibv_get_device_name(place.pd->context->device);
  RcQp qp;
  if (echoes) {
    if (Result<void> made = MakeSlots(*place.pd, name, qp); !made) {
      return tl::unexpected(made.error());
    }
  }
  qp.qp.reset(ibv_create_qp(place.pd, &init));
  if (qp.qp == nullptr) return Fail(errno, {"ibv_create_qp on ", name});

  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = static_cast<std::uint8_t>(place.port);
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (place.atomics) attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  const Result<void> moved =
      CheckVerb(ibv_modify_qp(qp.qp.get(), &attr,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
                {"moving a QP on ", name, " to INIT"});
  if (!moved) return tl::unexpected(moved.error());
  for (std::size_t slot = 0; echoes && slot < probes::kEchoReceives; ++slot) {
    if (Result<void> posted = PostReceive(qp, slot, place.first_receive + slot); !posted) {
      return tl::unexpected(posted.error());
    }
  }
  return qp;
}

std::span<std::uint8_t> SlotOf(const RcQp& qp, std::size_t slot) {
  std::byte* const begin = qp.slots.get() + slot * kSlotBytes;
  return {reinterpret_cast<std::uint8_t*>(begin), kSlotBytes};
}

Result<void> PostReceive(const RcQp& qp, std::size_t slot, std::uint64_t wr_id) {
  ibv_sge sge = SgeOf(qp, slot, kSlotBytes);
  ibv_recv_wr work{};
  work.wr_id = wr_id;
  work.sg_list = &sge;
  work.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  return CheckVerb(ibv_post_recv(qp.qp.get(), &work, &bad),
                   {"ibv_post_recv on ", ibv_get_device_name(qp.qp->context->device)});
}

Result<void> PostMessage(const RcQp& qp, std::size_t slot, std::uint64_t wr_id) {
  ibv_sge sge = SgeOf(qp, slot, probes::kEchoBytes);
  ibv_send_wr work{};
  work.wr_id = wr_id;
  work.opcode = IBV_WR_SEND;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &sge;
  work.num_sge = 1;
  ibv_send_wr* bad = nullptr;
  return CheckVerb(ibv_post_send(qp.qp.get(), &work, &bad),
                   {"ibv_post_send of echo on ", ibv_get_device_name(qp.qp->context->device)});
}

Result<void> MoveToRts(const RtsRequest& request) {
  if (request.local.gid.IsIpv4() != request.remote.gid.IsIpv4() &&
      request.local.protocol == Protocol::kRoceV2) {
    return Fail({"the ends use different address families: ", request.local.gid.Text(), " here, ",
                 request.remote.gid.Text(), " there"},
                "give both an address of one family, or set gid.family");
  }
  if (Result<void> moved = MoveToRtr(request); !moved) return moved;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = request.local.psn;
  attr.timeout = request.attributes.timeout;
  attr.retry_cnt = request.attributes.retry_cnt;
  attr.rnr_retry = kRnrRetry;
  attr.max_rd_atomic = 1;
  const std::string port = request.local.port.Text();
  return CheckVerb(ibv_modify_qp(request.qp, &attr,
                                 IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                     IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
                   {"moving a QP on ", port, " to RTS"});
}

CmQp CmQpOf(const RtsRequest& request) {
  return {
      .qpn = request.local.qpn, .retry_cnt = request.attributes.retry_cnt, .rnr_retry = kRnrRetry};
}

// The path is the connection manager's. What the class asks for is put in here, at both ends: left
// to the kernel the ACK timeout would be two seconds, and the RNR timer 655 ms.
Result<ibv_ah_attr> MoveToRts(const Cm& cm, std::uint32_t cm_id, const RtsRequest& request) {
  const std::string port = request.local.port.Text();
  Result<CmQpMove> init = cm.Move(cm_id, IBV_QPS_INIT);
  if (!init) return tl::unexpected(init.error());
  Result<CmQpMove> rtr = cm.Move(cm_id, IBV_QPS_RTR);
  if (!rtr) return tl::unexpected(rtr.error());
  ibv_qp_attr& attr = rtr->attr;
  attr.min_rnr_timer = kMinRnrTimer;
  const std::uint32_t mtu_bytes = request.remote.mtu_bytes == 0
                                      ? request.local.mtu_bytes
                                      : probes::PathMtuBytes(request.local, request.remote);
  attr.path_mtu = std::min(attr.path_mtu, MtuOf(mtu_bytes));
  if (request.local.protocol == Protocol::kRoceV2) {
    attr.ah_attr.grh.flow_label = request.attributes.flow_label;
    attr.ah_attr.grh.traffic_class = request.attributes.traffic_class;
  } else {
    attr.pkey_index = init->attr.pkey_index;  // the partition that the address is of
    rtr->mask |= IBV_QP_PKEY_INDEX;
  }
  const ibv_ah_attr address = attr.ah_attr;
  Result<void> moved = CheckVerb(ibv_modify_qp(request.qp, &attr, rtr->mask),
                                 {"moving a QP on ", port, " to RTR as rdma_cm says"});
  if (!moved) return tl::unexpected(NoRoute(moved.error()));

  Result<CmQpMove> rts = cm.Move(cm_id, IBV_QPS_RTS);
  if (!rts) return tl::unexpected(rts.error());
  rts->attr.timeout = request.attributes.timeout;
  rts->attr.retry_cnt = request.attributes.retry_cnt;
  rts->attr.rnr_retry = kRnrRetry;
  moved = CheckVerb(ibv_modify_qp(request.qp, &rts->attr, rts->mask),
                    {"moving a QP on ", port, " to RTS as rdma_cm says"});
  if (!moved) return tl::unexpected(moved.error());
  return address;
}

Result<void> PostProbe(const ProbeRequest& request) {
  ibv_sge sge{};
  sge.addr = reinterpret_cast<std::uintptr_t>(request.mr->addr);
  sge.length = request.bytes;
  sge.lkey = request.mr->lkey;
  ibv_send_wr work{};
  work.wr_id = request.wr_id;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &sge;
  work.num_sge = sge.length == 0 ? 0 : 1;
  if (request.op == probes::Op::kAtomic) {
    work.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
    work.wr.atomic.remote_addr = request.remote_address;
    work.wr.atomic.rkey = request.remote_rkey;
    work.wr.atomic.compare_add = 1;
  } else {
    work.opcode = request.op == probes::Op::kRead ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
    work.wr.rdma.remote_addr = request.remote_address;
    work.wr.rdma.rkey = request.remote_rkey;
  }
  ibv_send_wr* bad = nullptr;
  return CheckVerb(ibv_post_send(request.qp, &work, &bad),
                   {"ibv_post_send of ", probes::Name(request.op), " on ",
                    ibv_get_device_name(request.qp->context->device)});
}

}  // namespace rdmapulse::verbs
