#include "daemon/path_trace/raw_sockets.h"

#include <ifaddrs.h>
#include <linux/icmp.h>
#include <linux/icmpv6.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace rdmapulse::path_trace {
namespace {

constexpr std::size_t kSendingMax = 64;  // addresses of one host that paths go from
// Messages taken before the loop may do something else; a host that is flooded drops the rest.
constexpr int kReceiveAtOnce = 64;
constexpr std::size_t kMessageBytes = 2048;  // ICMP quotes at most 1232 bytes (RFC 4443)

constexpr std::string_view kPrivilege =
    "give rdmapulsed the capability CAP_NET_RAW (systemctl edit rdmapulsed: [Service], "
    "AmbientCapabilities=CAP_NET_RAW, CapabilityBoundingSet=CAP_NET_RAW) and restart it";

sockaddr_storage SockAddr(const Gid& address) {
  sockaddr_storage storage{};
  if (address.IsIpv4()) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    std::memcpy(&in.sin_addr, address.bytes.data() + 12, sizeof(in.sin_addr));
    std::memcpy(&storage, &in, sizeof(in));
  } else {
    sockaddr_in6 in{};
    in.sin6_family = AF_INET6;
    std::memcpy(&in.sin6_addr, address.bytes.data(), sizeof(in.sin6_addr));
    std::memcpy(&storage, &in, sizeof(in));
  }
  return storage;
}

socklen_t SizeOf(const Gid& address) {
  return address.IsIpv4() ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

const sockaddr* Plain(const sockaddr_storage& storage) {
  return static_cast<const sockaddr*>(static_cast<const void*>(&storage));
}

Gid AddressOf(const sockaddr& address) {
  Gid gid;
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof(in));
    gid = MappedIpv4(std::bit_cast<std::array<std::uint8_t, 4>>(in.sin_addr));
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof(in));
    std::memcpy(gid.bytes.data(), &in.sin6_addr, sizeof(in.sin6_addr));
  }
  return gid;
}

struct FreeAddresses {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

// The interface that has the address; empty: none.
std::string InterfaceOf(const Gid& address) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, FreeAddresses> owner(list);
  for (const ifaddrs* one = list; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr != nullptr && AddressOf(*one->ifa_addr) == address) return one->ifa_name;
  }
  return {};
}

Result<UniqueFd> RawSocket(int family, int protocol) {
  UniqueFd fd(socket(family, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
  if (fd) return fd;
  const int code = errno == EACCES ? EPERM : errno;
  return Fail(code, {"opening a raw socket to trace paths"}, code == EPERM ? kPrivilege : "");
}

// IPPROTO_RAW: what is sent has its IP header already (raw(7), ipv6(7)); nothing is received. The
// interface is fixed, as the NIC's packets leave by that one whatever the other routes say.
Result<UniqueFd> SendingSocket(const Gid& source) {
  const std::string interface = InterfaceOf(source);
  if (interface.empty()) {
    return Fail(
        {"tracing a path from ", source.Text(), ": no interface has this address any more"});
  }
  Result<UniqueFd> fd = RawSocket(source.IsIpv4() ? AF_INET : AF_INET6, IPPROTO_RAW);
  if (!fd) return fd;
  if (setsockopt(fd->get(), SOL_SOCKET, SO_BINDTODEVICE, interface.data(),
                 static_cast<socklen_t>(interface.size())) != 0) {
    return Fail(errno, {"tracing paths over ", interface, ": binding a raw socket to it"});
  }
  return fd;
}

// Only what ParseIcmp4 and ParseIcmp6 know; the others would only wake us.
bool SetFilter(int fd, bool ipv4) {
  if (ipv4) {
    icmp_filter filter{};
    filter.data = ~((1U << ICMP_DEST_UNREACH) | (1U << ICMP_TIME_EXCEEDED));
    return setsockopt(fd, SOL_RAW, ICMP_FILTER, &filter, sizeof(filter)) == 0;
  }
  icmp6_filter filter{};
  std::fill(std::begin(filter.data), std::end(filter.data), ~0U);
  filter.data[0] &= ~((1U << ICMPV6_DEST_UNREACH) | (1U << ICMPV6_TIME_EXCEED));
  return setsockopt(fd, IPPROTO_ICMPV6, ICMPV6_FILTER, &filter, sizeof(filter)) == 0;
}

}  // namespace

RawSockets::RawSockets(boost::asio::io_context& loop, Answered answered)
    : loop_(loop), answered_(std::move(answered)) {}

Result<TimePoint> RawSockets::Send(const Flow& flow, const Bytes& packet) {
  const Family family = flow.source.IsIpv4() ? Family::kIpv4 : Family::kIpv6;
  if (const Result<void> listening = Listen(family); !listening) {
    return tl::unexpected(listening.error());
  }
  auto sending = sending_.find(flow.source);
  if (sending == sending_.end()) {
    Result<UniqueFd> fd = SendingSocket(flow.source);
    if (!fd) return tl::unexpected(fd.error());
    if (sending_.size() == kSendingMax) sending_.clear();
    sending = sending_.emplace(flow.source, std::move(*fd)).first;
  }
  const sockaddr_storage to = SockAddr(flow.destination);
  // After everything that had to be opened first: that is no part of the round trip.
  const TimePoint at = Clock::now();
  if (sendto(sending->second.get(), packet.data(), packet.size(), 0, Plain(to),
             SizeOf(flow.destination)) >= 0) {
    return at;
  }
  const int code = errno;
  // The queue is full: as good as lost on the way.
  if (code == EAGAIN || code == ENOBUFS) return at;
  sending_.erase(sending);  // the interface may be another the next time
  // EPERM here is no privilege that is missing (send(2) says it of a firewall).
  const bool firewall = code == EPERM;
  return Fail(firewall ? EACCES : code,
              {"tracing a path: sending a packet from ", flow.source.Text(), " to ",
               flow.destination.Text()},
              firewall ? "a firewall of this host forbids it" : "");
}

void RawSockets::Rest() {
  for (auto& listening : listening_) listening.reset();
  sending_.clear();
}

Result<void> RawSockets::Listen(Family family) {
  auto& listening = listening_.at(static_cast<std::size_t>(family));
  if (listening) return {};
  const bool ipv4 = family == Family::kIpv4;
  Result<UniqueFd> fd =
      ipv4 ? RawSocket(AF_INET, IPPROTO_ICMP) : RawSocket(AF_INET6, IPPROTO_ICMPV6);
  if (!fd) return tl::unexpected(fd.error());
  if (!SetFilter(fd->get(), ipv4)) {
    return Fail(errno, {"tracing paths: choosing which ICMP messages to receive"});
  }
  listening.emplace(loop_, fd->Release());
  WaitFor(family);
  return {};
}

void RawSockets::WaitFor(Family family) {
  auto& listening = listening_.at(static_cast<std::size_t>(family));
  listening->async_wait(boost::asio::posix::stream_descriptor::wait_read,
                        [this, family](const boost::system::error_code& error) {
                          if (!error) Receive(family);
                        });
}

void RawSockets::Receive(Family family) {
  auto& listening = listening_.at(static_cast<std::size_t>(family));
  std::array<std::uint8_t, kMessageBytes> message{};
  for (int i = 0; i < kReceiveAtOnce && listening; ++i) {
    sockaddr_storage from{};
    socklen_t from_size = sizeof(from);
    const ssize_t size = recvfrom(listening->native_handle(), message.data(), message.size(), 0,
                                  static_cast<sockaddr*>(static_cast<void*>(&from)), &from_size);
    if (size < 0) break;
    ReceiveOne(family, std::span(message).first(static_cast<std::size_t>(size)),
               AddressOf(*Plain(from)));
  }
  if (listening) WaitFor(family);  // an answer may have ended the last trace
}

void RawSockets::ReceiveOne(Family family, std::span<const std::uint8_t> message, const Gid& from) {
  const Result<IcmpAnswer> answer =
      family == Family::kIpv4 ? ParseIcmp4(message) : ParseIcmp6(message);
  // What is not about a packet of ours is data of others, and none of our business.
  if (answer) answered_(*answer, from.Text(), Clock::now());
}

}  // namespace rdmapulse::path_trace
