// Datagrams: address handles, the UD QP's states, and what becomes of a datagram on its way. As on
// rxe, one that leaves by an address which is gone takes its QP along.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "tests/fakes/ibverbs.h"
#include "tests/fakes/ibverbs_model.h"

namespace rdmapulse::fakes {
namespace {

// Before every datagram that arrives (ibv_post_recv(3)).
constexpr std::size_t kGrhBytes = 40;

Gid GidOf(const ibv_ah_attr& attr) {
  Gid gid;
  std::memcpy(gid.bytes.data(), attr.grh.dgid.raw, gid.bytes.size());
  return gid;
}

// By its GID, or on InfiniBand by its LID alone.
bool Leads(const ibv_ah_attr& attr, const FakePort& port) {
  if (attr.is_global != 0) {
    return GidAt(port, attr.grh.sgid_index) != nullptr && !GidOf(attr).IsZero();
  }
  return port.link_layer == LinkLayer::kInfiniband && attr.dlid != 0;
}

}  // namespace

int Ibverbs::Model::ModifyUd(FakeRcQp& qp, const ibv_qp_attr& attr, int mask) {
  const int rest = mask & ~IBV_QP_STATE;
  if ((mask & IBV_QP_STATE) == 0) return EINVAL;
  if (attr.qp_state == IBV_QPS_INIT && qp.state == IBV_QPS_RESET) {
    if (rest != (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY)) return EINVAL;
    if (!qp.context->device->ports.contains(attr.port_num)) return EINVAL;
    qp.attr.port_num = attr.port_num;
    qp.attr.qkey = attr.qkey;
  } else if (attr.qp_state == IBV_QPS_RTR && qp.state == IBV_QPS_INIT) {
    if (rest != 0) return EINVAL;
  } else if (attr.qp_state == IBV_QPS_RTS && qp.state == IBV_QPS_RTR) {
    if (rest != IBV_QP_SQ_PSN) return EINVAL;
  } else {
    return EINVAL;
  }
  qp.state = attr.qp_state;
  return 0;
}

ibv_wc_status Ibverbs::Model::SendDatagram(const FakeRcQp& qp, const FakeWork& work) {
  const auto found = ahs.find(work.ah);
  if (found == ahs.end()) return IBV_WC_LOC_QP_OP_ERR;
  const FakeAh& ah = *found->second;
  const auto life =
      qp.context->device->lives.find({ah.attr.port_num, std::uint32_t{ah.attr.grh.sgid_index}});
  const auto port = qp.context->device->ports.find(ah.attr.port_num);
  const bool alive = port != qp.context->device->ports.end() && port->second.active &&
                     (ah.attr.is_global == 0 ||
                      (life != qp.context->device->lives.end() && life->second == ah.gid_life));
  if (!alive) return IBV_WC_LOC_QP_OP_ERR;
  const FakeMr* const local = FindMr(qp.ibv.pd, work.local.lkey);
  if (local == nullptr || !Covers(*local, work.local.addr, work.local.length)) {
    return IBV_WC_LOC_PROT_ERR;
  }
  const std::byte* const bytes = BytesAt(*local, work.local.addr);
  Carry({.to = GidOf(ah.attr),
         .lid = ah.attr.dlid,
         .qpn = work.remote_qpn,
         .qkey = work.remote_qkey,
         .source_qpn = qp.ibv.qp_num,
         .bytes = {bytes, bytes + work.local.length}});
  return IBV_WC_SUCCESS;
}

void Ibverbs::Model::Carry(const FakeDatagram& datagram) {
  if (drop_datagrams > 0) {
    --drop_datagrams;
    return;
  }
  std::vector<std::byte> arrives(kGrhBytes + datagram.bytes.size());
  std::copy(datagram.bytes.begin(), datagram.bytes.end(), arrives.begin() + kGrhBytes);
  if (garble_in > 0 && --garble_in == 0 && garble_at < datagram.bytes.size()) {
    arrives[kGrhBytes + garble_at] ^= std::byte{0xFF};
  }
  for (const auto& [handle, qp] : qps) {
    const bool it = qp->ibv.qp_type == IBV_QPT_UD && qp->ibv.qp_num == datagram.qpn &&
                    qp->attr.qkey == datagram.qkey && !qp->context->dead &&
                    (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS);
    if (!it || qp->receives.empty()) continue;
    const FakePort& port = qp->context->device->ports.at(qp->attr.port_num);
    const bool by_gid =
        std::any_of(port.gids.begin(), port.gids.end(),
                    [&datagram](const auto& entry) { return entry.gid == datagram.to; });
    if (!by_gid && (datagram.lid == 0 || datagram.lid != port.lid)) continue;
    const FakeReceive receive = qp->receives.front();
    qp->receives.pop_front();
    ibv_wc wc{};
    wc.wr_id = receive.wr_id;
    wc.opcode = IBV_WC_RECV;
    wc.byte_len = static_cast<std::uint32_t>(arrives.size());
    wc.src_qp = datagram.source_qpn;
    wc.wc_flags = IBV_WC_GRH;
    // Some NICs take the QP out of work over it; see what a receive has room for.
    const bool fits = Scatter(qp->ibv.pd, receive, arrives);
    wc.status = fits ? IBV_WC_SUCCESS : IBV_WC_LOC_LEN_ERR;
    Complete(*qp, qp->ibv.recv_cq, wc);
    if (!fits) MoveToError(*qp);
    return;
  }
}

bool Ibverbs::Model::Scatter(const ibv_pd* pd, const FakeReceive& receive,
                             const std::vector<std::byte>& bytes) {
  std::size_t done = 0;
  for (const ibv_sge& part : receive.local) {
    const FakeMr* const mr = FindMr(pd, part.lkey);
    const bool writable = mr != nullptr && (mr->access & IBV_ACCESS_LOCAL_WRITE) != 0;
    if (!writable || !Covers(*mr, part.addr, part.length)) return false;
    const std::size_t count = std::min<std::size_t>(part.length, bytes.size() - done);
    std::memcpy(BytesAt(*mr, part.addr), bytes.data() + done, count);
    done += count;
  }
  return done == bytes.size();
}

void Ibverbs::DropDatagrams(int n) {
  const std::lock_guard lock(model_->mutex);
  model_->drop_datagrams = n;
}

void Ibverbs::SendDatagram(const std::string& address, std::uint32_t qpn, std::uint32_t qkey,
                           std::uint32_t source_qpn, const std::vector<std::uint8_t>& bytes) {
  const std::lock_guard lock(model_->mutex);
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes.data());
  model_->Carry({.to = *ParseGid(address),
                 .lid = 0,
                 .qpn = qpn,
                 .qkey = qkey,
                 .source_qpn = source_qpn,
                 .bytes = {begin, begin + bytes.size()}});
}

std::vector<FakeUdQp> Ibverbs::UdQps() const {
  const std::lock_guard lock(model_->mutex);
  std::vector<FakeUdQp> found;
  for (const auto& [handle, qp] : model_->qps) {
    if (qp->ibv.qp_type != IBV_QPT_UD) continue;
    found.push_back({.device = qp->context->device->name,
                     .qpn = qp->ibv.qp_num,
                     .qkey = qp->attr.qkey,
                     .state = qp->state,
                     .receives = qp->receives.size()});
  }
  std::sort(found.begin(), found.end(), [](const FakeUdQp& a, const FakeUdQp& b) {
    return std::pair(a.device, a.qpn) < std::pair(b.device, b.qpn);
  });
  return found;
}

std::vector<FakeAddressHandle> Ibverbs::AddressHandles() const {
  const std::lock_guard lock(model_->mutex);
  std::vector<FakeAddressHandle> found;
  for (const auto& [handle, ah] : model_->ahs) {
    found.push_back({.device = ah->context->device->name,
                     .to = GidOf(ah->attr),
                     .traffic_class = ah->attr.grh.traffic_class,
                     .flow_label = ah->attr.grh.flow_label,
                     .gid_index = ah->attr.grh.sgid_index});
  }
  std::sort(found.begin(), found.end(), [](const FakeAddressHandle& a, const FakeAddressHandle& b) {
    return std::pair(a.device, a.flow_label) < std::pair(b.device, b.flow_label);
  });
  return found;
}

}  // namespace rdmapulse::fakes

using namespace rdmapulse::fakes;  // NOLINT(google-build-using-namespace): the C names below

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* handle, ibv_ah_attr* attr) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakePd* const pd = Known(model, model.pds, handle, "ibv_create_ah");
  const int code =
      pd == nullptr ? EINVAL : model.Enter(lock, On(*pd->context, "ibv_create_ah", true));
  const auto port = code == 0 ? pd->context->device->ports.find(attr->port_num)
                              : decltype(pd->context->device->ports)::iterator{};
  if (code != 0 || port == pd->context->device->ports.end() || !Leads(*attr, port->second)) {
    errno = code != 0 ? code : EINVAL;
    return nullptr;
  }
  auto ah = std::make_unique<FakeAh>();
  ah->context = pd->context;
  ah->attr = *attr;
  ah->gid_life = pd->context->device->lives[{attr->port_num, std::uint32_t{attr->grh.sgid_index}}];
  ah->ibv.context = &pd->context->verbs.context;
  ah->ibv.pd = handle;
  ibv_ah* const made = &ah->ibv;
  model.ahs[made] = std::move(ah);
  return made;
}

int ibv_destroy_ah(ibv_ah* handle) {
  Ibverbs::Model& model = TheModel();
  Lock lock(model.mutex);
  FakeAh* const ah = Known(model, model.ahs, handle, "ibv_destroy_ah");
  if (ah == nullptr) return EINVAL;
  const int code = model.Enter(lock, On(*ah->context, "ibv_destroy_ah"));
  // soft-RoCE looks it up when it sends, and without it the QP ends.
  const auto sends_by = [handle](const FakeWork& work) { return work.ah == handle; };
  for (const auto& [other, qp] : model.qps) {
    if (std::any_of(qp->posted.begin(), qp->posted.end(), sends_by)) {
      model.Note("ibv_destroy_ah while a datagram is on its way by it");
    }
  }
  model.ahs.erase(handle);
  return code;
}

}  // extern "C"
