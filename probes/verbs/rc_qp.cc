#include "probes/verbs/rc_qp.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "probes/op_support.h"

namespace rdmapulse::verbs {
namespace {

// One probe is out on a QP; the rest is room for a flushed one whose slot is not free yet.
constexpr std::uint32_t kSendDepth = 4;
constexpr std::uint8_t kHopLimit = 64;     // crosses any fabric; 1 would not leave the subnet
constexpr std::uint8_t kMinRnrTimer = 12;  // 0.64 ms; no receives are used yet
constexpr std::uint8_t kRnrRetry = 3;      // 7 would wait for ever

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

Result<void> MoveToRtr(const RtsRequest& request) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = MtuOf(probes::PathMtuBytes(request.local, request.remote));
  attr.dest_qp_num = request.remote.qpn;
  attr.rq_psn = request.remote.psn;
  attr.max_dest_rd_atomic = 1;  // READs and atomics: the peer has one out at a time
  attr.min_rnr_timer = kMinRnrTimer;
  attr.ah_attr.port_num = static_cast<std::uint8_t>(request.local.port.port);
  attr.ah_attr.dlid = static_cast<std::uint16_t>(request.remote.lid);
  if (NeedsGrh(request)) {
    attr.ah_attr.is_global = 1;
    std::memcpy(attr.ah_attr.grh.dgid.raw, request.remote.gid.bytes.data(),
                request.remote.gid.bytes.size());
    attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(request.local_gid.index);
    attr.ah_attr.grh.flow_label = request.attributes.flow_label;
    attr.ah_attr.grh.traffic_class = request.attributes.traffic_class;
    attr.ah_attr.grh.hop_limit = kHopLimit;
  }
  const std::string to = request.remote.gid.Text();
  const std::string port = request.local.port.Text();
  const int rc =
      ibv_modify_qp(request.qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  Result<void> moved = CheckVerb(rc, {"moving a QP on ", port, " to RTR towards ", to});
  if (!moved && moved.error().code == std::errc::timed_out) {
    moved.error().advice =
        "the address does not answer ARP or neighbour discovery, or has no route";
  }
  return moved;
}

}  // namespace

Result<Qp> CreateInit(const QpPlace& place) {
  ibv_qp_init_attr init{};
  init.send_cq = place.cq;
  init.recv_cq = place.cq;
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = kSendDepth;
  init.cap.max_recv_wr = 1;
  init.cap.max_send_sge = 1;
  init.cap.max_recv_sge = 1;
  const std::string name = ibv_get_device_name(place.pd->context->device);
  Qp qp(ibv_create_qp(place.pd, &init));
  if (qp == nullptr) return Fail(errno, {"ibv_create_qp on ", name});

  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = static_cast<std::uint8_t>(place.port);
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
  if (place.atomics) attr.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  const Result<void> moved =
      CheckVerb(ibv_modify_qp(qp.get(), &attr,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
                {"moving a QP on ", name, " to INIT"});
  if (!moved) return tl::unexpected(moved.error());
  return qp;
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
