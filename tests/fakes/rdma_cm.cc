#include "tests/fakes/rdma_cm.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "tests/fakes/rdma_cm_wire.h"

namespace rdmapulse::fakes {
using verbs::CmAddress;
using verbs::CmEventType;

bool RdmaCm::HungUp(const UniqueFd& wake) {
  pollfd polled{wake.get(), POLLIN, 0};
  return poll(&polled, 1, 0) > 0 && (polled.revents & POLLHUP) != 0;
}

void RdmaCm::SetAddresses(const std::string& netdev, const std::string& device, std::uint64_t guid,
                          const std::vector<std::string>& addresses, Manner manner) {
  const std::lock_guard lock(mutex_);
  Place place{.device = device, .guid = guid, .addresses = {}, .manner = manner};
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
    if (id.device != device || id.state != State::kEstablished) continue;
    id.state = State::kEnded;
    if (id.manner == Manner::kIwarp) verbs_->BreakQp(device, id.qpn);
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
    if (HungUp(*channel.wake)) continue;  // the kernel ended all that it had
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

Result<std::vector<Gid>> RdmaCm::InfinibandAddresses(const Gid& port) {
  const std::lock_guard lock(mutex_);
  if (FaultDue()) return Fail(fail_code_, {"reading the addresses of IPoIB interfaces"});
  std::vector<Gid> addresses;
  for (const auto& [netdev, place] : places_) {
    if (place.manner != Manner::kInfiniband) continue;
    const std::vector<probes::GidEntry> gids = verbs_->PortOf(place.device, kPort).gids;
    const bool its = std::any_of(gids.begin(), gids.end(),
                                 [&port](const auto& entry) { return entry.gid == port; });
    if (its) addresses.insert(addresses.end(), place.addresses.begin(), place.addresses.end());
  }
  return addresses;
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

void RdmaCm::Tell(const Id& id, Event event) {
  // What happens to a request before it is accepted its owner is not told.
  if (event.owner == 0) return;
  for (auto& [fd, channel] : channels_) {
    if (channel.wake != id.wake || HungUp(*channel.wake)) continue;
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
  if (id.manner != Manner::kIwarp) return EndIb(id);
  if (id.state != State::kEstablished) return;
  verbs_->BreakQp(id.device, id.qpn);
  Id* const peer = PeerOf(id);
  if (peer == nullptr || peer->state != State::kEstablished) return;
  peer->state = State::kEnded;
  verbs_->BreakQp(peer->device, peer->qpn);
  Tell(*peer, {peer->owner, id.peer, CmEventType::kDisconnected, ECONNRESET, {}});
}

}  // namespace rdmapulse::fakes
