#include "collectors/netlink.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// A change during a dump interrupts it; three in a row mean that things come and go faster than
// they can be listed.
constexpr int kMaxAttempts = 3;
constexpr int kMaxErrno = 4095;  // the kernel's own limit
// The kernel makes a dump's datagrams as large as the buffer it was last asked with, up to this.
constexpr std::size_t kDatagramBytes = 32768;

std::string Reading(std::string_view what) {
  return "reading " + std::string(what) + " by netlink";
}

// The next header whose first number is its length, and what follows it. nullopt: cut short.
template <typename Header, auto kLength>
std::optional<std::pair<Header, Bytes>> NextHeader(Bytes& left) {
  Header header{};
  if (left.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, left.data(), sizeof(header));
  const std::size_t length = header.*kLength;
  if (length < sizeof(header) || length > left.size()) return std::nullopt;
  const Bytes payload = left.subspan(sizeof(header), length - sizeof(header));
  left = left.subspan(std::min<std::size_t>(MNL_ALIGN(length), left.size()));
  return std::pair(header, payload);
}

// An error code ends the answer; 0 is an acknowledgement.
Result<Dump> TakeError(Bytes message, std::string_view what) {
  const std::optional<int> code =
      NetlinkNumber<int>(message.first(std::min(message.size(), sizeof(int))));
  if (!code) return Fail({Reading(what), ": an error cut short"});
  if (*code == 0) return Dump::kDone;
  // The kernel sends errnos negated; anything else is broken and negating it might not be possible.
  if (*code > 0 || *code < -kMaxErrno) return Fail({Reading(what), ": an unknown error"});
  return Fail(-*code, {Reading(what)});
}

Result<void> Keep(Bytes payload, std::string_view what, NetlinkAnswer& answer) {
  std::size_t kept = payload.size();
  for (const auto& message : answer) kept += message.size();
  if (kept > kMaxAnswerBytes) return Fail(E2BIG, {Reading(what)});
  answer.emplace_back(payload.begin(), payload.end());
  return {};
}

}  // namespace

std::optional<NetlinkAttribute> NetlinkAttributes::Next() {
  const auto next = NextHeader<nlattr, &nlattr::nla_len>(left_);
  if (!next) return std::nullopt;
  const auto type = static_cast<std::uint16_t>(next->first.nla_type & NLA_TYPE_MASK);
  return NetlinkAttribute{type, next->second};
}

std::optional<std::string_view> NetlinkText(Bytes payload) {
  const auto end = std::find(payload.begin(), payload.end(), std::byte{0});
  if (end == payload.end() || end == payload.begin()) return std::nullopt;
  return std::string_view(static_cast<const char*>(static_cast<const void*>(payload.data())),
                          static_cast<std::size_t>(end - payload.begin()));
}

std::optional<Bytes> AfterHeader(Bytes bytes, std::size_t size) {
  const std::size_t aligned = MNL_ALIGN(size);
  if (bytes.size() < aligned) return std::nullopt;
  return bytes.subspan(aligned);
}

Result<Dump> TakeDatagram(Bytes datagram, std::uint32_t sequence, std::string_view what,
                          NetlinkAnswer& answer) {
  if (datagram.empty()) return Fail({Reading(what), ": an empty datagram"});
  bool interrupted = false;
  while (!datagram.empty()) {
    const auto message = NextHeader<nlmsghdr, &nlmsghdr::nlmsg_len>(datagram);
    if (!message) return Fail({Reading(what), ": the datagram is cut short"});
    const auto& [header, payload] = *message;
    if (header.nlmsg_seq != sequence) continue;  // the rest of an earlier, abandoned answer
    interrupted |= (header.nlmsg_flags & NLM_F_DUMP_INTR) != 0;
    if (header.nlmsg_type == NLMSG_ERROR) return TakeError(payload, what);
    // A dump's end carries an error code too.
    if (header.nlmsg_type == NLMSG_DONE) {
      if (interrupted) return Dump::kInterrupted;
      return payload.size() < sizeof(int) ? Result<Dump>(Dump::kDone) : TakeError(payload, what);
    }
    if (header.nlmsg_type < NLMSG_MIN_TYPE) continue;
    if (auto kept = Keep(payload, what, answer); !kept)
      return tl::unexpected(std::move(kept.error()));
  }
  return interrupted ? Dump::kInterrupted : Dump::kMore;
}

NetlinkRequest::NetlinkRequest(std::uint16_t type, Kind kind, std::string what)
    : what_(std::move(what)) {
  nlmsghdr* header = mnl_nlmsg_put_header(buffer_.data());
  header->nlmsg_type = type;
  // A question for one thing is answered by one message, whose end an acknowledgement marks.
  header->nlmsg_flags =
      kind == Kind::kDump ? NLM_F_REQUEST | NLM_F_DUMP : NLM_F_REQUEST | NLM_F_ACK;
}

nlmsghdr* NetlinkRequest::Start() {
  return static_cast<nlmsghdr*>(static_cast<void*>(buffer_.data()));
}

const nlmsghdr* NetlinkRequest::Start() const {
  return static_cast<const nlmsghdr*>(static_cast<const void*>(buffer_.data()));
}

NetlinkRequest& NetlinkRequest::Header(Bytes header) {
  assert(Start()->nlmsg_len + MNL_ALIGN(header.size()) <= kRoom);
  void* room = mnl_nlmsg_put_extra_header(Start(), header.size());
  std::memcpy(room, header.data(), header.size());
  return *this;
}

NetlinkRequest& NetlinkRequest::U8(std::uint16_t type, std::uint8_t value) {
  [[maybe_unused]] const bool fits = mnl_attr_put_u8_check(Start(), kRoom, type, value);
  assert(fits);
  return *this;
}

NetlinkRequest& NetlinkRequest::U32(std::uint16_t type, std::uint32_t value) {
  [[maybe_unused]] const bool fits = mnl_attr_put_u32_check(Start(), kRoom, type, value);
  assert(fits);
  return *this;
}

NetlinkRequest& NetlinkRequest::Text(std::uint16_t type, std::string_view text) {
  [[maybe_unused]] const bool fits =
      mnl_attr_put_strz_check(Start(), kRoom, type, std::string(text).c_str());
  assert(fits);
  return *this;
}

NetlinkRequest& NetlinkRequest::Flag(std::uint16_t type) {
  [[maybe_unused]] const bool fits = mnl_attr_put_check(Start(), kRoom, type, 0, nullptr);
  assert(fits);
  return *this;
}

NetlinkRequest& NetlinkRequest::BeginNest(std::uint16_t type) {
  nests_.at(depth_) = mnl_attr_nest_start_check(Start(), kRoom, type);
  assert(nests_.at(depth_) != nullptr);
  ++depth_;
  return *this;
}

NetlinkRequest& NetlinkRequest::EndNest() {
  --depth_;
  mnl_attr_nest_end(Start(), nests_.at(depth_));
  return *this;
}

Bytes NetlinkRequest::Message(std::uint32_t sequence) {
  Start()->nlmsg_seq = sequence;
  return Bytes(buffer_).first(Start()->nlmsg_len);
}

std::uint16_t NetlinkRequest::Type() const { return Start()->nlmsg_type; }

Bytes NetlinkRequest::Payload() const {
  return Bytes(buffer_).first(Start()->nlmsg_len).subspan(NLMSG_HDRLEN);
}

void KernelNetlink::Close::operator()(mnl_socket* socket) const noexcept {
  mnl_socket_close(socket);
}

KernelNetlink::KernelNetlink(Socket socket) : socket_(std::move(socket)), buffer_(kDatagramBytes) {}

KernelNetlink::~KernelNetlink() = default;
KernelNetlink::KernelNetlink(KernelNetlink&&) noexcept = default;
KernelNetlink& KernelNetlink::operator=(KernelNetlink&&) noexcept = default;

Result<KernelNetlink> KernelNetlink::Open(int protocol) {
  Socket socket(mnl_socket_open2(protocol, SOCK_CLOEXEC));
  const std::string name = "a netlink socket of protocol " + std::to_string(protocol);
  if (!socket) {
    const int error = errno == EAFNOSUPPORT ? EPROTONOSUPPORT : errno;
    return Fail(error, {"opening ", name});
  }
  // The kernel answers before the request's call returns: who waits longer waits in vain.
  const timeval patience = {.tv_sec = 1, .tv_usec = 0};
  if (setsockopt(mnl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof(patience)) != 0 ||
      mnl_socket_bind(socket.get(), 0, MNL_SOCKET_AUTOPID) < 0)
    return Fail(errno, {"setting up ", name});
  return KernelNetlink(std::move(socket));
}

// What an abandoned answer leaves in the socket is told apart by its sequence number.
Result<Dump> KernelNetlink::Receive(std::string_view what, NetlinkAnswer& answer) {
  while (true) {
    const ssize_t length = mnl_socket_recvfrom(socket_.get(), buffer_.data(), buffer_.size());
    if (length < 0) {
      if (errno == EINTR) continue;
      return Fail(errno, {Reading(what)});
    }
    const Bytes datagram = Bytes(buffer_).first(static_cast<std::size_t>(length));
    auto dump = TakeDatagram(datagram, sequence_, what, answer);
    if (!dump || *dump != Dump::kMore) return dump;
  }
}

Result<NetlinkAnswer> KernelNetlink::Ask(NetlinkRequest& request) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const Bytes message = request.Message(++sequence_);
    if (mnl_socket_sendto(socket_.get(), message.data(), message.size()) < 0)
      return Fail(errno, {"asking for ", request.What(), " by netlink"});
    NetlinkAnswer answer;
    const auto dump = Receive(request.What(), answer);
    if (!dump) return tl::unexpected(dump.error());
    if (*dump == Dump::kDone) return answer;
  }
  return Fail(EAGAIN, {Reading(request.What())});
}

Result<std::uint16_t> FamilyNumber(Netlink& generic, std::string_view name) {
  const std::string what = "the family " + std::string(name);
  const genlmsghdr header = {.cmd = CTRL_CMD_GETFAMILY, .version = 1, .reserved = 0};
  NetlinkRequest request(GENL_ID_CTRL, NetlinkRequest::Kind::kOne, what);
  request.Header(std::as_bytes(std::span(&header, 1))).Text(CTRL_ATTR_FAMILY_NAME, name);
  const auto answer = generic.Ask(request);
  if (!answer) return tl::unexpected(answer.error());
  for (const auto& message : *answer) {
    const auto attributes = AfterHeader(message, GENL_HDRLEN);
    if (!attributes) break;
    NetlinkAttributes walk(*attributes);
    while (const auto attribute = walk.Next()) {
      if (attribute->type != CTRL_ATTR_FAMILY_ID) continue;
      if (const auto number = NetlinkNumber<std::uint16_t>(attribute->payload)) return *number;
    }
  }
  return Fail({Reading(what), ": the answer has no number"});
}

}  // namespace rdmapulse::collectors
