// Netlink messages as the kernel would send them, for tests.
#pragma once

#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "collectors/netlink.h"

namespace rdmapulse::collectors {

// One message without its nlmsghdr: a protocol's header, then attributes.
class MessageBuilder {
 public:
  explicit MessageBuilder(std::size_t header_bytes = 0) {
    mnl_nlmsg_put_header(buffer_.data());
    if (header_bytes != 0) mnl_nlmsg_put_extra_header(Start(), header_bytes);
  }

  MessageBuilder& U8(int type, std::uint8_t value) { return Put(type, &value, sizeof(value)); }
  MessageBuilder& U32(int type, std::uint32_t value) { return Put(type, &value, sizeof(value)); }
  MessageBuilder& U64(int type, std::uint64_t value) { return Put(type, &value, sizeof(value)); }
  MessageBuilder& Text(int type, const char* text) {
    mnl_attr_put_strz(Start(), static_cast<std::uint16_t>(type), text);
    return *this;
  }
  MessageBuilder& Put(int type, const void* bytes, std::size_t size) {
    mnl_attr_put(Start(), static_cast<std::uint16_t>(type), size, bytes);
    return *this;
  }
  // What `fill` adds lies within.
  MessageBuilder& Nest(int type, const std::function<void(MessageBuilder&)>& fill) {
    nlattr* nest = mnl_attr_nest_start(Start(), static_cast<std::uint16_t>(type));
    fill(*this);
    mnl_attr_nest_end(Start(), nest);
    return *this;
  }

  std::vector<std::byte> Bytes() const {
    const auto* start = static_cast<const std::byte*>(static_cast<const void*>(buffer_.data()));
    return {start + NLMSG_HDRLEN, start + Start()->nlmsg_len};
  }

 private:
  nlmsghdr* Start() { return static_cast<nlmsghdr*>(static_cast<void*>(buffer_.data())); }
  const nlmsghdr* Start() const {
    return static_cast<const nlmsghdr*>(static_cast<const void*>(buffer_.data()));
  }

  alignas(nlmsghdr) std::array<char, 16384> buffer_{};
};

// The fields of a request that a stand-in for the kernel decides by: an attribute, in a nest or
// not.
inline std::vector<std::byte> FindAttribute(Bytes attributes, std::uint16_t type) {
  NetlinkAttributes walk(attributes);
  while (const auto attribute = walk.Next()) {
    if (attribute->type == type) return {attribute->payload.begin(), attribute->payload.end()};
  }
  return {};
}

}  // namespace rdmapulse::collectors
