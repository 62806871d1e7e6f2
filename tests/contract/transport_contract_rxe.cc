// The contract, kept by verbs on the RDMA device of this host: the first one, or $RDMAPULSE_DEVICE.
// It adds and removes an address of the device's interface, so it is for a lab's guest.
#include <infiniband/verbs.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "probes/verbs/transport.h"
#include "tests/contract/transport_contract.h"

namespace rdmapulse::contract {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatience = 20s;
constexpr char kExtraAddress[] = "198.51.100.77/32";  // RFC 5737: nobody's

std::string FirstDevice() {
  if (const char* const wanted = std::getenv("RDMAPULSE_DEVICE")) return wanted;
  int count = 0;
  ibv_device** const list = ibv_get_device_list(&count);
  std::string name = list != nullptr && count > 0 ? ibv_get_device_name(list[0]) : "";
  if (list != nullptr) ibv_free_device_list(list);
  return name;
}

// iWARP's GIDs name no interface: the lab's data NIC.
std::string NetdevOf(const std::string& device) {
  std::string netdev = "eth0";
  std::ifstream("/sys/class/infiniband/" + device + "/ports/1/gid_attrs/ndevs/0") >> netdev;
  return netdev;
}

Protocol ProtocolOf(const std::string& device) {
  int node_type = 0;
  std::ifstream("/sys/class/infiniband/" + device + "/node_type") >> node_type;
  return node_type == 4 ? Protocol::kIwarp : Protocol::kRoceV2;  // "4: RNIC"
}

class DeviceHarness final : public TransportHarness {
 public:
  explicit DeviceHarness(bool by_cm) : device_(FirstDevice()), by_cm_(by_cm) {
    if (device_.empty()) return;
    info_.name = device_;
    info_.ports.push_back({.port = 1, .protocol = ProtocolOf(device_)});
    info_.ports[0].netdev = NetdevOf(device_);
    transport_.SetDevices({info_}, Clock::now());
    RunUntil([this] { return Port().usable; });
  }
  void Stop() override {
    if (extra_address_) RunIp("del ");
    transport_.Stop();
    loop_.restart();
    loop_.run_for(kPatience);
    EXPECT_TRUE(loop_.stopped());
  }

  std::string Skip() override {
    if (device_.empty()) return "no RDMA device here";
    if (geteuid() != 0) return "adding an address needs root";
    return Port().usable ? "" : device_ + " cannot be used: " + Port().reason;
  }
  End Here() override { return {&transport_, {device_, 1}}; }
  End There() override { return Here(); }
  bool RunUntil(const std::function<bool()>& condition) override {
    const TimePoint deadline = Clock::now() + kPatience;
    while (!condition()) {
      if (Clock::now() >= deadline) return false;
      loop_.restart();
      loop_.run_one_for(20ms);
    }
    return true;
  }
  Gid Nobody() override {
    Gid nobody = Port().gid;
    nobody.bytes.back() = 251;
    return nobody;
  }
  void DisturbHere() override {
    RunIp("add ");
    if (IsIwarp()) {  // no event tells: it is seen when the daemon looks again, after ten seconds
      extra_address_ = true;
      transport_.SetDevices({info_}, Clock::now() + 10s);
    } else {
      RunIp("del ");
    }
  }
  std::vector<probes::Op> Ops() const override {
    if (IsIwarp()) return {probes::Op::kRead};
    return TransportHarness::Ops();
  }
  bool Datagrams() const override { return !IsIwarp(); }
  bool TellsOfTheEnd() const override { return IsIwarp() || by_cm_; }

 private:
  bool IsIwarp() const {
    return !info_.ports.empty() && info_.ports[0].protocol == Protocol::kIwarp;
  }
  void RunIp(const std::string& verb) {
    const std::string command = "ip address " + verb + kExtraAddress + " dev " + NetdevOf(device_);
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  probes::TransportPort Port() const {
    const auto ports = transport_.Ports();
    return ports.empty() ? probes::TransportPort{} : ports.front();
  }
  static verbs::DeviceOptions Options(bool by_cm) {
    verbs::DeviceOptions options;
    options.datagrams = true;
    options.by_cm = by_cm;
    return options;
  }

  const std::string device_;
  const bool by_cm_;
  DeviceInfo info_;
  bool extra_address_ = false;
  boost::asio::io_context loop_{1};
  verbs::VerbsTransport transport_{loop_,
                                   {.device = Options(by_cm_),
                                    .ignored = [](const PortId&) { return false; },
                                    .journal = [](const std::string&) {}}};
};

template <bool kByCm>
std::unique_ptr<TransportHarness> MakeDevice() {
  return std::make_unique<DeviceHarness>(kByCm);
}

// iWARP has no other way than the connection manager.
std::vector<Implementation> Implementations() {
  std::vector<Implementation> all = {{"Device", MakeDevice<false>}};
  if (ProtocolOf(FirstDevice()) != Protocol::kIwarp) all.push_back({"ByCm", MakeDevice<true>});
  return all;
}

INSTANTIATE_TEST_SUITE_P(OnThisHost, TransportContractTest, ::testing::ValuesIn(Implementations()),
                         [](const ::testing::TestParamInfo<Implementation>& tested) {
                           return tested.param.name;
                         });

}  // namespace
}  // namespace rdmapulse::contract
