// The seam between probing and RDMA. Implemented by probes/verbs on real devices and by
// tests/fakes/fabric on a clock the test moves; one contract suite runs against both.
//
// Everything here is called, and calls back, on the loop thread. What may block (a QP going to RTR
// can wait a second for ARP) is done elsewhere by the implementation; that is why Open and Connect
// take handlers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "probes/probe.h"

namespace rdmapulse::probes {

// Datagrams of a QP whose answers are awaited; the oldest is given up for one more.
inline constexpr std::size_t kDatagramsMax = 16;

using QpId = std::uint64_t;  // ours, never reused; 0 is none

// What one end of an RC connection tells the other.
struct QpEndpoint {
  PortId port;
  Protocol protocol = Protocol::kUnknown;
  Gid gid;
  std::uint32_t lid = 0;  // InfiniBand
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;             // first PSN we send, 24 bits
  std::uint32_t mtu_bytes = 0;       // active MTU of the port: 256 to 4096
  std::uint64_t buffer_address = 0;  // where the peer may READ and WRITE
  std::uint32_t buffer_rkey = 0;
  std::uint32_t buffer_bytes = 0;
  bool atomics = false;  // the device does atomic operations on 8 aligned bytes of the buffer
  std::uint32_t echo_receives = 0;  // receives that wait for messages; 0: echoes are not answered
  // The kernel's connection manager, on iWARP always: where this end can be dialled, and the QP's
  // token, random, which whoever dials must name. On iWARP a TCP port; elsewhere a number of the
  // connection manager, and 0 where it is not used. The address is `gid`, but on InfiniBand.
  std::uint16_t tcp_port = 0;
  std::uint64_t cm_token = 0;
  Gid cm_address{};
  // Datagrams: the port's UD QP, its Q_Key, and what every datagram to this end must carry, random.
  // 0: this end takes none.
  std::uint32_t ud_qpn = 0;
  std::uint32_t ud_qkey = 0;
  std::uint64_t ud_token = 0;

  bool operator==(const QpEndpoint&) const = default;
};

// What a class asks of its QPs (design.md 5.5).
struct QpAttributes {
  std::uint8_t traffic_class = 0;  // the whole byte: DSCP × 4
  std::uint8_t timeout = 17;       // local ACK timeout: 4.096 µs × 2^timeout
  std::uint8_t retry_cnt = 6;
  std::uint32_t flow_label = 0;  // 20 bits; sets the UDP source port at RTR (detection.md 4.2)
  // By so many UDP source ports datagrams may go, where the driver lets us choose; 0: none are sent
  // or taken.
  std::uint32_t ud_source_ports = 0;

  bool operator==(const QpAttributes&) const = default;
};

// UDP source port that the kernel makes of a flow label (rdma_flow_label_to_udp_sport).
constexpr std::uint16_t UdpSourcePort(std::uint32_t flow_label) {
  return static_cast<std::uint16_t>(0xC000U |
                                    ((flow_label & 0x3FFFU) ^ ((flow_label >> 14) & 0x3FU)));
}

// Of the n-th way that datagrams take: the first is the RC pair's own, each has another source
// port.
constexpr std::uint32_t FlowLabelOfWay(std::uint32_t flow_label, std::uint32_t way) {
  constexpr std::uint32_t kStep = 1031;  // odd, so that 2^14 ways differ
  const std::uint32_t label = (flow_label & 0xFC000U) | ((flow_label + way * kStep) & 0x3FFFU);
  return label == 0 ? 0x04001U : label;  // 0 would mean "by QPN"; this one has the same source port
}

// A port as the transport has it: whether it can be probed, and by which GID (iWARP: IP address).
struct TransportPort {
  PortId id;
  Protocol protocol = Protocol::kUnknown;
  bool usable = false;
  Gid gid;
  std::uint32_t gid_index = 0;
  std::string reason;  // why this GID; when not usable, why not
  std::uint32_t mtu_bytes = 0;
  std::uint32_t qps = 0;
  bool nic_clock = false;  // completions are timed by the NIC

  bool operator==(const TransportPort&) const = default;
};

struct CompletionTime {
  TimePoint handled;  // T6: when the wake-up or the look that found it began
  // T6 - T5: how long it had lain in its queue by then. Only the NIC's own clock can tell.
  std::optional<Duration> waited{};

  TimePoint Completed() const { return handled - waited.value_or(Duration::zero()); }
  // Clocks are joined to within a microsecond or so: what took less may seem to end before it
  // began.
  Duration Since(TimePoint posted) const {
    return std::max(Completed() - posted, Duration::zero());
  }
};

struct Completion {
  std::uint64_t probe = 0;  // what Post was given
  Status status;
  CompletionTime time;
};

// The peer's daemon has answered an echo or a datagram. It may come before the echo's own
// completion.
struct EchoReply {
  std::uint64_t probe = 0;  // what Post was given
  Duration responder{};     // what the peer's daemon took, from its completion to its posting
  CompletionTime time;
};

class Transport {
 public:
  // Called by the transport. QPs of a port that changed are dead: the transport has closed them.
  struct Handlers {
    std::function<void(const Completion&)> completed;
    std::function<void(const PortId&, const std::string& why)> port_changed;
    std::function<void(const EchoReply&)> echoed{};
  };
  using Opened = std::function<void(Result<std::pair<QpId, QpEndpoint>>)>;
  using Connected = std::function<void(Result<void>)>;

  virtual ~Transport() = default;
  virtual void SetHandlers(Handlers handlers) = 0;

  virtual std::vector<TransportPort> Ports() const = 0;
  // A QP of `port` in INIT, with the port's GID of the same address family as `towards` if it has
  // one.
  virtual void Open(const PortId& port, const Gid& towards, const QpAttributes& attributes,
                    Opened opened) = 0;
  // INIT → RTR → RTS towards `remote`. On failure the QP is still there: Close it. Through the
  // connection manager one end dials and the other has succeeded when it is ready to be dialled.
  virtual void Connect(QpId qp, const QpEndpoint& remote, Connected connected) = 0;
  // One signalled work request. The caller keeps one outstanding on a QP, and no more echoes
  // without an answer than UnansweredEchoesMax (op_support.h). An echo's completion says that the
  // peer's NIC has it; `echoed` tells of the answer. An op that the two ends cannot exchange
  // (op_support.h) is an error, and the QP is as before.
  virtual Result<void> Post(QpId qp, Op op, std::uint64_t probe) = 0;
  // A datagram to the UD QP of the QP's peer, by one of the QP's ways (any number: they repeat). It
  // takes no part in what is outstanding on the QP. `echoed` tells of the answer, if one comes;
  // `completed` only when it could not be sent at all. Of the latest 16 the answers are awaited.
  // The UDP source port by which it goes; 0: not known.
  virtual Result<std::uint16_t> PostDatagram(QpId qp, std::uint32_t way, std::uint64_t probe) = 0;
  // Tells what has completed by now, as it would be told a little later anyway. Between two posts:
  // the round trip of the first must not count the posting of the second.
  virtual void Poll() = 0;
  // iWARP: the TCP port that the QP sends from; 0: not connected, or no iWARP.
  virtual std::uint16_t TcpSourcePort(QpId /*qp*/) const { return 0; }
  // Whatever is outstanding completes no more. Closing an unknown QP does nothing.
  virtual void Close(QpId qp) = 0;
};

}  // namespace rdmapulse::probes
