// The kernel's connection manager (rdma_cm). iWARP has no other way: its QPs are TCP connections,
// which ibv_modify_qp cannot make. RoCE and InfiniBand may be connected by it (`paths.connect`);
// there it exchanges messages of its own with the peer's (QP 1), and says what RTR and RTS are to
// be called with.
//
// By the kernel's own interface (rdma/rdma_user_cm.h, ABI 4) and not by librdmacm: that library
// opens every device an identifier is bound to and keeps it open until the process ends, and an
// open device cannot be removed (`rdma link delete` waits for ever). It also reads events where it
// must wait for locks that a blocking rdma_connect of another thread holds.
//
// A command may be given from any thread. What each may wait for is said where it stands.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daemon/base/rdma.h"
#include "daemon/base/result.h"
#include "daemon/base/unique_fd.h"

namespace rdmapulse::verbs {

// What the host does for it. Tests have a host of their own (tests/fakes/rdma_cm.h).
class CmHost {
 public:
  virtual ~CmHost() = default;
  // The connection manager's node, so that reading an event never waits.
  virtual Result<UniqueFd> Open(const std::string& path) = 0;
  // One command: 0 or an errno value. Answers are written where the command says.
  virtual int Run(int fd, std::span<const std::byte> command) = 0;
  // What the interface can be reached by, IPv4 addresses mapped as in a GID. Without link-local
  // IPv6 ones, which say nothing without their interface.
  virtual Result<std::vector<Gid>> Addresses(const std::string& netdev) = 0;
  // The same of the IPoIB interfaces on the InfiniBand port with this GID.
  virtual Result<std::vector<Gid>> InfinibandAddresses(const Gid& port) = 0;
};
CmHost& KernelCmHost();

struct CmAddress {
  Gid ip;
  std::uint16_t port = 0;  // iWARP: TCP's, else of rdma_cm alone; 0: any

  bool operator==(const CmAddress&) const = default;
  std::string Text() const;  // "10.0.0.1:4791"
};

// What an identifier is bound to.
struct CmBinding {
  std::uint64_t node_guid = 0;  // of the device, as DeviceInfo has it; 0: none yet
  std::uint32_t port = 0;       // of the device
  CmAddress here;
};

// The numbers of the kernel's rdma_cm_event_type.
enum class CmEventType : std::uint32_t {
  kAddressResolved = 0,
  kAddressError = 1,
  kRouteResolved = 2,
  kRouteError = 3,
  kConnectRequest = 4,
  kConnectResponse = 5,
  kConnectError = 6,
  kUnreachable = 7,
  kRejected = 8,
  kEstablished = 9,
  kDisconnected = 10,
  kDeviceRemoval = 11,
};

struct CmEvent {
  CmEventType type = CmEventType::kAddressError;
  std::uint64_t owner = 0;  // as Create was told; of a request: the listening identifier's
  std::uint32_t id = 0;     // of a request: a new one, which must be accepted or destroyed
  int error = 0;            // an errno value; of kRejected, but for iWARP, the peer's reason
  std::vector<std::byte> private_data;
};

// The reasons of a rejection that have a meaning here (InfiniBand specification, 12.6.7.2).
inline constexpr int kNobodyListens = 8;
inline constexpr int kRefusedByOwner = 28;

// What the active end says when it connects (private data of the request): which of the passive
// end's QPs it was offered, and which is its own. 20 bytes, big endian; but for iWARP the kernel
// hands them over with zeros behind.
struct CmGreeting {
  std::uint64_t to = 0;
  std::uint64_t from = 0;

  bool operator==(const CmGreeting&) const = default;
};
std::vector<std::byte> Encode(const CmGreeting& greeting);
std::optional<CmGreeting> DecodeGreeting(std::span<const std::byte> bytes);

// What connecting tells the peer of a QP.
struct CmQp {
  std::uint32_t qpn = 0;
  std::uint8_t retry_cnt = 0;
  std::uint8_t rnr_retry = 0;
};

// What ibv_modify_qp is to be called with.
struct CmQpMove {
  ibv_qp_attr attr{};
  int mask = 0;
};

// One open connection manager: all identifiers that were made through it end with its descriptor.
// A borrowed view that is passed to threads; who owns the descriptor outlives them.
class Cm {
 public:
  Cm() = default;
  Cm(CmHost& host, int fd) : host_(&host), fd_(fd) {}

  // `owner` comes back in events; never 0.
  Result<std::uint32_t> Create(std::uint64_t owner) const;
  // Ends its connection, too: may wait for the driver, and for a Connect that is under way.
  void Destroy(std::uint32_t id) const;
  // On InfiniBand the subnet manager is asked for a path of this QoS class.
  Result<void> SetTrafficClass(std::uint32_t id, std::uint8_t traffic_class) const;
  Result<void> Bind(std::uint32_t id, const CmAddress& here) const;
  Result<void> Listen(std::uint32_t id) const;
  // Answered by an event, kAddressError after `timeout_ms` without ARP or neighbour discovery.
  Result<void> ResolveAddress(std::uint32_t id, const Gid& here, const CmAddress& there,
                              std::uint32_t timeout_ms) const;
  // On InfiniBand the subnet manager answers.
  Result<void> ResolveRoute(std::uint32_t id, std::uint32_t timeout_ms) const;
  Result<CmBinding> Query(std::uint32_t id) const;
  // siw opens the TCP connection here: waits for its SYN to be answered, two minutes at most.
  Result<void> Connect(std::uint32_t id, const CmQp& qp, const CmGreeting& greeting) const;
  // On RoCE and InfiniBand the QP must be in RTS: the peer may send at once.
  Result<void> Accept(std::uint32_t id, std::uint64_t owner, const CmQp& qp) const;
  // RoCE and InfiniBand. By what the QP is moved to INIT, RTR or RTS: at the active end after
  // kConnectResponse, at the passive end before it accepts.
  Result<CmQpMove> Move(std::uint32_t id, ibv_qp_state to) const;
  // RoCE and InfiniBand. The active end is in RTS, too: the passive end hears kEstablished.
  Result<void> Confirm(std::uint32_t id) const;
  // The asker learns of it.
  void Reject(std::uint32_t id) const;
  // nullopt: none now. Never waits.
  Result<std::optional<CmEvent>> NextEvent() const;

 private:
  CmHost* host_ = nullptr;
  int fd_ = -1;
};

}  // namespace rdmapulse::verbs
