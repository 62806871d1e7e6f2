// The contract, kept by the fake fabric and by verbs over a fake libibverbs.
#include "tests/contract/transport_contract.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "probes/verbs/transport.h"
#include "tests/fakes/fabric.h"
#include "tests/fakes/ibverbs.h"
#include "tests/fakes/rdma_cm.h"

namespace rdmapulse::contract {
namespace {

using namespace std::chrono_literals;

using Manner = fakes::RdmaCm::Manner;

constexpr Duration kPatience = 10s;

class FabricHarness final : public TransportHarness {
 public:
  FabricHarness() {
    fabric_.AddHost("h1").SetPort(fakes::RocePort("10.0.0.1"));
    fabric_.AddHost("h2").SetPort(fakes::RocePort("10.0.0.2"));
  }

  End Here() override { return {&fabric_.host("h1"), {"mlx5_0", 1}}; }
  End There() override { return {&fabric_.host("h2"), {"mlx5_0", 1}}; }
  bool RunUntil(const std::function<bool()>& condition) override {
    const TimePoint deadline = fabric_.now() + kPatience;
    while (!condition()) {
      if (fabric_.now() >= deadline) return false;
      fabric_.Advance(1ms);
    }
    return true;
  }
  Gid Nobody() override { return *ParseGid("10.0.0.77"); }
  void DisturbHere() override { fabric_.host("h1").SetPort(fakes::RocePort("10.0.0.3")); }

 private:
  fakes::Fabric fabric_;
};

class VerbsHarness final : public TransportHarness {
 public:
  VerbsHarness() {
    SetGid("fake_0", "10.0.0.1", 1);
    SetGid("fake_1", "10.0.0.2", 1);
    transport_.SetDevices({Device("fake_0"), Device("fake_1")}, Clock::now());
    RunUntil([this] {
      const auto ports = transport_.Ports();
      return ports.size() == 2 && ports[0].usable && ports[1].usable;
    });
  }
  void Stop() override {
    transport_.Stop();
    loop_.restart();
    loop_.run_for(kPatience);
    EXPECT_TRUE(loop_.stopped());
    EXPECT_EQ(verbs_.LiveObjects(), std::vector<std::string>{});
    EXPECT_EQ(verbs_.Misuse(), std::vector<std::string>{});
  }

  End Here() override { return {&transport_, {"fake_0", 1}}; }
  End There() override { return {&transport_, {"fake_1", 1}}; }
  bool RunUntil(const std::function<bool()>& condition) override {
    const TimePoint deadline = Clock::now() + kPatience;
    while (!condition()) {
      if (Clock::now() >= deadline) return false;
      loop_.restart();
      loop_.run_one_for(20ms);
    }
    return true;
  }
  Gid Nobody() override { return *ParseGid("10.0.0.77"); }
  void DisturbHere() override {
    SetGid("fake_0", "10.0.0.1", 3);
    verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  }

 private:
  void SetGid(const std::string& device, const std::string& address, std::uint32_t index) {
    fakes::FakePort port;
    port.gids = {{.index = index, .gid = *ParseGid(address), .type = GidType::kRoceV2}};
    if (known_.insert(device).second) {
      verbs_.AddDevice(device, {port});
    } else {
      verbs_.SetPort(device, port);
    }
  }
  static DeviceInfo Device(const std::string& name) {
    DeviceInfo info;
    info.name = name;
    info.ports.push_back({.port = 1, .protocol = Protocol::kRoceV2});
    return info;
  }

  fakes::Ibverbs verbs_;
  std::set<std::string> known_;
  boost::asio::io_context loop_{1};
  verbs::VerbsTransport transport_{loop_,
                                   {.device = {.datagrams = true},
                                    .ignored = [](const PortId&) { return false; },
                                    .journal = [](const std::string&) {}}};
};

// The same hosts, connected by the connection manager.
template <fakes::RdmaCm::Manner kManner>
class CmHarness final : public TransportHarness {
 public:
  CmHarness() {
    cm_.Attach(verbs_);
    for (const std::string device : {"fake_0", "fake_1"}) {
      verbs_.AddDevice(device, {});
      DeviceInfo& info = devices_.emplace_back();
      info.name = device;
      info.ports.push_back({.port = 1, .protocol = kProtocol});
      info.ports[0].netdev = device + "_netdev";
    }
    SetAddresses(0, {"10.0.0.1"});
    SetAddresses(1, {"10.0.0.2"});
    transport_.SetDevices(devices_, Clock::now());
    RunUntil([this] {
      const auto ports = transport_.Ports();
      return ports.size() == 2 && ports[0].usable && ports[1].usable;
    });
  }
  void Stop() override {
    transport_.Stop();
    loop_.restart();
    loop_.run_for(kPatience);
    EXPECT_TRUE(loop_.stopped());
    for (const auto& left :
         {verbs_.LiveObjects(), verbs_.Misuse(), cm_.LiveObjects(), cm_.Misuse()}) {
      EXPECT_EQ(left, std::vector<std::string>{});
    }
  }

  End Here() override { return {&transport_, {"fake_0", 1}}; }
  End There() override { return {&transport_, {"fake_1", 1}}; }
  bool RunUntil(const std::function<bool()>& condition) override {
    const TimePoint deadline = Clock::now() + kPatience;
    while (!condition()) {
      if (Clock::now() >= deadline) return false;
      loop_.restart();
      loop_.run_one_for(20ms);
    }
    return true;
  }
  Gid Nobody() override { return *ParseGid("10.0.0.77"); }
  void DisturbHere() override {
    SetAddresses(0, {"10.0.0.1", "10.0.0.3"});
    transport_.SetDevices(devices_, Clock::now() + 10s);
  }
  std::vector<probes::Op> Ops() const override {
    return kIwarp ? std::vector<probes::Op>{probes::Op::kRead} : TransportHarness::Ops();
  }
  bool Datagrams() const override { return !kIwarp; }
  bool TellsOfTheEnd() const override { return true; }

 private:
  static constexpr bool kIwarp = kManner == fakes::RdmaCm::Manner::kIwarp;
  static constexpr bool kInfiniband = kManner == fakes::RdmaCm::Manner::kInfiniband;
  static constexpr Protocol kProtocol = kIwarp        ? Protocol::kIwarp
                                        : kInfiniband ? Protocol::kInfiniband
                                                      : Protocol::kRoceV2;

  static verbs::DeviceOptions OptionsWith(verbs::CmHost& host) {
    verbs::DeviceOptions options;
    options.datagrams = true;
    options.cm_host = &host;
    options.by_cm = true;
    return options;
  }
  // RoCE's GIDs are its addresses, InfiniBand's are not.
  void SetAddresses(std::size_t host, const std::vector<std::string>& addresses) {
    const std::string name = "fake_" + std::to_string(host);
    cm_.SetAddresses(name + "_netdev", name, 1 + host, addresses, kManner);
    if (kIwarp) return verbs_.SetPort(name, {});
    fakes::FakePort port;
    if (kInfiniband) {
      port.link_layer = LinkLayer::kInfiniband;
      port.lid = static_cast<std::uint16_t>(7 + host);
      port.gids = {{.index = 0, .gid = *ParseGid("fe80::" + std::to_string(1 + host))}};
    }
    for (std::uint32_t i = 0; !kInfiniband && i < addresses.size(); ++i) {
      port.gids.push_back({.index = i, .gid = *ParseGid(addresses[i]), .type = GidType::kRoceV2});
    }
    verbs_.SetPort(name, port);
  }

  fakes::Ibverbs verbs_;
  fakes::RdmaCm cm_;
  std::vector<DeviceInfo> devices_;
  boost::asio::io_context loop_{1};
  verbs::VerbsTransport transport_{loop_,
                                   {.device = OptionsWith(cm_),
                                    .ignored = [](const PortId&) { return false; },
                                    .journal = [](const std::string&) {}}};
};

template <typename Harness>
std::unique_ptr<TransportHarness> Make() {
  return std::make_unique<Harness>();
}

INSTANTIATE_TEST_SUITE_P(
    All, TransportContractTest,
    ::testing::Values(Implementation{"Fabric", Make<FabricHarness>},
                      Implementation{"Verbs", Make<VerbsHarness>},
                      Implementation{"Iwarp", Make<CmHarness<Manner::kIwarp>>},
                      Implementation{"RoceByCm", Make<CmHarness<Manner::kRoce>>},
                      Implementation{"InfinibandByCm", Make<CmHarness<Manner::kInfiniband>>}),
    [](const ::testing::TestParamInfo<Implementation>& tested) { return tested.param.name; });

}  // namespace
}  // namespace rdmapulse::contract
