#include "probes/op_support.h"

#include <algorithm>

namespace rdmapulse::probes {

std::uint32_t PathMtuBytes(const QpEndpoint& here, const QpEndpoint& there) {
  return std::min(here.mtu_bytes, there.mtu_bytes);
}

std::uint32_t PayloadBytes(Op op, const QpEndpoint& here, const QpEndpoint& there) {
  switch (op) {
    case Op::kWrite0: return 0;
    case Op::kWrite: return 64;
    case Op::kWriteMtu: return PathMtuBytes(here, there);
    case Op::kRead: return 8;
  }
  return 0;
}

std::string WhyNot(Op op, const QpEndpoint& here, const QpEndpoint& there) {
  if (std::string why = WhyNot(op, here.protocol); !why.empty()) return why;
  const std::uint32_t bytes = PayloadBytes(op, here, there);
  if (bytes <= there.buffer_bytes) return {};
  return std::string(Name(op)) + " needs " + std::to_string(bytes) + " bytes at the peer, whose " +
         there.port.Text() + " offers " + std::to_string(there.buffer_bytes) +
         ": update rdmapulse there";
}

std::string WhyNot(Op op, Protocol protocol) {
  if (Measures(op, protocol)) return {};
  return std::string(Name(op)) +
         " says nothing on iWARP, where a write completes before it has arrived: use --op read";
}

}  // namespace rdmapulse::probes
