#include "collectors/rdma_netlink.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// uapi rdma/rdma_netlink.h, whose include is left to the one package that speaks verbs.
constexpr std::uint16_t kNldev = 5;       // RDMA_NL_NLDEV
constexpr std::uint16_t kGetDevice = 1;   // RDMA_NLDEV_CMD_GET
constexpr std::uint16_t kDeviceName = 2;  // RDMA_NLDEV_ATTR_DEV_NAME
constexpr std::uint16_t kDeviceMessage = (kNldev << 10) | kGetDevice;

// A removal during the dump interrupts it; three in a row mean that devices come and go faster than
// they can be listed.
constexpr int kMaxAttempts = 3;

struct CloseSocket {
  void operator()(mnl_socket* socket) const noexcept { mnl_socket_close(socket); }
};
using Socket = std::unique_ptr<mnl_socket, CloseSocket>;

Result<void> SendRequest(const mnl_socket& socket, std::uint32_t sequence) {
  alignas(nlmsghdr) std::array<char, NLMSG_HDRLEN> buffer{};
  nlmsghdr* header = mnl_nlmsg_put_header(buffer.data());
  header->nlmsg_type = kDeviceMessage;
  header->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  header->nlmsg_seq = sequence;
  if (mnl_socket_sendto(&socket, header, header->nlmsg_len) < 0)
    return Fail(errno, {"asking RDMA netlink for the devices"});
  return {};
}

// What an interrupted dump leaves in the socket is told apart by its sequence number.
Result<Dump> ReceiveAll(const mnl_socket& socket, std::uint32_t sequence,
                        std::vector<std::string>& names) {
  alignas(nlmsghdr) std::array<char, 16384> buffer{};
  while (true) {
    const ssize_t length = mnl_socket_recvfrom(&socket, buffer.data(), buffer.size());
    if (length < 0) {
      if (errno == EINTR) continue;
      return Fail(errno, {"reading RDMA netlink's list of devices"});
    }
    const auto bytes = std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(length)));
    const auto dump = ParseDeviceNames(bytes, sequence, names);
    if (!dump || *dump != Dump::kMore) return dump;
  }
}

Result<void> TakeName(const nlattr* attribute, std::vector<std::string>& names) {
  if (mnl_attr_validate(attribute, MNL_TYPE_NUL_STRING) < 0)
    return Fail({"reading RDMA netlink's list of devices: a name is no string"});
  if (names.size() == kMaxNetlinkDevices)
    return Fail(E2BIG, {"reading RDMA netlink's list of devices"});
  names.emplace_back(mnl_attr_get_str(attribute));
  return {};
}

Result<void> TakeDevice(const nlmsghdr* message, std::vector<std::string>& names) {
  const char* payload = static_cast<const char*>(mnl_nlmsg_get_payload(message));
  const char* end = static_cast<const char*>(mnl_nlmsg_get_payload_tail(message));
  const auto* attribute = static_cast<const nlattr*>(static_cast<const void*>(payload));
  while (mnl_attr_ok(attribute, static_cast<int>(end - payload))) {
    if (mnl_attr_get_type(attribute) == kDeviceName) return TakeName(attribute, names);
    payload += MNL_ALIGN(attribute->nla_len);
    if (payload > end) break;
    attribute = static_cast<const nlattr*>(static_cast<const void*>(payload));
  }
  return Fail({"reading RDMA netlink's list of devices: a device without a name"});
}

}  // namespace

Result<Dump> ParseDeviceNames(std::span<const std::byte> datagram, std::uint32_t sequence,
                              std::vector<std::string>& names) {
  const auto* message = static_cast<const nlmsghdr*>(static_cast<const void*>(datagram.data()));
  int left = static_cast<int>(datagram.size());
  if (!mnl_nlmsg_ok(message, left))
    return Fail({"reading RDMA netlink's list of devices: the datagram is cut short"});
  bool interrupted = false;
  for (; mnl_nlmsg_ok(message, left); message = mnl_nlmsg_next(message, &left)) {
    if (message->nlmsg_seq != sequence) continue;  // the rest of an earlier, abandoned dump
    interrupted |= (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (message->nlmsg_type == NLMSG_DONE) return interrupted ? Dump::kInterrupted : Dump::kDone;
    if (message->nlmsg_type == NLMSG_ERROR) {
      if (mnl_nlmsg_get_payload_len(message) < sizeof(nlmsgerr))
        return Fail({"reading RDMA netlink's list of devices: an error cut short"});
      nlmsgerr error{};
      std::memcpy(&error, mnl_nlmsg_get_payload(message), sizeof(error));
      if (error.error == 0) return Dump::kDone;
      return Fail(-error.error, {"reading RDMA netlink's list of devices"});
    }
    if (message->nlmsg_type != kDeviceMessage) continue;
    if (auto taken = TakeDevice(message, names); !taken)
      return tl::unexpected(std::move(taken.error()));
  }
  return interrupted ? Dump::kInterrupted : Dump::kMore;
}

Result<std::optional<std::vector<std::string>>> ListNetlinkDevices() {
  const Socket socket(mnl_socket_open2(NETLINK_RDMA, SOCK_CLOEXEC));
  if (!socket) {
    if (errno == EPROTONOSUPPORT || errno == EAFNOSUPPORT) return std::nullopt;
    return Fail(errno, {"opening an RDMA netlink socket"});
  }
  const timeval patience = {.tv_sec = 1, .tv_usec = 0};
  if (setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof(patience)) != 0 ||
      mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return Fail(errno, {"setting up an RDMA netlink socket"});
  for (std::uint32_t sequence = 1; sequence <= kMaxAttempts; ++sequence) {
    if (auto sent = SendRequest(*socket, sequence); !sent)
      return tl::unexpected(std::move(sent.error()));
    std::vector<std::string> names;
    const auto dump = ReceiveAll(*socket, sequence, names);
    if (!dump) return tl::unexpected(dump.error());
    if (*dump == Dump::kDone) return names;
  }
  return Fail(EAGAIN, {"listing the devices by RDMA netlink"});
}

}  // namespace rdmapulse::collectors
