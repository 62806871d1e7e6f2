// The probe vocabulary: what is sent, along which path, and what came of it. No verbs here.
//
// A path is one RC QP pair between a local and a peer's port in one class, by one UDP source port.
// The round trip of a one-sided probe on RC (detection.md 4.6):
//
//   post T1 ──► local NIC ══► fabric ══► peer NIC (its CPU is not asked)
//   handled T6 ◄── completion T5 ◄══ ACK or READ response ◄══┘
//
// An echo is a SEND that the peer's daemon answers by a SEND; its end is when the answer is
// received, and the daemon says how long it took of that.
//
// A ud is the same by datagrams, between the two ports' UD QPs and beside the RC pair: nothing that
// is lost is sent again, and it may take other ways through the fabric than the pair does.
//
//   rtt = T5 − T1: NIC, fabric and back, any local egress pause. T1 is the host's clock just before
//   the doorbell. T5 is the NIC's time stamp in the host's time (verbs/nic_clock.h); where the
//   driver stamps none T6 stands in for it, and the round trip holds our own wake-up, too (see
//   `late_self`). What lies between T5 and T6 is our own lateness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/rdma.h"
#include "daemon/base/time.h"

namespace rdmapulse::probes {

// kLoopback is a READ to oneself, not to a peer (loopback.h); kConnect is none, but the time that
// making a path's queue pairs took.
enum class Op : std::uint8_t {
  kWrite0,
  kWrite,
  kWriteMtu,
  kRead,
  kEcho,
  kAtomic,
  kLoopback,
  kConnect,
  kUd
};
inline constexpr std::size_t kOpCount = 9;
std::string_view Name(Op op);                      // "write0", "write", "write_mtu", …
std::optional<Op> ParseOp(std::string_view name);  // also "send", which is an echo
std::string OpNames();                             // those that are sent: "write0, write, …"

// On iWARP a WRITE completes as soon as TCP has taken it: only a READ is a round trip.
constexpr bool Measures(Op op, Protocol protocol) {
  return protocol != Protocol::kIwarp || op == Op::kRead;
}

// Whether it is sent to a peer, over a path's queue pair.
constexpr bool IsSent(Op op) { return op != Op::kLoopback && op != Op::kConnect; }

// What is sent when nobody says which.
constexpr Op DefaultOp(Protocol protocol) {
  return Measures(Op::kWrite0, protocol) ? Op::kWrite0 : Op::kRead;
}

enum class Class : std::uint8_t { kLossless, kControl };
inline constexpr std::size_t kClassCount = 2;
std::string_view Name(Class traffic_class);  // "lossless", "control"
std::optional<Class> ParseClass(std::string_view name);

// What became of a probe (detection.md 2.3). kAborted: flushed or torn down by us, says nothing of
// the network.
enum class Outcome : std::uint8_t { kOk, kLateBlocked, kLateRetx, kLateSelf, kFailed, kAborted };
inline constexpr std::size_t kOutcomeCount = 6;
std::string_view Name(Outcome outcome);  // "ok", "late_blocked", …

inline constexpr std::uint32_t kStreamsMax = 8;

// Who a path joins.
struct PathKey {
  std::string peer;
  PortId local;
  PortId remote;
  Class traffic_class = Class::kLossless;
  // Several go from port to port by different UDP source ports, and so by different ways through
  // the fabric. The first one keeps its port, the others change theirs from time to time.
  std::uint8_t stream = 0;

  auto operator<=>(const PathKey&) const = default;
};
// "h2 mlx5_0/1 to mlx5_0/1 lossless", and " #2" of the second stream
std::string Text(const PathKey& key);

// A completion's status; the names of ibv_wc_status in words: "success", "transport retry
// exceeded".
struct Status {
  int code = 0;  // ibv_wc_status
  std::uint32_t vendor_error = 0;
  bool Success() const { return code == 0; }
  bool operator==(const Status&) const = default;
};
std::string_view StatusName(int code);  // words for the label `status`
// Flushed work says nothing of the network (ibv_wc_status IBV_WC_WR_FLUSH_ERR).
inline constexpr int kStatusFlushed = 5;
// The local address or link went away under the QP (IBV_WC_LOC_QP_OP_ERR): not the network's doing.
inline constexpr int kStatusLocalQpOperation = 2;
// Ours: the peer's NIC has the echo, but no answer of its daemon came ("no answer"); of a datagram,
// which may have been lost on the way as well.
inline constexpr int kStatusNoAnswer = -2;
// Ours: of `connect`, the queue pairs could not be made or connected ("not connected").
inline constexpr int kStatusNotConnected = -3;
// Ours: no completion came within all that retries could take ("no completion").
inline constexpr int kStatusNoCompletion = -1;

}  // namespace rdmapulse::probes
