// Connections of RoCE and InfiniBand ports, whose QPs their owners move themselves.
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tests/fakes/rdma_cm.h"
#include "tests/fakes/rdma_cm_wire.h"

namespace rdmapulse::fakes {

using verbs::CmEventType;

namespace {

// What of the private data of a request is its sender's, when it goes by IP addresses; the receiver
// gets all of it. Of an answer likewise.
constexpr std::size_t kRequestBytes = 56;
constexpr std::size_t kAnswerBytes = 196;
constexpr int kUnknownConnection = 4;
// What the kernel would ask for by itself.
constexpr std::uint8_t kTimeout = 19;
constexpr std::uint32_t kFlowLabel = 0x54321;
constexpr std::uint8_t kHopLimit = 64;

}  // namespace

RdmaCm::Id* RdmaCm::PeerOf(const Id& id) {
  const auto found = ids_.find(id.peer);
  return id.peer == 0 || found == ids_.end() ? nullptr : &found->second;
}

void RdmaCm::CheckInRts(const Id& id, const std::string& doing) {
  if (verbs_->StateOf(id.device, id.qpn) != IBV_QPS_RTS) Note(doing + " of a QP not in RTS");
}

int RdmaCm::ConnectIb(Id& id, std::uint32_t number, const rdma_ucm_conn_param& parameters) {
  std::vector<std::byte> data = DataOf(parameters);
  if (data.size() > kRequestBytes) return EINVAL;
  data.resize(kRequestBytes);
  id.psn = ++last_psn_;
  if (silence_ == Silence::kSyn || silence_ == Silence::kReply) return 0;
  if (Request(id.there, number, std::move(data)) != 0) {
    id.state = State::kEnded;
    Tell(id, {id.owner, number, CmEventType::kRejected, -verbs::kNobodyListens, {}});
  }
  return 0;
}

int RdmaCm::AcceptIb(Id& id, const rdma_ucm_accept& command) {
  if (id.state != State::kAsked) return EINVAL;
  id.owner = command.uid;
  id.qpn = command.conn_param.qp_num;
  CheckInRts(id, "accepting");
  Id* const peer = PeerOf(id);
  if (peer == nullptr || HungUp(*peer->wake)) {
    id.state = State::kEnded;
    Tell(id, {id.owner, command.id, CmEventType::kRejected, -kUnknownConnection, {}});
    return 0;
  }
  peer->peer = command.id;
  id.state = State::kAnswering;
  peer->state = State::kAnswered;
  Tell(*peer, {peer->owner, id.peer, CmEventType::kConnectResponse, 0,
               std::vector<std::byte>(kAnswerBytes)});
  return 0;
}

int RdmaCm::ConfirmIb(Id& id) {
  if (id.state != State::kAnswered) return EINVAL;
  CheckInRts(id, "confirming");
  id.state = State::kEstablished;
  if (Id* const peer = PeerOf(id)) {
    peer->state = State::kEstablished;
    Tell(*peer, {peer->owner, id.peer, CmEventType::kEstablished, 0, {}});
  }
  return 0;
}

void RdmaCm::EndIb(const Id& id) {
  Id* const peer = PeerOf(id);
  if (peer == nullptr) return;
  const bool up = id.state == State::kEstablished && peer->state == State::kEstablished;
  const bool begun =
      id.state == State::kAsked || id.state == State::kAnswering || id.state == State::kAnswered;
  if (!up && !begun) return;
  peer->state = State::kEnded;
  Tell(*peer, {peer->owner,
               id.peer,
               up ? CmEventType::kDisconnected : CmEventType::kRejected,
               up ? 0 : -verbs::kRefusedByOwner,
               {}});
}

void RdmaCm::FillAddress(const Id& id, const Id& peer, ib_uverbs_ah_attr& to) const {
  const FakePort port = verbs_->PortOf(id.device, kPort);
  to.port_num = kPort;
  if (id.manner == Manner::kInfiniband) {
    to.dlid = verbs_->PortOf(peer.device, kPort).lid;
    to.sl = service_level_;
    return;
  }
  to.is_global = 1;
  std::memcpy(to.grh.dgid, id.there.ip.bytes.data(), id.there.ip.bytes.size());
  to.grh.flow_label = kFlowLabel;
  to.grh.hop_limit = kHopLimit;
  to.grh.traffic_class = id.traffic_class;
  const auto own = std::find_if(port.gids.begin(), port.gids.end(),
                                [&id](const auto& entry) { return entry.gid == id.here.ip; });
  if (own != port.gids.end()) to.grh.sgid_index = static_cast<std::uint8_t>(own->index);
}

int RdmaCm::InitQpAttributes(std::span<const std::byte> payload) {
  const auto command = As<rdma_ucm_init_qp_attr>(payload);
  const auto found = ids_.find(command.id);
  if (found == ids_.end()) return ENOENT;
  const Id& id = found->second;
  if (id.device.empty() || id.manner == Manner::kIwarp) return EINVAL;
  ib_uverbs_qp_attr answer{};
  answer.qp_state = command.qp_state;
  answer.port_num = kPort;
  if (command.qp_state == IBV_QPS_INIT) {
    answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    answer.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    Answer(command.response, answer);
    return 0;
  }
  const Id* const peer = PeerOf(id);
  const bool known = id.state == State::kAsked || id.state == State::kAnswering ||
                     id.state == State::kAnswered || id.state == State::kEstablished;
  if (!known || peer == nullptr) return EINVAL;
  if (command.qp_state == IBV_QPS_RTR) {
    answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                          IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    FillAddress(id, *peer, answer.ah_attr);
    const Id& asker = id.state == State::kAsked || id.state == State::kAnswering ? *peer : id;
    answer.path_mtu = verbs_->PortOf(asker.device, kPort).mtu;
    answer.dest_qp_num = peer->qpn;
    answer.rq_psn = id.psn;
    answer.max_dest_rd_atomic = 1;
  } else if (command.qp_state == IBV_QPS_RTS) {
    answer.qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                          IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    answer.sq_psn = peer->psn;
    answer.timeout = kTimeout;
    answer.max_rd_atomic = 1;
  } else {
    return EINVAL;
  }
  Answer(command.response, answer);
  return 0;
}

}  // namespace rdmapulse::fakes
