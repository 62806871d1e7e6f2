// The connection manager of the kernel that runs us.
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>

#include "probes/verbs/cm.h"

namespace rdmapulse::verbs {
namespace {

struct FreeAddresses {
  void operator()(ifaddrs* list) const noexcept { freeifaddrs(list); }
};

std::optional<Gid> Read(const sockaddr* address) {
  Gid gid;
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    return MappedIpv4(std::bit_cast<std::array<std::uint8_t, 4>>(
        reinterpret_cast<const sockaddr_in*>(address)->sin_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  std::memcpy(gid.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr,
              gid.bytes.size());
  if (gid.IsLinkLocal()) return std::nullopt;
  return gid;
}

// An IPoIB interface's hardware address: its QP, then its port's GID (RFC 4391, 9.1.1). The C
// library makes room for all 20 bytes of it.
bool IsOnPort(const sockaddr* address, const Gid& port) {
  constexpr std::size_t kHardwareBytes = 20;
  if (address == nullptr || address->sa_family != AF_PACKET) return false;
  const auto* const link = reinterpret_cast<const sockaddr_ll*>(address);
  if (link->sll_hatype != ARPHRD_INFINIBAND || link->sll_halen != kHardwareBytes) return false;
  const auto* const bytes =
      reinterpret_cast<const unsigned char*>(address) + offsetof(sockaddr_ll, sll_addr);
  return std::memcmp(bytes + kHardwareBytes - port.bytes.size(), port.bytes.data(),
                     port.bytes.size()) == 0;
}

Result<std::vector<Gid>> AddressesOf(const ifaddrs* first, const std::set<std::string_view>& of) {
  std::vector<Gid> addresses;
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (!of.contains(entry->ifa_name)) continue;
    if (const std::optional<Gid> address = Read(entry->ifa_addr)) addresses.push_back(*address);
  }
  return addresses;
}

class KernelHost final : public CmHost {
 public:
  Result<UniqueFd> Open(const std::string& path) override {
    UniqueFd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (fd) return fd;
    const int code = errno;
    return Fail(code, {"opening ", path, ", by which QPs are to be connected"},
                code == ENOENT ? "load rdma_ucm and see that udev makes the node"
                               : "run rdmapulsed as a user that may read and write it (the shipped "
                                 "unit does, by DeviceAllow)");
  }

  int Run(int fd, std::span<const std::byte> command) override {
    const ssize_t written = write(fd, command.data(), command.size());
    return written == static_cast<ssize_t>(command.size()) ? 0 : errno;
  }

  Result<std::vector<Gid>> Addresses(const std::string& netdev) override {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) return Fail(errno, {"reading the addresses of ", netdev});
    const std::unique_ptr<ifaddrs, FreeAddresses> list(first);
    return AddressesOf(first, {netdev});
  }

  Result<std::vector<Gid>> InfinibandAddresses(const Gid& port) override {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0) {
      return Fail(errno, {"reading the addresses of IPoIB interfaces"});
    }
    const std::unique_ptr<ifaddrs, FreeAddresses> list(first);
    std::set<std::string_view> interfaces;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
      if (IsOnPort(entry->ifa_addr, port)) interfaces.insert(entry->ifa_name);
    }
    return AddressesOf(first, interfaces);
  }
};

}  // namespace

CmHost& KernelCmHost() {
  static KernelHost host;
  return host;
}

}  // namespace rdmapulse::verbs
