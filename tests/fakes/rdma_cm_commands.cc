// The commands of all manners, and iWARP's connections.
#include <endian.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/fakes/rdma_cm.h"
#include "tests/fakes/rdma_cm_wire.h"

namespace rdmapulse::fakes {

using verbs::CmAddress;
using verbs::CmEventType;

int RdmaCm::Command(int fd, std::uint32_t number, std::span<const std::byte> payload) {
  if (number == RDMA_USER_CM_CMD_CREATE_ID) {
    const auto command = As<rdma_ucm_create_id>(payload);
    if (command.uid == 0) Note("an identifier without owner hears no events");
    Id id;
    id.wake = channels_.at(fd).wake;
    id.owner = command.uid;
    ids_[last_id_] = std::move(id);
    Answer(command.response, rdma_ucm_create_id_resp{.id = last_id_++});
    return 0;
  }
  const auto find = [this](std::uint32_t id) {
    const auto found = ids_.find(id);
    if (found == ids_.end()) Note("a command for an identifier that is not there");
    return found == ids_.end() ? nullptr : &found->second;
  };
  switch (number) {
    case RDMA_USER_CM_CMD_SET_OPTION: {
      const auto command = As<rdma_ucm_set_option>(payload);
      if (command.level != RDMA_OPTION_ID || command.optname != RDMA_OPTION_ID_TOS) return ENOSYS;
      if (command.optlen != 1) return EINVAL;
      Id* const id = find(command.id);
      if (id == nullptr) return ENOENT;
      id->traffic_class = *static_cast<const std::uint8_t*>(AtAddress(command.optval));
      return 0;
    }
    case RDMA_USER_CM_CMD_BIND: {
      const auto command = As<rdma_ucm_bind>(payload);
      Id* const id = find(command.id);
      if (id == nullptr) return ENOENT;
      return id->state == State::kIdle ? Bind(*id, Read(command.addr)) : EINVAL;
    }
    case RDMA_USER_CM_CMD_LISTEN: {
      Id* const id = find(As<rdma_ucm_listen>(payload).id);
      if (id == nullptr || id->state != State::kBound) return EINVAL;
      id->state = State::kListening;
      return 0;
    }
    case RDMA_USER_CM_CMD_RESOLVE_ADDR: return ResolveAddress(payload);
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE: {
      const auto command = As<rdma_ucm_resolve_route>(payload);
      Id* const id = find(command.id);
      if (id == nullptr) return ENOENT;
      if (id->state != State::kAddressResolved) return EINVAL;
      id->state = State::kRouteResolved;
      Tell(*id, {id->owner, command.id, CmEventType::kRouteResolved, 0, {}});
      return 0;
    }
    case RDMA_USER_CM_CMD_QUERY: return Query(payload);
    case RDMA_USER_CM_CMD_CONNECT: {
      const auto command = As<rdma_ucm_connect>(payload);
      Id* const id = find(command.id);
      if (id == nullptr || command.conn_param.valid == 0) return EINVAL;
      if (id->state != State::kRouteResolved) return EINVAL;
      if (!verbs_->HasQp(id->device, command.conn_param.qp_num)) {
        Note("dialling for a QP that is not there");
      }
      id->qpn = command.conn_param.qp_num;
      id->state = State::kAsking;
      if (id->manner != Manner::kIwarp) return ConnectIb(*id, command.id, command.conn_param);
      return Connect(*id, command.id, DataOf(command.conn_param));
    }
    case RDMA_USER_CM_CMD_ACCEPT: {
      const auto command = As<rdma_ucm_accept>(payload);
      Id* const id = find(command.id);
      if (id == nullptr) return ENOENT;
      if (id->manner != Manner::kIwarp) {
        return command.conn_param.valid != 0 ? AcceptIb(*id, command) : ConfirmIb(*id);
      }
      return command.conn_param.valid != 0 ? Accept(*id, command) : EINVAL;
    }
    case RDMA_USER_CM_CMD_INIT_QP_ATTR: return InitQpAttributes(payload);
    case RDMA_USER_CM_CMD_REJECT: {
      const auto number_of = As<rdma_ucm_reject>(payload).id;
      Id* const id = find(number_of);
      if (id == nullptr) return ENOENT;
      if (id->state != State::kAsked) return EINVAL;
      id->state = State::kEnded;
      ++rejections_;
      const int error = id->manner == Manner::kIwarp ? ECONNREFUSED : -verbs::kRefusedByOwner;
      if (Id* const peer = PeerOf(*id)) {
        peer->state = State::kEnded;
        Tell(*peer, {peer->owner, id->peer, CmEventType::kRejected, error, {}});
      }
      return 0;
    }
    default: return ENOSYS;
  }
}

int RdmaCm::ResolveAddress(std::span<const std::byte> payload) {
  const auto command = As<rdma_ucm_resolve_addr>(payload);
  const auto found = ids_.find(command.id);
  if (found == ids_.end()) return ENOENT;
  Id& id = found->second;
  if (id.state != State::kIdle) return EINVAL;
  if (const int code = Bind(id, Read(command.src_addr)); code != 0) return code;
  traffic_classes_[id.device] = id.traffic_class;
  id.there = Read(command.dst_addr);
  const bool known = std::any_of(places_.begin(), places_.end(), [&id](const auto& place) {
    const auto& addresses = place.second.addresses;
    return std::find(addresses.begin(), addresses.end(), id.there.ip) != addresses.end();
  });
  if (silence_ == Silence::kAddress) return 0;
  if (known) id.state = State::kAddressResolved;
  Tell(id, {id.owner,
            command.id,
            known ? CmEventType::kAddressResolved : CmEventType::kAddressError,
            known ? 0 : ETIMEDOUT,
            {}});
  return 0;
}

int RdmaCm::Query(std::span<const std::byte> payload) {
  const auto command = As<rdma_ucm_query>(payload);
  const auto found = ids_.find(command.id);
  if (found == ids_.end() || command.option != RDMA_USER_CM_QUERY_ADDR) return EINVAL;
  rdma_ucm_query_addr_resp answer{};
  answer.node_guid = htobe64(found->second.guid);
  answer.port_num = kPort;
  Write(found->second.here, answer.src_addr);
  Answer(command.response, answer);
  return 0;
}

int RdmaCm::Bind(Id& id, const CmAddress& here) {
  for (const auto& [netdev, place] : places_) {
    for (const Gid& address : place.addresses) {
      if (address != here.ip) continue;
      id.state = State::kBound;
      id.device = place.device;
      id.guid = place.guid;
      id.manner = place.manner;
      id.here = {.ip = here.ip, .port = here.port != 0 ? here.port : ++last_port_};
      return 0;
    }
  }
  return EADDRNOTAVAIL;
}

int RdmaCm::Connect(Id& id, std::uint32_t number, std::vector<std::byte> data) {
  if (silence_ == Silence::kSyn) return ETIMEDOUT;
  if (silence_ == Silence::kReply) return 0;
  return Request(id.there, number, std::move(data));
}

int RdmaCm::Request(const CmAddress& to, std::uint32_t peer, std::vector<std::byte> data) {
  for (const auto& [number, listener] : ids_) {
    if (listener.state != State::kListening || listener.here != to || HungUp(*listener.wake))
      continue;
    Id request;
    request.wake = listener.wake;
    request.device = listener.device;
    request.guid = listener.guid;
    request.manner = listener.manner;
    request.here = listener.here;
    request.peer = peer;
    request.state = State::kAsked;
    request.psn = ++last_psn_;
    if (const auto asker = ids_.find(peer); peer != 0 && asker != ids_.end()) {
      request.there = asker->second.here;
      request.traffic_class = asker->second.traffic_class;
    }
    const std::uint32_t made = last_id_++;
    const Event event{listener.owner, made, CmEventType::kConnectRequest, 0, std::move(data)};
    Tell(listener, event);
    ids_[made] = std::move(request);
    return 0;
  }
  return ECONNREFUSED;
}

int RdmaCm::Accept(Id& id, const rdma_ucm_accept& command) {
  if (id.state != State::kAsked) return EINVAL;
  const std::uint32_t qpn = command.conn_param.qp_num;
  if (!verbs_->HasQp(id.device, qpn)) Note("accepting for a QP that is not there");
  Id* const peer = PeerOf(id);
  if (peer == nullptr || HungUp(*peer->wake)) return ECONNRESET;
  id.owner = command.uid;
  id.qpn = qpn;
  if (!verbs_->JoinQps(id.device, qpn, peer->device, peer->qpn)) return EINVAL;
  peer->peer = command.id;
  id.state = peer->state = State::kEstablished;
  Tell(id, {id.owner, command.id, CmEventType::kEstablished, 0, {}});
  Tell(*peer, {peer->owner, id.peer, CmEventType::kEstablished, 0, {}});
  return 0;
}

}  // namespace rdmapulse::fakes
