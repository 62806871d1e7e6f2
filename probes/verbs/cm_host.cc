// The connection manager of the kernel that runs us.
#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <memory>

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

class KernelHost final : public CmHost {
 public:
  Result<UniqueFd> Open(const std::string& path) override {
    UniqueFd fd(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (fd) return fd;
    const int code = errno;
    return Fail(code, {"opening ", path, ", by which iWARP connects"},
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
    std::vector<Gid> addresses;
    for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
      if (netdev != entry->ifa_name) continue;
      if (const std::optional<Gid> address = Read(entry->ifa_addr)) addresses.push_back(*address);
    }
    return addresses;
  }
};

}  // namespace

CmHost& KernelCmHost() {
  static KernelHost host;
  return host;
}

}  // namespace rdmapulse::verbs
