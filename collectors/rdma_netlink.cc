#include "collectors/rdma_netlink.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "collectors/rdma_netlink_attributes.h"

namespace rdmapulse::collectors {
namespace {

using Kind = NetlinkRequest::Kind;

// Asks for one thing of one device, and has its message read.
template <typename Parse>
auto AskOne(Netlink& rdma, NetlinkRequest& request, Parse parse)
    -> decltype(parse(std::declval<Bytes>())) {
  auto answer = rdma.Ask(request);
  if (!answer) return tl::unexpected(std::move(answer.error()));
  if (answer->empty()) return Fail(ENODATA, {"reading ", request.What(), " by netlink"});
  return parse(answer->front());
}

}  // namespace

Result<std::vector<NetlinkDevice>> ListDevices(Netlink& rdma) {
  NetlinkRequest request(nldev::kGetDevice, Kind::kDump, "the list of RDMA devices");
  const auto answer = rdma.Ask(request);
  if (!answer) return tl::unexpected(answer.error());
  if (answer->size() > kMaxNetlinkDevices)
    return Fail(E2BIG, {"reading ", request.What(), " by netlink"});
  std::vector<NetlinkDevice> devices;
  for (const auto& message : *answer) {
    auto device = ParseDevice(message);
    if (!device) return tl::unexpected(std::move(device.error()));
    devices.push_back(std::move(*device));
  }
  return devices;
}

Result<std::optional<std::vector<std::string>>> ListNetlinkDevices() {
  auto socket = KernelNetlink::Open(NETLINK_RDMA);
  if (!socket) {
    if (socket.error().code.value() == EPROTONOSUPPORT) return std::nullopt;
    return tl::unexpected(std::move(socket.error()));
  }
  const auto devices = ListDevices(*socket);
  if (!devices) return tl::unexpected(devices.error());
  std::vector<std::string> names;
  names.reserve(devices->size());
  for (const NetlinkDevice& device : *devices) names.push_back(device.name);
  return names;
}

std::optional<std::uint32_t> DeviceIndex(Netlink& rdma, std::string_view name) {
  const auto devices = ListDevices(rdma);
  if (!devices) return std::nullopt;
  const auto found =
      std::find_if(devices->begin(), devices->end(),
                   [name](const NetlinkDevice& device) { return device.name == name; });
  return found == devices->end() ? std::nullopt : std::optional(found->index);
}

Result<std::string> PortNetdev(Netlink& rdma, std::uint32_t device, std::uint32_t port) {
  NetlinkRequest request(nldev::kGetPort, Kind::kOne, "a port's netdev");
  request.U32(nldev::kDeviceIndex, device).U32(nldev::kPortIndex, port);
  return AskOne(rdma, request, ParsePortNetdev);
}

Result<std::string> UverbsNode(Netlink& rdma, std::uint32_t device) {
  NetlinkRequest request(nldev::kGetCharacterDevice, Kind::kOne, "a device's uverbs node");
  request.U32(nldev::kDeviceIndex, device).Text(nldev::kCharacterDeviceType, "uverbs");
  return AskOne(rdma, request, ParseCharacterDevice);
}

Result<std::optional<bool>> NamespacesShared(Netlink& rdma) {
  NetlinkRequest request(nldev::kGetSystem, Kind::kOne, "the mode of RDMA's network namespaces");
  return AskOne(rdma, request, ParseNamespacesShared);
}

}  // namespace rdmapulse::collectors
