#include "tests/fakes/rdma_cm.h"

#include <endian.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/rdma_user_cm.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rdmapulse::fakes {
namespace {

using verbs::CmAddress;
using verbs::CmEventType;

template <typename T>
T As(std::span<const std::byte> payload) {
  T value{};
  if (payload.size() >= sizeof value) std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

// The kernel's interface passes addresses as numbers.
void* AtAddress(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <typename T>
void Answer(std::uint64_t response, const T& answer) {
  std::memcpy(AtAddress(response), &answer, sizeof answer);
}

CmAddress Read(const __kernel_sockaddr_storage& from) {
  CmAddress address;
  if (from.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(from);
    address.ip.bytes[10] = address.ip.bytes[11] = 0xFF;
    std::memcpy(address.ip.bytes.data() + 12, &ipv4.sin_addr, 4);
    address.port = ntohs(ipv4.sin_port);
  } else {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(from);
    std::memcpy(address.ip.bytes.data(), &ipv6.sin6_addr, 16);
    address.port = ntohs(ipv6.sin6_port);
  }
  return address;
}

void Write(const CmAddress& address, __kernel_sockaddr_storage& to) {
  if (address.ip.IsIpv4()) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(to);
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    std::memcpy(&ipv4.sin_addr, address.ip.bytes.data() + 12, 4);
  } else {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(to);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(address.port);
    std::memcpy(&ipv6.sin6_addr, address.ip.bytes.data(), 16);
  }
}

std::vector<std::byte> DataOf(const rdma_ucm_conn_param& parameters) {
  const auto bytes = std::as_bytes(std::span(parameters.private_data));
  return {bytes.begin(), bytes.begin() + parameters.private_data_len};
}

bool PeerHungUp(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, 0) > 0 && (polled.revents & POLLHUP) != 0;
}

}  // namespace

void RdmaCm::SetAddresses(const std::string& netdev, const std::string& device, std::uint64_t guid,
                          const std::vector<std::string>& addresses) {
  const std::lock_guard lock(mutex_);
  Place place{.device = device, .guid = guid, .addresses = {}};
  for (const std::string& address : addresses) place.addresses.push_back(*ParseGid(address));
  places_[netdev] = std::move(place);
}

void RdmaCm::RemoveDevice(const std::string& device) {
  const std::lock_guard lock(mutex_);
  for (const auto& [number, id] : ids_) {
    if (id.device == device) Tell(id, {id.owner, number, CmEventType::kDeviceRemoval, 0, {}});
  }
}

void RdmaCm::Disconnect(const std::string& device) {
  const std::lock_guard lock(mutex_);
  for (auto& [number, id] : ids_) {
    if (id.device != device || !std::exchange(id.established, false)) continue;
    verbs_->BreakQp(device, id.qpn);
    Tell(id, {id.owner, number, CmEventType::kDisconnected, ECONNRESET, {}});
  }
}

void RdmaCm::FailCommand(int n, int code) {
  const std::lock_guard lock(mutex_);
  fail_at_ = n;
  fail_code_ = code;
  fired_ = false;
  seen_ = 0;
}

void RdmaCm::SetSilence(Silence silence) {
  const std::lock_guard lock(mutex_);
  silence_ = silence;
}

bool RdmaCm::DialAs(const CmAddress& to, const std::vector<std::byte>& private_data) {
  const std::lock_guard lock(mutex_);
  return Request(to, 0, private_data) == 0;
}

int RdmaCm::Rejections() const {
  const std::lock_guard lock(mutex_);
  return rejections_;
}

std::uint8_t RdmaCm::TrafficClassOf(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  const auto found = traffic_classes_.find(device);
  return found == traffic_classes_.end() ? std::uint8_t{0} : found->second;
}

std::vector<std::string> RdmaCm::LiveObjects() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> live;
  for (const auto& [fd, channel] : channels_) {
    if (PeerHungUp(channel.wake->get())) continue;  // the kernel ended all that it had
    live.emplace_back("cm descriptor");
    for (const auto& [number, id] : ids_) {
      if (id.wake == channel.wake) live.push_back("cm id of " + id.device);
    }
  }
  return live;
}

std::vector<std::string> RdmaCm::Misuse() const {
  const std::lock_guard lock(mutex_);
  return misuse_;
}

Result<UniqueFd> RdmaCm::Open(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (FaultDue()) return Fail(fail_code_, {"opening ", path});
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) {
    return Fail(errno, {"opening ", path});
  }
  channels_[ends[0]] = {.wake = std::make_shared<UniqueFd>(ends[1]), .events = {}};
  return UniqueFd(ends[0]);
}

Result<std::vector<Gid>> RdmaCm::Addresses(const std::string& netdev) {
  const std::lock_guard lock(mutex_);
  if (FaultDue()) return Fail(fail_code_, {"reading the addresses of ", netdev});
  const auto found = places_.find(netdev);
  if (found == places_.end()) return std::vector<Gid>{};
  return found->second.addresses;
}

bool RdmaCm::FaultDue() {
  if (++seen_ != fail_at_) return false;
  fired_ = true;
  return true;
}

int RdmaCm::Run(int fd, std::span<const std::byte> command) {
  const std::lock_guard lock(mutex_);
  const auto header = As<rdma_ucm_cmd_hdr>(command);
  if (command.size() != sizeof header + header.in) return EINVAL;
  const auto payload = command.subspan(sizeof header);
  const auto channel = channels_.find(fd);
  if (channel == channels_.end()) return EBADF;
  if (header.cmd == RDMA_USER_CM_CMD_GET_EVENT) {
    return TakeEvent(channel->second, fd, As<rdma_ucm_get_event>(payload).response);
  }
  if (header.cmd == RDMA_USER_CM_CMD_DESTROY_ID) {
    const auto number = As<rdma_ucm_destroy_id>(payload).id;
    if (!ids_.contains(number)) Note("an identifier is destroyed that is not there");
    End(number);
    return 0;
  }
  if (FaultDue()) return fail_code_;
  return Command(fd, header.cmd, payload);
}

int RdmaCm::TakeEvent(Channel& channel, int fd, std::uint64_t response) {
  if (channel.events.empty()) return EAGAIN;
  char byte = 0;
  if (recv(fd, &byte, 1, MSG_DONTWAIT) != 1) return EAGAIN;
  const Event event = std::move(channel.events.front());
  channel.events.erase(channel.events.begin());
  rdma_ucm_event_resp answer{};
  answer.uid = event.owner;
  answer.id = event.id;
  answer.event = static_cast<std::uint32_t>(event.type);
  answer.status = static_cast<std::uint32_t>(-event.error);
  std::copy(event.data.begin(), event.data.end(),
            reinterpret_cast<std::byte*>(answer.param.conn.private_data));
  answer.param.conn.private_data_len = static_cast<std::uint8_t>(event.data.size());
  Answer(response, answer);
  return 0;
}

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
      traffic_classes_[""] = *static_cast<const std::uint8_t*>(AtAddress(command.optval));
      return find(command.id) != nullptr ? 0 : ENOENT;
    }
    case RDMA_USER_CM_CMD_BIND: {
      const auto command = As<rdma_ucm_bind>(payload);
      Id* const id = find(command.id);
      return id != nullptr ? Bind(*id, Read(command.addr)) : ENOENT;
    }
    case RDMA_USER_CM_CMD_LISTEN: {
      Id* const id = find(As<rdma_ucm_listen>(payload).id);
      if (id == nullptr || id->device.empty()) return EINVAL;
      id->listens = true;
      return 0;
    }
    case RDMA_USER_CM_CMD_RESOLVE_ADDR: return ResolveAddress(payload);
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE: {
      const auto command = As<rdma_ucm_resolve_route>(payload);
      Id* const id = find(command.id);
      if (id == nullptr) return ENOENT;
      Tell(*id, {id->owner, command.id, CmEventType::kRouteResolved, 0, {}});
      return 0;
    }
    case RDMA_USER_CM_CMD_QUERY: return Query(payload);
    case RDMA_USER_CM_CMD_CONNECT: {
      const auto command = As<rdma_ucm_connect>(payload);
      Id* const id = find(command.id);
      if (id == nullptr || command.conn_param.valid == 0) return EINVAL;
      return Connect(*id, command.id, command.conn_param.qp_num, DataOf(command.conn_param));
    }
    case RDMA_USER_CM_CMD_ACCEPT: {
      const auto command = As<rdma_ucm_accept>(payload);
      return Accept(command.id, command.uid, command.conn_param.qp_num);
    }
    case RDMA_USER_CM_CMD_REJECT: {
      const auto number_of = As<rdma_ucm_reject>(payload).id;
      const Id* const id = find(number_of);
      if (id == nullptr) return ENOENT;
      ++rejections_;
      if (const auto peer = ids_.find(id->peer); id->peer != 0 && peer != ids_.end()) {
        Tell(peer->second,
             {peer->second.owner, id->peer, CmEventType::kRejected, ECONNREFUSED, {}});
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
  if (const int code = Bind(id, Read(command.src_addr)); code != 0) return code;
  traffic_classes_[id.device] = traffic_classes_[""];
  id.there = Read(command.dst_addr);
  const bool known = std::any_of(places_.begin(), places_.end(), [&id](const auto& place) {
    const auto& addresses = place.second.addresses;
    return std::find(addresses.begin(), addresses.end(), id.there.ip) != addresses.end();
  });
  if (silence_ == Silence::kAddress) return 0;
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
  Write(found->second.here, answer.src_addr);
  Answer(command.response, answer);
  return 0;
}

int RdmaCm::Bind(Id& id, const CmAddress& here) {
  for (const auto& [netdev, place] : places_) {
    for (const Gid& address : place.addresses) {
      if (address != here.ip) continue;
      id.device = place.device;
      id.guid = place.guid;
      id.here = {.ip = here.ip, .port = here.port != 0 ? here.port : ++last_port_};
      return 0;
    }
  }
  return EADDRNOTAVAIL;
}

int RdmaCm::Connect(Id& id, std::uint32_t number, std::uint32_t qpn, std::vector<std::byte> data) {
  if (!verbs_->HasQp(id.device, qpn)) Note("dialling for a QP that is not there");
  id.qpn = qpn;
  if (silence_ == Silence::kSyn) return ETIMEDOUT;
  if (silence_ == Silence::kReply) return 0;
  return Request(id.there, number, std::move(data));
}

int RdmaCm::Request(const CmAddress& to, std::uint32_t peer, std::vector<std::byte> data) {
  for (const auto& [number, listener] : ids_) {
    if (!listener.listens || listener.here != to || PeerHungUp(listener.wake->get())) continue;
    Id request;
    request.wake = listener.wake;
    request.device = listener.device;
    request.guid = listener.guid;
    request.here = listener.here;
    request.peer = peer;
    const std::uint32_t made = last_id_++;
    const Event event{listener.owner, made, CmEventType::kConnectRequest, 0, std::move(data)};
    Tell(listener, event);
    ids_[made] = std::move(request);
    return 0;
  }
  return ECONNREFUSED;
}

int RdmaCm::Accept(std::uint32_t number, std::uint64_t owner, std::uint32_t qpn) {
  const auto found = ids_.find(number);
  if (found == ids_.end()) return ENOENT;
  Id& id = found->second;
  if (!verbs_->HasQp(id.device, qpn)) Note("accepting for a QP that is not there");
  const auto peer = ids_.find(id.peer);
  if (peer == ids_.end() || PeerHungUp(peer->second.wake->get())) return ECONNRESET;
  id.owner = owner;
  id.qpn = qpn;
  if (!verbs_->JoinQps(id.device, qpn, peer->second.device, peer->second.qpn)) return EINVAL;
  peer->second.peer = number;
  id.established = peer->second.established = true;
  Tell(id, {owner, number, CmEventType::kEstablished, 0, {}});
  Tell(peer->second, {peer->second.owner, id.peer, CmEventType::kEstablished, 0, {}});
  return 0;
}

void RdmaCm::Tell(const Id& id, Event event) {
  for (auto& [fd, channel] : channels_) {
    if (channel.wake != id.wake || PeerHungUp(channel.wake->get())) continue;
    channel.events.push_back(std::move(event));
    const char byte = 0;
    send(channel.wake->get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
}

// The other end learns that its connection ended.
void RdmaCm::End(std::uint32_t number) {
  const auto found = ids_.find(number);
  if (found == ids_.end()) return;
  const Id id = std::move(found->second);
  ids_.erase(found);
  for (auto& [fd, channel] : channels_) {
    if (channel.wake != id.wake) continue;
    // The kernel drops what its owner was not told yet.
    std::erase_if(channel.events, [number](const Event& event) { return event.id == number; });
  }
  if (!id.established) return;
  verbs_->BreakQp(id.device, id.qpn);
  const auto peer = ids_.find(id.peer);
  if (peer == ids_.end() || !std::exchange(peer->second.established, false)) return;
  verbs_->BreakQp(peer->second.device, peer->second.qpn);
  Tell(peer->second, {peer->second.owner, id.peer, CmEventType::kDisconnected, ECONNRESET, {}});
}

}  // namespace rdmapulse::fakes
