// A device opened for probing: everything that is made once, and how it is made. Every call here
// may block and runs off the loop.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/device_info.h"
#include "daemon/base/result.h"
#include "probes/gid_choice.h"
#include "probes/verbs/cm.h"
#include "probes/verbs/completion_queue.h"
#include "probes/verbs/datagrams.h"
#include "probes/verbs/handles.h"
#include "probes/verbs/rc_qp.h"
#include "probes/verbs/ud_qp.h"

namespace rdmapulse::verbs {

// Where a port can be dialled through the connection manager.
struct CmListener {
  std::uint32_t id = 0;  // of the connection manager
  CmAddress here;

  bool operator==(const CmListener&) const = default;
};

// What the driver says of a port now; of an iWARP port, `gids` are its netdev's IP addresses.
struct PortFacts {
  std::uint32_t port = 1;
  LinkLayer link_layer = LinkLayer::kUnknown;
  bool active = false;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t lid = 0;
  std::vector<probes::GidEntry> gids;
  std::vector<CmListener> listeners{};  // on iWARP one for each of `gids`
  std::string problem{};                // why the driver did not say; then nothing above is known

  bool operator==(const PortFacts&) const = default;
};

// The only memory a peer can reach: one page, which holds the largest payload, that of the largest
// path MTU.
inline constexpr std::size_t kBufferBytes = 4096;

// Members are destroyed bottom up, which is the order verbs asks for.
struct OpenPort {
  std::uint32_t port = 1;
  std::unique_ptr<std::byte, FreeBytes> buffer;
  Mr mr;
  CompletionQueue queue;
  std::uint32_t qps_max = 0;  // for whose completions the queue has room
  bool ud_fits = false;       // and for those of a UD QP, too
};

struct OpenDevice {
  Context context;
  bool atomics = false;           // it answers and sends them
  std::uint32_t cqes_max = 0;     // of one completion queue
  std::optional<NicClock> clock;  // that stamps completions, if it has one
  Pd pd;
  CompChannel channel;  // one for all the device's CQs
  std::vector<OpenPort> ports;
  // Those that end with the device.
  std::vector<RcQp> qps;
  RetiredDatagrams datagrams;
  UniqueFd cm;  // where ports need it (cm_ports.h); its identifiers end with it
};

struct OpenedDevice {
  OpenDevice device;
  std::vector<PortFacts> facts;
};

// The port's UD QP. Fails where the port can have none, or as verbs does.
Result<UdQp> MakeUd(const OpenDevice& device, const DeviceInfo& info, std::uint32_t port,
                    std::uint64_t first_receive);

// `qps_max`: the most QPs of a port; a device whose completion queues are smaller has room for
// fewer (OpenPort::qps_max). Fails with advice when /dev/infiniband is closed to us or the memory
// lock limit is too low. `by_cm`: RoCE and InfiniBand ports are connected by the connection
// manager, too.
Result<OpenedDevice> OpenForProbing(const DeviceInfo& info, const std::string& dev_root,
                                    std::uint32_t qps_max, CmHost& cm_host, bool by_cm);

// In order of `info`'s ports. A port whose query fails has a `problem`.
std::vector<PortFacts> QueryPorts(ibv_context& context, const DeviceInfo& info);

}  // namespace rdmapulse::verbs
