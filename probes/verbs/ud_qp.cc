#include "probes/verbs/ud_qp.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

namespace rdmapulse::verbs {
namespace {

constexpr std::size_t kGrhBytes = 40;  // before every datagram that arrives (ibv_post_recv(3))
// The header, and room for longer datagrams of later versions.
constexpr std::size_t kReceiveBytes = 128;
constexpr std::size_t kSendBytes = 64;
static_assert(kReceiveBytes >= kGrhBytes + kSendBytes && kSendBytes >= probes::kDatagramBytes);
// The rest of a datagram of any size, read by nobody: without room for it some NICs would take the
// QP out of work. One for all receives.
constexpr std::size_t kRestBytes = 4096;

constexpr std::size_t kSendsAt = kUdReceives * kReceiveBytes;
constexpr std::size_t kRestAt = kSendsAt + kUdSends * kSendBytes;
constexpr std::size_t kBytes = kRestAt + kRestBytes;

ibv_sge SgeOf(const UdQp& qp, std::size_t at, std::size_t bytes) {
  ibv_sge sge{};
  sge.addr = reinterpret_cast<std::uintptr_t>(qp.memory.get() + at);
  sge.length = static_cast<std::uint32_t>(bytes);
  sge.lkey = qp.mr->lkey;
  return sge;
}

Result<void> MoveToRts(const UdQp& qp, const UdPlace& place, const std::string& name) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = static_cast<std::uint8_t>(place.port);
  attr.qkey = place.qkey;
  Result<void> moved =
      CheckVerb(ibv_modify_qp(qp.qp.get(), &attr,
                              IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
                {"moving a UD QP on ", name, " to INIT"});
  if (!moved) return moved;
  attr.qp_state = IBV_QPS_RTR;
  moved = CheckVerb(ibv_modify_qp(qp.qp.get(), &attr, IBV_QP_STATE),
                    {"moving a UD QP on ", name, " to RTR"});
  if (!moved) return moved;
  attr.qp_state = IBV_QPS_RTS;
  attr.sq_psn = 0;
  return CheckVerb(ibv_modify_qp(qp.qp.get(), &attr, IBV_QP_STATE | IBV_QP_SQ_PSN),
                   {"moving a UD QP on ", name, " to RTS"});
}

}  // namespace

Result<UdQp> CreateUd(const UdPlace& place) {
  const std::string name = ibv_get_device_name(place.pd->context->device);
  UdQp qp;
  qp.qkey = place.qkey;
  qp.first_receive = place.first_receive;
  qp.memory.reset(static_cast<std::byte*>(std::aligned_alloc(kSendBytes, kBytes)));
  if (qp.memory == nullptr) return Fail(ENOMEM, {"allocating a UD QP's datagrams for ", name});
  std::memset(qp.memory.get(), 0, kBytes);
  qp.mr.reset(ibv_reg_mr(place.pd, qp.memory.get(), kBytes, IBV_ACCESS_LOCAL_WRITE));
  if (qp.mr == nullptr) {
    const int code = errno;
    return Fail(code, {"ibv_reg_mr of ", std::to_string(kBytes), " bytes on ", name},
                MemlockAdvice(code));
  }
  ibv_qp_init_attr init{};
  init.send_cq = place.cq;
  init.recv_cq = place.cq;
  init.qp_type = IBV_QPT_UD;
  init.cap.max_send_wr = kUdSends;
  init.cap.max_recv_wr = kUdReceives;
  init.cap.max_send_sge = 1;
  init.cap.max_recv_sge = 2;
  qp.qp.reset(ibv_create_qp(place.pd, &init));
  if (qp.qp == nullptr) return Fail(errno, {"ibv_create_qp of a UD QP on ", name});
  if (Result<void> moved = MoveToRts(qp, place, name); !moved) {
    return tl::unexpected(moved.error());
  }
  for (std::size_t receive = 0; receive < kUdReceives; ++receive) {
    if (Result<void> posted = PostUdReceive(qp, receive, place.first_receive + receive); !posted) {
      return tl::unexpected(posted.error());
    }
  }
  return qp;
}

Result<void> PostUdReceive(const UdQp& qp, std::size_t receive, std::uint64_t wr_id) {
  std::array<ibv_sge, 2> parts = {SgeOf(qp, receive * kReceiveBytes, kReceiveBytes),
                                  SgeOf(qp, kRestAt, kRestBytes)};
  ibv_recv_wr work{};
  work.wr_id = wr_id;
  work.sg_list = parts.data();
  work.num_sge = static_cast<int>(parts.size());
  ibv_recv_wr* bad = nullptr;
  return CheckVerb(ibv_post_recv(qp.qp.get(), &work, &bad),
                   {"ibv_post_recv on a UD QP of ", ibv_get_device_name(qp.qp->context->device)});
}

std::span<const std::uint8_t> ReceivedBy(const UdQp& qp, std::size_t receive, std::size_t bytes) {
  const std::size_t count = std::clamp(bytes, kGrhBytes, kReceiveBytes) - kGrhBytes;
  const std::byte* const begin = qp.memory.get() + receive * kReceiveBytes + kGrhBytes;
  return {reinterpret_cast<const std::uint8_t*>(begin), count};
}

Result<void> PostUdSend(const UdQp& qp, const UdSend& send, const probes::Datagram& datagram) {
  const std::size_t at = kSendsAt + send.slot * kSendBytes;
  const auto bytes = probes::Encode(datagram);
  std::memcpy(qp.memory.get() + at, bytes.data(), bytes.size());
  ibv_sge sge = SgeOf(qp, at, bytes.size());
  ibv_send_wr work{};
  work.wr_id = send.wr_id;
  work.opcode = IBV_WR_SEND;
  work.send_flags = IBV_SEND_SIGNALED;
  work.sg_list = &sge;
  work.num_sge = 1;
  work.wr.ud.ah = send.ah;
  work.wr.ud.remote_qpn = send.qpn;
  work.wr.ud.remote_qkey = send.qkey;
  ibv_send_wr* bad = nullptr;
  return CheckVerb(
      ibv_post_send(qp.qp.get(), &work, &bad),
      {"ibv_post_send of a datagram on ", ibv_get_device_name(qp.qp->context->device)});
}

Result<std::vector<Ah>> CreateWays(const RtsRequest& request, ibv_ah_attr address,
                                   bool heeds_flow_label) {
  std::vector<Ah> ways;
  const std::uint32_t count = heeds_flow_label ? request.attributes.ud_source_ports : 1;
  for (std::uint32_t way = 0; way < count; ++way) {
    address.grh.flow_label = probes::FlowLabelOfWay(request.attributes.flow_label, way);
    Ah ah(ibv_create_ah(request.qp->pd, &address));
    if (ah == nullptr) {
      const int code = errno;
      const auto failed = Fail(code, {"ibv_create_ah on ", request.local.port.Text(), " towards ",
                                      request.remote.gid.Text()});
      return tl::unexpected(NoRoute(failed.value()));
    }
    ways.push_back(std::move(ah));
  }
  return ways;
}

bool HeedsFlowLabelOfAh(std::string_view driver) { return driver == "mlx5" || driver == "hns"; }

}  // namespace rdmapulse::verbs
