#include "collectors/ethtool_ioctl.h"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace rdmapulse::collectors {

Result<KernelEthtool> KernelEthtool::Open() {
  UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return Fail(errno, {"opening a socket for ethtool"});
  return KernelEthtool(std::move(socket));
}

int KernelEthtool::Call(const std::string& netdev, void* request) {
  ifreq interface {};
  if (netdev.empty() || netdev.size() >= sizeof(interface.ifr_name)) return ENODEV;
  std::memcpy(interface.ifr_name, netdev.data(), netdev.size());
  interface.ifr_data = static_cast<char*>(request);
  return ioctl(socket_.get(), SIOCETHTOOL, &interface) == 0 ? 0 : errno;
}

}  // namespace rdmapulse::collectors
