#include "probes/op_support.h"

#include <algorithm>

#include "probes/datagram.h"
#include "probes/echo_message.h"

namespace rdmapulse::probes {
namespace {

std::string WhyNoAtomic(const QpEndpoint& here, const QpEndpoint& there) {
  if (!here.atomics) return here.port.Text() + " here has no atomic operations";
  if (!there.atomics) {
    return there.port.Text() +
           " at the peer has no atomic operations, or an older rdmapulse that does not tell";
  }
  if (there.buffer_address % kAtomicBytes == 0) return {};
  return "the peer's buffer is not aligned to " + std::to_string(kAtomicBytes) + " bytes";
}

}  // namespace

std::uint32_t PathMtuBytes(const QpEndpoint& here, const QpEndpoint& there) {
  return std::min(here.mtu_bytes, there.mtu_bytes);
}

std::uint32_t UnansweredEchoesMax(const QpEndpoint& here, const QpEndpoint& there) {
  return std::min(here.echo_receives, there.echo_receives) / 3;
}

std::uint32_t PayloadBytes(Op op, const QpEndpoint& here, const QpEndpoint& there) {
  switch (op) {
    case Op::kWrite0: return 0;
    case Op::kWrite: return 64;
    case Op::kWriteMtu: return PathMtuBytes(here, there);
    case Op::kRead: return 8;
    case Op::kEcho: return kEchoBytes;
    case Op::kAtomic: return kAtomicBytes;
    case Op::kUd: return kDatagramBytes;
    case Op::kLoopback:
    case Op::kConnect: return 0;
  }
  return 0;
}

std::string WhyNot(Op op, const QpEndpoint& here, const QpEndpoint& there) {
  if (std::string why = WhyNot(op, here.protocol); !why.empty()) return why;
  if (op == Op::kAtomic) {
    if (const std::string why = WhyNoAtomic(here, there); !why.empty()) return "atomic: " + why;
  }
  if (op == Op::kUd) {
    if (here.ud_qpn == 0)
      return "ud: " + here.port.Text() +
             " here takes no datagrams: ud.interval is off, or the journal says why";
    if (there.ud_qpn != 0) return {};
    return "ud: " + there.port.Text() +
           " at the peer takes no datagrams: it cannot, they are switched off, or its rdmapulse is "
           "an older one";
  }
  if (op == Op::kEcho) {
    if (UnansweredEchoesMax(here, there) > 0) return {};
    return "echo: " + there.port.Text() + " at the peer answers none: update rdmapulse there";
  }
  const std::uint32_t bytes = PayloadBytes(op, here, there);
  if (bytes <= there.buffer_bytes) return {};
  return std::string(Name(op)) + " needs " + std::to_string(bytes) + " bytes at the peer, whose " +
         there.port.Text() + " offers " + std::to_string(there.buffer_bytes) +
         ": update rdmapulse there";
}

std::string WhyNot(Op op, Protocol protocol) {
  if (op == Op::kLoopback) {
    return "loopback goes to no peer: of a class that lists it in its ops, `rdmapulse ports "
           "--json` "
           "and rdmapulse_probe_rtt_seconds{op=\"loopback\"} tell what it takes";
  }
  if (op == Op::kConnect) {
    return "connect is measured whenever a path is built, and not by itself: of a class that lists "
           "it in its ops, `rdmapulse peers` shows it";
  }
  if (Measures(op, protocol)) return {};
  if (op == Op::kUd) return "ud is not sent over iWARP, which has no datagrams: use --op read";
  const bool writes = op == Op::kWrite0 || op == Op::kWrite || op == Op::kWriteMtu;
  return std::string(Name(op)) +
         (writes ? " says nothing on iWARP, where a write completes before it has arrived"
                 : " is not sent over iWARP, where only reads are") +
         ": use --op read";
}

}  // namespace rdmapulse::probes
