// probes::Transport on real devices, through libibverbs. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "daemon/base/blocking_pool.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "probes/transport.h"
#include "probes/verbs/device.h"

namespace rdmapulse::verbs {

class VerbsTransport : public probes::Transport {
 public:
  struct Options {
    DeviceOptions device;
    std::function<bool(const PortId&)> ignored;  // ports that are not to be probed
    std::function<std::uint32_t(const std::string& device)> looks{};  // see SetLooks
    std::function<void(const std::string&)> journal;
  };

  VerbsTransport(boost::asio::io_context& loop, Options options);

  // What discovery found: opens what is new, lets go of what went or is being removed. A device
  // that is gone keeps its place in Ports, unusable, so that the others' pairing does not shift.
  void SetDevices(const std::vector<DeviceInfo>& devices, TimePoint now);
  void SetFamily(probes::GidFamily family);
  // Whether ports send and take datagrams.
  void SetDatagrams(bool on);
  // How often each device is looked at after a post (Device::SetLooks).
  void SetLooks(std::function<std::uint32_t(const std::string& device)> looks);
  // Whether RoCE and InfiniBand ports are connected by the connection manager.
  void SetByCm(bool on);
  // Ports that are not to be probed. The prober sees it at its next look (Configure).
  void SetIgnored(std::function<bool(const PortId&)> ignored) {
    options_.ignored = std::move(ignored);
  }
  // Closes all; the loop ends when the kernel has everything back.
  void Stop();

  void SetHandlers(Handlers handlers) override { handlers_ = std::move(handlers); }
  std::vector<probes::TransportPort> Ports() const override;
  void Open(const PortId& port, const Gid& towards, const probes::QpAttributes& attributes,
            Opened opened) override;
  void Connect(probes::QpId qp, const probes::QpEndpoint& remote, Connected connected) override;
  Result<void> Post(probes::QpId qp, probes::Op op, std::uint64_t probe) override;
  Result<std::uint16_t> PostDatagram(probes::QpId qp, std::uint32_t way,
                                     std::uint64_t probe) override;
  void Poll() override;
  std::uint16_t TcpSourcePort(probes::QpId qp) const override;
  void Close(probes::QpId qp) override;

 private:
  Device* DeviceOf(probes::QpId qp) const;
  Device::Handlers DeviceHandlers();

  boost::asio::io_context& loop_;
  Options options_;
  BlockingPool pool_;
  Handlers handlers_;
  bool stopping_ = false;
  probes::QpId last_qp_ = 0;
  std::map<std::string, std::unique_ptr<Device>> devices_;
  std::unordered_map<probes::QpId, Device*> qps_;
};

}  // namespace rdmapulse::verbs
