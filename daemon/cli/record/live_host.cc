#include "daemon/cli/record/live_host.h"

#include <linux/ethtool.h>
#include <linux/if_arp.h>

#include <algorithm>
#include <csignal>
#include <optional>
#include <string_view>
#include <utility>

#include "collectors/collectors.h"
#include "collectors/ethtool_ioctl.h"
#include "collectors/kernel_files.h"
#include "collectors/netlink.h"
#include "daemon/cli/record/patience.h"
#include "daemon/cli/record/sysfs_copy.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;
using collectors::Collection;
using collectors::Wire;
using collectors::recorded::EthtoolDriver;

// A healthy driver answers within milliseconds, mlx5's slowest command in some hundred.
constexpr auto kPatience = 5s;
// How long the first pass over all devices may take before the recording begins without the rest.
constexpr auto kFirstPass = 10s;
constexpr auto kLookAgain = 50ms;
// What the host's other sources are asked meanwhile; each is read no oftener than it bears.
constexpr Duration kPass = 1s;
// A pass over the interfaces that was out when the devices became known has not seen theirs.
constexpr int kNetdevPasses = 2;

// The text of a field of the ioctl, which need not end in NUL.
template <std::size_t kSize>
std::string Text(const char (&field)[kSize]) {
  const std::string_view whole(&field[0], kSize);
  return std::string(whole.substr(0, whole.find('\0')));
}

std::optional<EthtoolDriver> DriverOf(collectors::EthtoolIoctl& ethtool,
                                      const std::string& netdev) {
  ethtool_drvinfo info{};
  info.cmd = ETHTOOL_GDRVINFO;
  if (ethtool.Call(netdev, &info) != 0) return std::nullopt;
  EthtoolDriver driver;
  driver.driver = Text(info.driver);
  driver.firmware = Text(info.fw_version);
  driver.bus_info = Text(info.bus_info);
  return driver;
}

// Asks the kernel for what only a moment holds. Owns all that it uses.
struct MomentReader {
  std::optional<collectors::KernelEthtool> ethtool;
  std::optional<collectors::KernelNetlink> generic;
  std::optional<collectors::KernelNetlink> route;

  static std::shared_ptr<MomentReader> Open() {
    auto reader = std::make_shared<MomentReader>();
    if (auto ethtool = collectors::KernelEthtool::Open()) reader->ethtool = std::move(*ethtool);
    if (auto generic = collectors::KernelNetlink::Open(NETLINK_GENERIC))
      reader->generic.emplace(std::move(*generic));
    if (auto route = collectors::KernelNetlink::Open(NETLINK_ROUTE))
      reader->route.emplace(std::move(*route));
    return reader;
  }

  HostMoment Read(const std::vector<Wire>& wires, const std::vector<Wire>& others) {
    HostMoment moment;
    collectors::NetdevCollector collector({.ethtool = ethtool ? &*ethtool : nullptr,
                                           .generic = generic ? &*generic : nullptr,
                                           .route = route ? &*route : nullptr});
    Collection collection = collector.Collect(others);
    for (collectors::Reading& reading : collection.readings) reading.port.reset();
    moment.collections.push_back(std::move(collection));
    for (const auto* const list : {&wires, &others}) {
      for (const Wire& wire : *list) {
        auto driver = ethtool ? DriverOf(*ethtool, wire.netdev.name) : std::nullopt;
        if (driver) moment.drivers[wire.netdev.name] = std::move(*driver);
      }
    }
    return moment;
  }
};

}  // namespace

LiveHost::LiveHost(const Options& options)
    : options_(options),
      sysfs_(std::make_shared<const collectors::KernelFiles>(options.sysfs_root), kPatience),
      collection_(
          loop_, {.sysfs = options.sysfs_root, .procfs = options.proc_root},
          {.discovered =
               [this](const auto& devices) {
                 discovered_ = true;
                 if (on_devices_) on_devices_(devices);
               },
           .collected = [this](const DeviceInfo& device,
                               const auto& /*collection*/) { collected_.insert(device.name); },
           .netdevs_collected =
               [this](const auto& /*collection*/) {
                 if (discovered_) ++netdev_passes_;
               },
           .journal =
               [this](const std::string& line) {
                 if (options_.journal) options_.journal(line);
               }}) {
  signals_.async_wait([this](const boost::system::error_code& error, int /*signal*/) {
    if (error) return;
    interrupted_ = true;
    signals_.clear();
  });
}

void LiveHost::Configure(Duration interval) {
  collection_.Configure({.interval = interval,
                         .fast_interval = options_.every,
                         .qp_counters = options_.qp_counters,
                         .mad = options_.mad,
                         .wanted = options_.wanted});
}

void LiveHost::ReadFirst() {
  Configure(kLookAgain);
  collection_.Start();
  const TimePoint give_up = Clock::now() + kFirstPass;
  while (!interrupted_ && !FirstPassIsOver() && Clock::now() < give_up) Wait(kLookAgain);
  Configure(std::max<Duration>(kPass, options_.every));
}

bool LiveHost::FirstPassIsOver() const {
  return discovered_ && netdev_passes_ >= kNetdevPasses && Unread().empty();
}

std::vector<std::string> LiveHost::Unread() const {
  std::vector<std::string> unread;
  for (const DeviceInfo& device : collection_.devices()) {
    if (device.present && !collected_.contains(device.name)) unread.push_back(device.name);
  }
  return unread;
}

void LiveHost::Wait(Duration duration) {
  bool over = false;
  timer_.expires_after(duration);
  timer_.async_wait([&over](const boost::system::error_code& /*error*/) { over = true; });
  while (!over && !interrupted_) loop_.run_one();
  timer_.cancel();
  while (!over) loop_.run_one();
}

void LiveHost::OnDevices(std::function<void(const std::vector<DeviceInfo>&)> handler) {
  on_devices_ = std::move(handler);
}

std::vector<std::shared_ptr<const Collection>> LiveHost::Latest(TimePoint now) {
  for (const DeviceInfo& device : collection_.devices()) {
    for (const PortInfo& port : device.ports) {
      collection_.SampleFast({device.name, port.port}, now + 2 * kPass);
    }
  }
  return collection_.Latest(now);
}

HostMoment LiveHost::ReadMoment(TimePoint now) {
  const std::vector<Wire> wires = collectors::AllWires(collection_.devices());
  auto read = Patiently(kPatience, [reader = MomentReader::Open(), wires, others = OtherWires()] {
    return reader->Read(wires, others);
  });
  HostMoment moment = read ? std::move(*read) : HostMoment{};
  for (const auto& latest : collection_.Latest(now)) moment.collections.push_back(*latest);
  return moment;
}

// Of a device below them, unlike bridges and tunnels, and no RDMA device's.
std::vector<Wire> LiveHost::OtherWires() {
  const std::vector<Wire> wires = collectors::AllWires(collection_.devices());
  std::vector<Wire> others;
  const auto names = sysfs_.List("class/net");
  if (!names || !*names) return others;
  for (const std::string& name : **names) {
    const std::string path = "class/net/" + name;
    const auto device = sysfs_.ReadLink(path + "/device");
    const auto type = sysfs_.ReadText(path + "/type");
    const bool ethernet = device && *device && type && *type &&
                          collectors::Trim(**type) == std::to_string(ARPHRD_ETHER);
    const bool known = std::any_of(wires.begin(), wires.end(),
                                   [&name](const Wire& wire) { return wire.netdev.name == name; });
    if (!ethernet || known || !IsInterfaceWanted(sysfs_, options_.wanted, name)) continue;
    Wire wire;
    wire.netdev.name = name;
    others.push_back(std::move(wire));
  }
  return others;
}

}  // namespace rdmapulse::cli
