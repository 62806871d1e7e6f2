#include "probes/verbs/transport.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace rdmapulse::verbs {
namespace {

// A QP on its way to a dead address takes a second of a thread, and a device may have ten such
// begun in a second (the prober's rebuild budget): these must not hold up the rest.
constexpr std::size_t kThreads = 16;

}  // namespace

VerbsTransport::VerbsTransport(boost::asio::io_context& loop, Options options)
    : loop_(loop), options_(std::move(options)), pool_(loop, kThreads) {}

void VerbsTransport::SetDevices(const std::vector<DeviceInfo>& devices, TimePoint now) {
  if (stopping_) return;
  for (auto& [name, device] : devices_) {
    const auto found =
        std::find_if(devices.begin(), devices.end(),
                     [&name = name](const DeviceInfo& info) { return info.name == name; });
    if (found == devices.end()) {
      device->Close("the device was removed");
    } else if (!found->present) {
      device->Close("the device is being removed");
    }
  }
  for (const DeviceInfo& info : devices) {
    if (!info.present) continue;
    auto& device = devices_[info.name];
    if (device == nullptr) {
      device = std::make_unique<Device>(loop_, pool_, info, options_.device, DeviceHandlers());
      if (options_.looks) device->SetLooks(options_.looks(info.name));
    }
    device->Update(info, now);
    device->Open(now);
  }
}

void VerbsTransport::SetFamily(probes::GidFamily family) {
  options_.device.family = family;
  for (auto& [name, device] : devices_) device->SetFamily(family);
}

void VerbsTransport::SetDatagrams(bool on) {
  options_.device.datagrams = on;
  for (auto& [name, device] : devices_) device->SetDatagrams(on);
}

void VerbsTransport::SetLooks(std::function<std::uint32_t(const std::string& device)> looks) {
  options_.looks = std::move(looks);
  for (auto& [name, device] : devices_) device->SetLooks(options_.looks(name));
}

void VerbsTransport::SetByCm(bool on) {
  options_.device.by_cm = on;
  for (auto& [name, device] : devices_) device->SetByCm(on);
}

void VerbsTransport::Stop() {
  stopping_ = true;
  for (auto& [name, device] : devices_) device->Close("rdmapulsed stops");
}

std::vector<probes::TransportPort> VerbsTransport::Ports() const {
  std::vector<probes::TransportPort> ports;
  for (const auto& [name, device] : devices_) {
    for (probes::TransportPort& port : device->Ports()) {
      if (!options_.ignored(port.id)) ports.push_back(std::move(port));
    }
  }
  return ports;
}

void VerbsTransport::Open(const PortId& port, const Gid& towards,
                          const probes::QpAttributes& attributes, Opened opened) {
  const auto device = devices_.find(port.device);
  if (device == devices_.end()) {
    opened(Fail({port.Text(), " is not here"}));
    return;
  }
  const probes::QpId id = ++last_qp_;
  qps_[id] = device->second.get();
  device->second->OpenQp(id, port, towards, attributes,
                         [this, id, opened = std::move(opened)](
                             Result<std::pair<probes::QpId, probes::QpEndpoint>> result) {
                           if (!result) qps_.erase(id);
                           opened(std::move(result));
                         });
}

void VerbsTransport::Connect(probes::QpId qp, const probes::QpEndpoint& remote,
                             Connected connected) {
  if (Device* const device = DeviceOf(qp)) {
    device->ConnectQp(qp, remote, std::move(connected));
  } else {
    connected(Fail({"the QP is gone"}));
  }
}

Result<void> VerbsTransport::Post(probes::QpId qp, probes::Op op, std::uint64_t probe) {
  if (Device* const device = DeviceOf(qp)) return device->Post(qp, op, probe);
  return Fail({"the QP is gone"});
}

Result<std::uint16_t> VerbsTransport::PostDatagram(probes::QpId qp, std::uint32_t way,
                                                   std::uint64_t probe) {
  if (Device* const device = DeviceOf(qp)) return device->PostDatagram(qp, way, probe);
  return Fail({"the QP is gone"});
}

void VerbsTransport::Poll() {
  for (const auto& [name, device] : devices_) device->Poll();
}

std::uint16_t VerbsTransport::TcpSourcePort(probes::QpId qp) const {
  const Device* const device = DeviceOf(qp);
  return device == nullptr ? std::uint16_t{0} : device->TcpSourcePort(qp);
}

void VerbsTransport::Close(probes::QpId qp) {
  if (Device* const device = DeviceOf(qp)) device->CloseQp(qp);
  qps_.erase(qp);
}

Device* VerbsTransport::DeviceOf(probes::QpId qp) const {
  const auto found = qps_.find(qp);
  return found == qps_.end() ? nullptr : found->second;
}

Device::Handlers VerbsTransport::DeviceHandlers() {
  return {.completed =
              [this](const probes::Completion& completion) {
                if (handlers_.completed) handlers_.completed(completion);
              },
          .port_changed =
              [this](const PortId& port, const std::string& why) {
                if (handlers_.port_changed) handlers_.port_changed(port, why);
              },
          .echoed =
              [this](const probes::EchoReply& reply) {
                if (handlers_.echoed) handlers_.echoed(reply);
              },
          .journal = options_.journal};
}

}  // namespace rdmapulse::verbs
