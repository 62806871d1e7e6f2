// What work does on its way: which is refused, whom it reaches, which memory it moves.
#include <cerrno>
#include <cstring>

#include "tests/fakes/ibverbs_model.h"

namespace rdmapulse::fakes {

bool Covers(const FakeMr& mr, std::uint64_t address, std::uint32_t length) {
  const auto start = reinterpret_cast<std::uintptr_t>(mr.ibv.addr);
  return address >= start && address + length <= start + mr.ibv.length;
}

std::byte* BytesAt(const FakeMr& mr, std::uint64_t address) {
  return static_cast<std::byte*>(mr.ibv.addr) +
         (address - reinterpret_cast<std::uintptr_t>(mr.ibv.addr));
}

int Ibverbs::Model::CheckWork(const FakeRcQp& qp, const FakeWork& work) {
  if (qp.ibv.qp_type == IBV_QPT_UD) {
    if (!ahs.contains(work.ah)) Note("a datagram by an address handle that is not open");
    return work.opcode == IBV_WR_SEND && ahs.contains(work.ah) ? 0 : EINVAL;
  }
  const bool atomic = work.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const bool read = work.opcode == IBV_WR_RDMA_READ;
  const bool known = work.opcode == IBV_WR_RDMA_WRITE || work.opcode == IBV_WR_SEND;
  if (!atomic && !read && !known) return EINVAL;
  // ibv_modify_qp(3): how many READs and atomics may be out; none is none.
  if ((atomic || read) && qp.attr.max_rd_atomic == 0 && qp.state == IBV_QPS_RTS) return EINVAL;
  if (atomic && qp.context->device->atomic_cap == IBV_ATOMIC_NONE) return EINVAL;
  if (atomic && (work.local.length != sizeof work.add || work.remote_addr % sizeof work.add != 0)) {
    return EINVAL;
  }
  if (read && work.local.length == 0) {
    Note("a READ of 0 bytes breaks rxe's QP when it is retransmitted");
  }
  return 0;
}

bool Ibverbs::Model::LocalAlive(const FakeRcQp& qp) const {
  const FakeDevice& device = *qp.context->device;
  const auto port = device.ports.find(qp.attr.port_num);
  if (qp.context->dead || port == device.ports.end() || !port->second.active) return false;
  if (qp.attr.ah_attr.is_global == 0) return true;
  const std::uint32_t index = qp.attr.ah_attr.grh.sgid_index;
  const auto life = device.lives.find({qp.attr.port_num, index});
  return GidAt(port->second, index) != nullptr && life != device.lives.end() &&
         life->second == qp.gid_life;
}

// The QP that ours points at, if it points back.
FakeRcQp* Ibverbs::Model::FindPeer(const FakeRcQp& qp) const {
  const ibv_ah_attr& to = qp.attr.ah_attr;
  for (const auto& [handle, peer] : qps) {
    if (peer->ibv.qp_num != qp.attr.dest_qp_num) continue;
    if (peer->state != IBV_QPS_RTR && peer->state != IBV_QPS_RTS) continue;
    if (peer->attr.dest_qp_num != qp.ibv.qp_num || peer->attr.rq_psn != qp.attr.sq_psn) continue;
    const bool addressed =
        to.is_global != 0 ? std::memcmp(to.grh.dgid.raw, peer->local_gid.bytes.data(), 16) == 0
                          : peer->context->device->ports.at(peer->attr.port_num).lid == to.dlid;
    if (addressed && LocalAlive(*peer)) return peer.get();
  }
  return nullptr;
}

ibv_wc_status Ibverbs::Model::Deliver(const FakeRcQp& qp, const FakeWork& work) {
  if (qp.ibv.qp_type == IBV_QPT_UD) return SendDatagram(qp, work);
  if (!LocalAlive(qp)) return IBV_WC_LOC_QP_OP_ERR;
  if (answer_after) return IBV_WC_SUCCESS;
  FakeRcQp* const peer = FindPeer(qp);
  if (peer == nullptr) return IBV_WC_RETRY_EXC_ERR;
  if (peer->attr.path_mtu != qp.attr.path_mtu) return IBV_WC_REM_INV_REQ_ERR;
  if (work.opcode == IBV_WR_SEND) return Receive(qp, *peer, work);
  return work.local.length == 0 ? IBV_WC_SUCCESS : Transfer(qp, *peer, work);
}

const FakeMr* Ibverbs::Model::FindMr(const ibv_pd* pd, std::uint32_t lkey) const {
  for (const auto& [handle, mr] : mrs) {
    if (mr->ibv.lkey == lkey && mr->ibv.pd == pd) return mr.get();
  }
  return nullptr;
}

// A peer that has posted no receive says "not ready" until the sender's retries are used up.
ibv_wc_status Ibverbs::Model::Receive(const FakeRcQp& qp, FakeRcQp& peer, const FakeWork& work) {
  const FakeMr* const local = FindMr(qp.ibv.pd, work.local.lkey);
  if (local == nullptr || !Covers(*local, work.local.addr, work.local.length)) {
    return IBV_WC_LOC_PROT_ERR;
  }
  if (peer.receives.empty()) return IBV_WC_RNR_RETRY_EXC_ERR;
  const FakeReceive receive = peer.receives.front();
  peer.receives.pop_front();
  const ibv_sge& place = receive.local.front();
  const FakeMr* const remote = FindMr(peer.ibv.pd, place.lkey);
  ibv_wc wc{};
  wc.wr_id = receive.wr_id;
  wc.opcode = IBV_WC_RECV;
  wc.byte_len = work.local.length;
  if (place.length < work.local.length) {
    wc.status = IBV_WC_LOC_LEN_ERR;
  } else if (remote == nullptr || !Covers(*remote, place.addr, place.length) ||
             (remote->access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    wc.status = IBV_WC_LOC_PROT_ERR;
  } else {
    std::memmove(BytesAt(*remote, place.addr), BytesAt(*local, work.local.addr), work.local.length);
    if (garble_in > 0 && --garble_in == 0 && garble_at < work.local.length) {
      *BytesAt(*remote, place.addr + garble_at) ^= std::byte{0xFF};
    }
  }
  Complete(peer, peer.ibv.recv_cq, wc);
  if (wc.status == IBV_WC_SUCCESS) return IBV_WC_SUCCESS;
  MoveToError(peer);
  return IBV_WC_REM_INV_REQ_ERR;
}

ibv_wc_status Ibverbs::Model::Transfer(const FakeRcQp& qp, const FakeRcQp& peer,
                                       const FakeWork& work) {
  const FakeMr* const local = FindMr(qp.ibv.pd, work.local.lkey);
  const FakeMr* remote = nullptr;
  for (const auto& [handle, mr] : mrs) {
    if (mr->ibv.rkey == work.rkey && mr->ibv.pd == peer.ibv.pd) remote = mr.get();
  }
  const bool read = work.opcode == IBV_WR_RDMA_READ;
  if (local == nullptr || !Covers(*local, work.local.addr, work.local.length)) {
    return IBV_WC_LOC_PROT_ERR;
  }
  const bool atomic = work.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  const unsigned needed = atomic ? IBV_ACCESS_REMOTE_ATOMIC
                          : read ? IBV_ACCESS_REMOTE_READ
                                 : IBV_ACCESS_REMOTE_WRITE;
  if (remote == nullptr || !Covers(*remote, work.remote_addr, work.local.length) ||
      (remote->access & peer.attr.qp_access_flags & needed) == 0) {
    return IBV_WC_REM_ACCESS_ERR;
  }
  std::byte* const here = BytesAt(*local, work.local.addr);
  std::byte* const there = BytesAt(*remote, work.remote_addr);
  std::memmove(read || atomic ? here : there, read || atomic ? there : here, work.local.length);
  if (atomic) {
    std::uint64_t value = 0;
    std::memcpy(&value, there, sizeof value);
    value += work.add;
    std::memcpy(there, &value, sizeof value);
  }
  return IBV_WC_SUCCESS;
}

}  // namespace rdmapulse::fakes
