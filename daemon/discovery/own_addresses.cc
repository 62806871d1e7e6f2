#include "daemon/discovery/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "config/address.h"

namespace rdmapulse::discovery {
namespace {

struct Free {
  void operator()(ifaddrs* list) const { freeifaddrs(list); }
};

std::string Text(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
  }
  if (bytes == nullptr ||
      inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr) {
    return {};
  }
  return text.data();
}

}  // namespace

std::set<std::string> OwnAddresses(const std::string& listen) {
  const Result<config::ListenAddress> one = config::ParseListenAddress(listen);
  const bool everywhere = !one || one->host.empty() || one->host == "0.0.0.0" || one->host == "::";
  if (!everywhere) return {one->host};
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0) return {};
  const std::unique_ptr<ifaddrs, Free> owner(found);
  std::set<std::string> addresses;
  for (const ifaddrs* entry = found; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const std::string text = Text(*entry->ifa_addr);
    if (!text.empty()) addresses.insert(text);
  }
  return addresses;
}

}  // namespace rdmapulse::discovery
