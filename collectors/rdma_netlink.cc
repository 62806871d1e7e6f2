#include "collectors/rdma_netlink.h"

#include <libmnl/libmnl.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
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

constexpr int kMaxErrno = 4095;  // the kernel's own limit

constexpr std::string_view kListing = "reading RDMA netlink's list of devices";

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
      return Fail(errno, {kListing});
    }
    const auto bytes = std::as_bytes(std::span(buffer).first(static_cast<std::size_t>(length)));
    auto dump = ParseDeviceNames(bytes, sequence, names);
    if (!dump || *dump != Dump::kMore) return dump;
  }
}

// Walks the messages of a datagram, or the attributes of a message: headers whose first number is
// their length. By hand, since libmnl's walk takes a length past 2^31 for a negative one.
template <typename Header, auto kLength>
class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : left_(bytes) {}

  bool AtEnd() const { return left_.empty(); }
  // The next header and what follows it; nullopt: it is cut short.
  std::optional<std::pair<Header, std::span<const std::byte>>> Next() {
    Header header{};
    if (left_.size() < sizeof(header)) return std::nullopt;
    std::memcpy(&header, left_.data(), sizeof(header));
    const std::size_t length = header.*kLength;
    if (length < sizeof(header) || length > left_.size()) return std::nullopt;
    const auto payload = left_.subspan(sizeof(header), length - sizeof(header));
    left_ = left_.subspan(std::min<std::size_t>(MNL_ALIGN(length), left_.size()));
    return std::pair(header, payload);
  }

 private:
  std::span<const std::byte> left_;
};
using Messages = Walk<nlmsghdr, &nlmsghdr::nlmsg_len>;
using Attributes = Walk<nlattr, &nlattr::nla_len>;

Result<void> TakeName(std::span<const std::byte> text, std::vector<std::string>& names) {
  const auto end = std::find(text.begin(), text.end(), std::byte{0});
  if (end == text.end() || end == text.begin()) return Fail({kListing, ": a name is no string"});
  if (names.size() == kMaxNetlinkDevices) return Fail(E2BIG, {kListing});
  names.emplace_back(static_cast<const char*>(static_cast<const void*>(text.data())),
                     static_cast<std::size_t>(end - text.begin()));
  return {};
}

Result<void> TakeDevice(std::span<const std::byte> message, std::vector<std::string>& names) {
  Attributes attributes(message);
  while (!attributes.AtEnd()) {
    const auto attribute = attributes.Next();
    if (!attribute) return Fail({kListing, ": an attribute is cut short"});
    if ((attribute->first.nla_type & NLA_TYPE_MASK) == kDeviceName)
      return TakeName(attribute->second, names);
  }
  return Fail({kListing, ": a device without a name"});
}

// An error code ends the dump; 0 is an acknowledgement.
Result<Dump> TakeError(std::span<const std::byte> message) {
  nlmsgerr error{};
  if (message.size() < sizeof(error)) return Fail({kListing, ": an error cut short"});
  std::memcpy(&error, message.data(), sizeof(error));
  if (error.error == 0) return Dump::kDone;
  // The kernel sends errnos negated; anything else is broken and negating it might not be possible.
  if (error.error > 0 || error.error < -kMaxErrno) return Fail({kListing, ": an unknown error"});
  return Fail(-error.error, {kListing});
}

}  // namespace

Result<Dump> ParseDeviceNames(std::span<const std::byte> datagram, std::uint32_t sequence,
                              std::vector<std::string>& names) {
  if (datagram.empty()) return Fail({kListing, ": an empty datagram"});
  bool interrupted = false;
  Messages messages(datagram);
  while (!messages.AtEnd()) {
    const auto message = messages.Next();
    if (!message) return Fail({kListing, ": the datagram is cut short"});
    const auto& [header, payload] = *message;
    if (header.nlmsg_seq != sequence) continue;  // the rest of an earlier, abandoned dump
    interrupted |= (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (header.nlmsg_type == NLMSG_DONE) return interrupted ? Dump::kInterrupted : Dump::kDone;
    if (header.nlmsg_type == NLMSG_ERROR) return TakeError(payload);
    if (header.nlmsg_type != kDeviceMessage) continue;
    if (auto taken = TakeDevice(payload, names); !taken)
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
