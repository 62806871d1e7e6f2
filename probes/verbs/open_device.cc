#include "probes/verbs/open_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <random>
#include <utility>

#include "probes/verbs/cm_ports.h"

namespace rdmapulse::verbs {
namespace {

struct FreeDeviceList {
  void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
};

constexpr std::string_view kNodeAdvice =
    "run rdmapulsed as a user that may read and write it (the shipped unit does, by DeviceAllow)";

// Asked before ibv_open_device: that can take 5 s over a node it may not open, and says ENOENT.
Result<void> CheckNode(const DeviceInfo& info, const std::string& dev_root) {
  if (info.uverbs.empty()) return {};
  const std::string node = dev_root + "/" + info.uverbs;
  if (access(node.c_str(), R_OK | W_OK) == 0) return {};
  const int code = errno;
  return Fail(code, {"opening ", node, " for ", info.name},
              code == ENOENT ? "load ib_uverbs and see that udev makes the node" : kNodeAdvice);
}

Result<Context> OpenContext(const DeviceInfo& info) {
  int count = 0;
  const std::unique_ptr<ibv_device*, FreeDeviceList> list(ibv_get_device_list(&count));
  if (list == nullptr) {
    const int code = errno;
    return Fail(code, {"ibv_get_device_list for ", info.name},
                code == ENOSYS ? "this kernel offers no verbs to programs: load ib_uverbs" : "");
  }
  for (int i = 0; i < count; ++i) {
    ibv_device* const device = list.get()[i];
    if (info.name != ibv_get_device_name(device)) continue;
    Context context(ibv_open_device(device));
    if (context == nullptr) return Fail(errno, {"ibv_open_device on ", info.name});
    return context;
  }
  return Fail({"libibverbs does not know ", info.name},
              "install its provider (Debian: ibverbs-providers)");
}

Result<void> SetNonBlocking(int fd, std::string_view what, const std::string& name) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    return Fail(errno, {"making the ", what, " of ", name, " non-blocking"});
  }
  return {};
}

Result<void> QueryDevice(OpenDevice& device, const DeviceInfo& info) {
  ibv_device_attr_ex extended{};
  Result<void> queried = CheckVerb(ibv_query_device_ex(device.context.get(), nullptr, &extended),
                                   {"ibv_query_device of ", info.name});
  if (!queried) return queried;
  const ibv_device_attr& attr = extended.orig_attr;
  // Needs as much of the device as a READ: one that is outstanding, and the room to answer one.
  device.atomics =
      attr.atomic_cap != IBV_ATOMIC_NONE && attr.max_qp_rd_atom > 0 && attr.max_qp_init_rd_atom > 0;
  device.cqes_max = static_cast<std::uint32_t>(attr.max_cqe);
  if (extended.completion_timestamp_mask == 0 || extended.hca_core_clock == 0) return queried;
  if (const auto reading = ReadNicClock(*device.context)) {
    device.clock.emplace(extended.completion_timestamp_mask, extended.hca_core_clock);
    device.clock->Add(*reading);
  }
  return queried;
}

Result<OpenPort> MakePort(OpenDevice& device, const DeviceInfo& info, const PortInfo& discovered,
                          std::uint32_t qps_max) {
  OpenPort port;
  port.port = discovered.port;
  port.buffer.reset(static_cast<std::byte*>(std::aligned_alloc(kBufferBytes, kBufferBytes)));
  if (port.buffer == nullptr) return Fail(ENOMEM, {"allocating a probe buffer for ", info.name});
  std::memset(port.buffer.get(), 0, kBufferBytes);
  // Some drivers refuse the flag of what the device does not have.
  const int atomic = device.atomics ? IBV_ACCESS_REMOTE_ATOMIC : 0;
  port.mr.reset(ibv_reg_mr(
      device.pd.get(), port.buffer.get(), kBufferBytes,
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | atomic));
  if (port.mr == nullptr) {
    const int code = errno;
    return Fail(code, {"ibv_reg_mr of 4096 bytes on ", info.name}, MemlockAdvice(code));
  }
  std::uint32_t depth = std::min(qps_max * kCompletionsOfAQp, device.cqes_max);
  port.qps_max = depth / kCompletionsOfAQp;
  port.ud_fits =
      discovered.protocol != Protocol::kIwarp && depth + kCompletionsOfUd <= device.cqes_max;
  if (port.ud_fits) depth += kCompletionsOfUd;
  Result<CompletionQueue> queue =
      CreateCq(*device.context, depth, *device.channel, device.clock.has_value(), info.name);
  if (!queue) return tl::unexpected(queue.error());
  port.queue = std::move(*queue);
  const Result<void> armed =
      CheckVerb(ibv_req_notify_cq(port.queue.cq.get(), 0), {"ibv_req_notify_cq on ", info.name});
  if (!armed) return tl::unexpected(armed.error());
  return port;
}

GidType TypeOf(std::uint32_t gid_type) {
  switch (gid_type) {
    case IBV_GID_TYPE_ROCE_V1: return GidType::kRoceV1;
    case IBV_GID_TYPE_ROCE_V2: return GidType::kRoceV2;
    default: return GidType::kIb;
  }
}

std::uint32_t MtuBytes(ibv_mtu mtu) { return mtu == 0 ? 0 : 128U << static_cast<unsigned>(mtu); }

PortFacts FactsOf(ibv_context& context, const std::string& device, std::uint32_t number) {
  PortFacts facts;
  facts.port = number;
  const std::string port = PortId{device, number}.Text();
  ibv_port_attr attr{};
  const Result<void> queried =
      CheckVerb(ibv_query_port(&context, static_cast<std::uint8_t>(number), &attr),
                {"ibv_query_port of ", port});
  if (!queried) {
    facts.problem = queried.error().Text();
    return facts;
  }
  facts.link_layer =
      attr.link_layer == IBV_LINK_LAYER_ETHERNET ? LinkLayer::kEthernet : LinkLayer::kInfiniband;
  facts.active = attr.state == IBV_PORT_ACTIVE;
  facts.mtu_bytes = MtuBytes(attr.active_mtu);
  facts.lid = attr.lid;
  return facts;
}

}  // namespace

Result<UdQp> MakeUd(const OpenDevice& device, const DeviceInfo& info, std::uint32_t port,
                    std::uint64_t first_receive) {
  const auto open =
      std::find_if(device.ports.begin(), device.ports.end(),
                   [port](const OpenPort& candidate) { return candidate.port == port; });
  if (open == device.ports.end() || !open->ud_fits) {
    return Fail({"no room for a UD QP in the completion queue of ", PortId{info.name, port}.Text()},
                "lower budget.qps_per_nic");
  }
  std::random_device random;
  return CreateUd({.pd = device.pd.get(),
                   .cq = open->queue.cq.get(),
                   .port = port,
                   .qkey = (random() & 0x7FFFFFFFU) | 1U,
                   .first_receive = first_receive});
}

std::vector<PortFacts> QueryPorts(ibv_context& context, const DeviceInfo& info) {
  std::vector<PortFacts> facts;
  for (const PortInfo& port : info.ports) facts.push_back(FactsOf(context, info.name, port.port));

  // The table of a NIC with many VLANs has some hundreds of entries; rxe's has 1024 slots.
  std::vector<ibv_gid_entry> table(1024);
  const ssize_t count = ibv_query_gid_table(&context, table.data(), table.size(), 0);
  if (count < 0) {
    const auto failed = Fail(static_cast<int>(-count), {"ibv_query_gid_table of ", info.name});
    for (PortFacts& port : facts) port.problem = failed.value().Text();
  }
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = table[static_cast<std::size_t>(i)];
    const auto port = std::find_if(
        facts.begin(), facts.end(),
        [&entry](const PortFacts& candidate) { return candidate.port == entry.port_num; });
    if (port == facts.end()) continue;
    probes::GidEntry gid{.index = entry.gid_index, .gid = {}, .type = TypeOf(entry.gid_type)};
    std::memcpy(gid.gid.bytes.data(), entry.gid.raw, gid.gid.bytes.size());
    port->gids.push_back(gid);
  }
  return facts;
}

Result<OpenedDevice> OpenForProbing(const DeviceInfo& info, const std::string& dev_root,
                                    std::uint32_t qps_max, CmHost& cm_host, bool by_cm) {
  if (const Result<void> node = CheckNode(info, dev_root); !node) {
    return tl::unexpected(node.error());
  }
  OpenedDevice opened;
  OpenDevice& device = opened.device;
  Result<Context> context = OpenContext(info);
  if (!context) return tl::unexpected(context.error());
  device.context = std::move(*context);
  if (const Result<void> queried = QueryDevice(device, info); !queried) {
    return tl::unexpected(queried.error());
  }
  device.pd.reset(ibv_alloc_pd(device.context.get()));
  if (device.pd == nullptr) return Fail(errno, {"ibv_alloc_pd on ", info.name});
  device.channel.reset(ibv_create_comp_channel(device.context.get()));
  if (device.channel == nullptr) return Fail(errno, {"ibv_create_comp_channel on ", info.name});
  for (const auto& [fd, what] : {std::pair(device.channel->fd, "completion channel"),
                                 std::pair(device.context->async_fd, "event queue")}) {
    if (const Result<void> set = SetNonBlocking(fd, what, info.name); !set) {
      return tl::unexpected(set.error());
    }
  }
  for (const PortInfo& port : info.ports) {
    Result<OpenPort> made = MakePort(device, info, port, qps_max);
    if (!made) return tl::unexpected(made.error());
    device.ports.push_back(std::move(*made));
  }
  opened.facts = QueryPorts(*device.context, info);
  if (!NeedsCm(info, by_cm)) return opened;
  Result<UniqueFd> cm = cm_host.Open(dev_root + "/rdma_cm");
  if (!cm && !NeedsCm(info, false)) cm.error().advice += ", or set paths.connect to exchange";
  if (!cm) return tl::unexpected(cm.error());
  device.cm = std::move(*cm);
  ListenOnPorts(cm_host, device.cm.get(), info, by_cm, {}, opened.facts);
  return opened;
}

}  // namespace rdmapulse::verbs
