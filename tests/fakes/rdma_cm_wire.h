// How commands and answers of rdma/rdma_user_cm.h are read and written. Private to the fake.
#pragma once

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "probes/verbs/cm.h"

namespace rdmapulse::fakes {

template <typename T>
T As(std::span<const std::byte> payload) {
  T value{};
  if (payload.size() >= sizeof value) std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

// The kernel's interface passes addresses as numbers.
inline void* AtAddress(std::uint64_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

template <typename T>
void Answer(std::uint64_t response, const T& answer) {
  std::memcpy(AtAddress(response), &answer, sizeof answer);
}

inline verbs::CmAddress Read(const __kernel_sockaddr_storage& from) {
  verbs::CmAddress address;
  if (from.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(from);
    address.ip.bytes[10] = address.ip.bytes[11] = 0xFF;
    std::memcpy(address.ip.bytes.data() + 12, &ipv4.sin_addr, 4);
    address.port = ntohs(ipv4.sin_port);
  } else {
    const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(from);
    std::memcpy(address.ip.bytes.data(), &ipv6.sin6_addr, 16);
    address.port = ntohs(ipv6.sin6_port);
  }
  return address;
}

inline void Write(const verbs::CmAddress& address, __kernel_sockaddr_storage& to) {
  if (address.ip.IsIpv4()) {
    auto& ipv4 = reinterpret_cast<sockaddr_in&>(to);
    ipv4.sin_family = AF_INET;
    ipv4.sin_port = htons(address.port);
    std::memcpy(&ipv4.sin_addr, address.ip.bytes.data() + 12, 4);
  } else {
    auto& ipv6 = reinterpret_cast<sockaddr_in6&>(to);
    ipv6.sin6_family = AF_INET6;
    ipv6.sin6_port = htons(address.port);
    std::memcpy(&ipv6.sin6_addr, address.ip.bytes.data(), 16);
  }
}

inline std::vector<std::byte> DataOf(const rdma_ucm_conn_param& parameters) {
  const auto bytes = std::as_bytes(std::span(parameters.private_data));
  return {bytes.begin(), bytes.begin() + parameters.private_data_len};
}

}  // namespace rdmapulse::fakes
