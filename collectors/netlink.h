// Netlink: reading the kernel's bytes (pure), and asking the kernel for them. Who asks what is in
// rdma_netlink, ethtool_netlink and dcb_netlink.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "daemon/base/result.h"

struct mnl_socket;

namespace rdmapulse::collectors {

using Bytes = std::span<const std::byte>;

struct NetlinkAttribute {
  std::uint16_t type = 0;  // without the flags "nested" and "network order"
  Bytes payload;
};

// The attributes in `bytes`, one after another. By hand, since libmnl's walk takes a length past
// 2^31 for a negative one.
class NetlinkAttributes {
 public:
  explicit NetlinkAttributes(Bytes bytes) : left_(bytes) {}

  // nullopt: that was the last, or what follows is cut short.
  std::optional<NetlinkAttribute> Next();
  bool CutShort() const { return !left_.empty(); }  // after the last Next

 private:
  Bytes left_;
};

// Calls `take` with each attribute in `bytes` until it returns an Error. `doing` begins the Error
// of an attribute that is cut short: "reading an answer of RDMA netlink".
template <typename Take>
Result<void> ForEachAttribute(std::string_view doing, Bytes bytes, Take take) {
  NetlinkAttributes walk(bytes);
  while (const auto attribute = walk.Next()) {
    if (Result<void> taken = take(*attribute); !taken) return taken;
  }
  if (walk.CutShort()) return Fail({doing, ": an attribute is cut short"});
  return {};
}

// A number of exactly this size in host order; nullopt: it has another size.
template <typename T>
std::optional<T> NetlinkNumber(Bytes payload) {
  static_assert(std::is_integral_v<T>);
  T value{};
  if (payload.size() != sizeof(value)) return std::nullopt;
  std::memcpy(&value, payload.data(), sizeof(value));
  return value;
}

// Without the NUL that ends it, which must be there; nullopt: it is no string, or an empty one.
std::optional<std::string_view> NetlinkText(Bytes payload);

// `bytes` after a header of `size` bytes; nullopt: there are not as many.
std::optional<Bytes> AfterHeader(Bytes bytes, std::size_t size);

// The messages of an answer, each without its nlmsghdr, in the order in which they came.
using NetlinkAnswer = std::vector<std::vector<std::byte>>;
// The largest answer we ask for, a device's table of QPs, has 64 Ki entries of about 100 bytes.
constexpr std::size_t kMaxAnswerBytes = std::size_t{16} << 20;

enum class Dump { kMore, kDone, kInterrupted };

// Takes one datagram of the answer to request `sequence`; what belongs to another is skipped. Pure.
// kInterrupted: what was listed changed meanwhile, so the whole must be asked for again. Error: the
// kernel's errno, or bytes that are no such answer; `what` is what was asked for.
Result<Dump> TakeDatagram(Bytes datagram, std::uint32_t sequence, std::string_view what,
                          NetlinkAnswer& answer);

// One question. All are short and made by us, so that what does not fit is a fault of ours.
class NetlinkRequest {
 public:
  enum class Kind { kOne, kDump };
  // `what` is what is asked for, in words: "the pause settings of eth0".
  NetlinkRequest(std::uint16_t type, Kind kind, std::string what);

  // The protocol's own header; before any attribute.
  NetlinkRequest& Header(Bytes header);
  NetlinkRequest& U8(std::uint16_t type, std::uint8_t value);
  NetlinkRequest& U32(std::uint16_t type, std::uint32_t value);
  NetlinkRequest& Text(std::uint16_t type, std::string_view text);
  NetlinkRequest& Flag(std::uint16_t type);
  // What is added until EndNest lies within.
  NetlinkRequest& BeginNest(std::uint16_t type);
  NetlinkRequest& EndNest();

  const std::string& What() const { return what_; }
  // The whole message under a sequence number.
  Bytes Message(std::uint32_t sequence);
  // Without the nlmsghdr: what a stand-in for the kernel looks at.
  std::uint16_t Type() const;
  Bytes Payload() const;

 private:
  nlmsghdr* Start();
  const nlmsghdr* Start() const;
  // The longest: an attribute of a netdev's name within a nest, and a bit set.
  static constexpr std::size_t kRoom = 256;
  static constexpr std::size_t kMaxDepth = 4;

  alignas(nlmsghdr) std::array<std::byte, kRoom> buffer_{};
  std::array<nlattr*, kMaxDepth> nests_{};
  std::size_t depth_ = 0;
  std::string what_;
};

// The seam: the kernel, or a test's stand-in for hardware that is not here.
class Netlink {
 public:
  virtual ~Netlink() = default;
  // Blocks: the kernel answers within the call, under whatever locks it takes. An Error carries the
  // kernel's errno; EOPNOTSUPP and ENODEV are common.
  virtual Result<NetlinkAnswer> Ask(NetlinkRequest& request) = 0;
};

// A socket of one netlink protocol (NETLINK_GENERIC, NETLINK_ROUTE, NETLINK_RDMA). One thread.
// Needs no privilege for what is asked here.
class KernelNetlink final : public Netlink {
 public:
  // An Error with EPROTONOSUPPORT: this kernel does not speak the protocol.
  static Result<KernelNetlink> Open(int protocol);
  ~KernelNetlink() override;
  KernelNetlink(KernelNetlink&&) noexcept;
  KernelNetlink& operator=(KernelNetlink&&) noexcept;

  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override;

 private:
  struct Close {
    void operator()(mnl_socket* socket) const noexcept;
  };
  using Socket = std::unique_ptr<mnl_socket, Close>;

  explicit KernelNetlink(Socket socket);
  Result<Dump> Receive(std::string_view what, NetlinkAnswer& answer);

  Socket socket_;
  std::uint32_t sequence_ = 0;
  std::vector<std::byte> buffer_;
};

// The number of a generic netlink family ("ethtool"). ENOENT: this kernel has no such family.
Result<std::uint16_t> FamilyNumber(Netlink& generic, std::string_view name);

}  // namespace rdmapulse::collectors
