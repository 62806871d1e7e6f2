// What a pass over a host's counters costs once their names are known, and what it cost to learn
// them: a mlx5 host with four ports, each with 30 hw_counters, 22 counters and 1500 ethtool
// statistics, of which most are of queues. `allocations` is per pass.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "collectors/collectors.h"
#include "collectors/counter_book.h"
#include "collectors/kernel_files.h"
#include "daemon/metrics/families.h"
#include "daemon/snapshot.h"
#include "tests/fakes/tree.h"

namespace {

// Counted for the whole program; the benches run on one thread.
std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using collectors::CounterName;
using collectors::Reading;
using collectors::Source;

constexpr std::uint32_t kPorts = 4;

std::vector<CounterName> EthtoolNames() {
  std::vector<CounterName> names = {"rx_bytes_phy", "tx_bytes_phy", "rx_discards_phy",
                                    "link_down_events_phy"};
  for (int priority = 0; priority < 8; ++priority) {
    for (const char* what : {"_bytes", "_packets", "_pause", "_pause_duration"}) {
      names.emplace_back("rx_prio" + std::to_string(priority) + what);
      names.emplace_back("tx_prio" + std::to_string(priority) + what);
    }
  }
  for (int i = 0; names.size() < 1500; ++i)
    names.emplace_back("rx" + std::to_string(i) + "_packets");
  return names;
}

std::vector<CounterName> HwNames() {
  std::vector<CounterName> names = {"np_cnp_sent",    "rp_cnp_handled",  "local_ack_timeout_err",
                                    "packet_seq_err", "out_of_sequence", "roce_adp_retrans"};
  for (int i = 0; names.size() < 30; ++i) names.emplace_back("other_" + std::to_string(i));
  return names;
}

std::vector<DeviceInfo> Devices() {
  std::vector<DeviceInfo> devices;
  for (std::uint32_t i = 0; i < kPorts; ++i) {
    DeviceInfo& device = devices.emplace_back();
    device.name = "mlx5_" + std::to_string(i);
    device.driver = "mlx5";
    device.ports = {{.port = 1, .link_layer = LinkLayer::kEthernet}};
  }
  return devices;
}

// Every port once; the names are those of the passes before.
std::shared_ptr<const collectors::Collection> Pass(const std::vector<CounterName>& hw,
                                                   const std::vector<CounterName>& ethtool,
                                                   TimePoint now, std::uint64_t value) {
  collectors::Collection pass;
  pass.readings.reserve(2 * kPorts);
  for (std::uint32_t port = 0; port < kPorts; ++port) {
    for (const auto* names : {&hw, &ethtool}) {
      Reading& reading = pass.readings.emplace_back();
      reading.source = names == &hw ? Source::kHwCounters : Source::kEthtool;
      reading.device = "mlx5_" + std::to_string(port);
      reading.port = 1;
      if (names == &ethtool) reading.netdev = "eth" + std::to_string(port);
      reading.finished = now;
      reading.values.reserve(names->size());
      for (const CounterName& name : *names) reading.values.push_back({name, value});
    }
  }
  return std::make_shared<const collectors::Collection>(std::move(pass));
}

void KnownNames(benchmark::State& state) {
  const auto hw = HwNames();
  const auto ethtool = EthtoolNames();
  const auto devices = Devices();
  collectors::CounterBook book(
      std::make_shared<const collectors::Catalogue>(collectors::Catalogue::BuiltIn()));
  TimePoint now(1000s);
  std::uint64_t value = 1;
  book.Take(Pass(hw, ethtool, now, value), devices, now);
  book.At(now);
  const std::uint64_t before = allocations;
  for (auto _ : state) {
    now += 1s;
    book.Take(Pass(hw, ethtool, now, ++value), devices, now);
    benchmark::DoNotOptimize(book.At(now));
  }
  state.counters["allocations"] = benchmark::Counter(static_cast<double>(allocations - before),
                                                     benchmark::Counter::kAvgIterations);
}
BENCHMARK(KnownNames)->Unit(benchmark::kMicrosecond);

// Files of a port as mlx5 has them, kept open.
void ReadFiles(benchmark::State& state) {
  std::string text;
  for (const char* folder : {"counters", "hw_counters"}) {
    for (int i = 0; i < 30; ++i) {
      text += "class/infiniband/mlx5_0/ports/1/" + std::string(folder) + "/counter_" +
              std::to_string(i) + " = 12345678\n";
    }
  }
  const fakes::Tree tree(text);
  const collectors::KernelFiles files(tree.Root());
  collectors::DeviceCollector collector(
      files, {.name = "mlx5_0", .driver = "mlx5", .ports = {{.port = 1}}}, {});
  collector.Collect();
  const std::uint64_t before = allocations;
  for (auto _ : state) benchmark::DoNotOptimize(collector.Collect());
  state.counters["allocations"] = benchmark::Counter(static_cast<double>(allocations - before),
                                                     benchmark::Counter::kAvgIterations);
}
BENCHMARK(ReadFiles)->Unit(benchmark::kMicrosecond);

void NewNames(benchmark::State& state) {
  const auto hw = HwNames();
  const auto ethtool = EthtoolNames();
  const auto devices = Devices();
  const auto catalogue =
      std::make_shared<const collectors::Catalogue>(collectors::Catalogue::BuiltIn());
  for (auto _ : state) {
    collectors::CounterBook book(catalogue);
    book.Take(Pass(hw, ethtool, TimePoint(1000s), 1), devices, TimePoint(1000s));
    benchmark::DoNotOptimize(book.At(TimePoint(1000s)));
  }
}
BENCHMARK(NewNames)->Unit(benchmark::kMicrosecond);

void Scrape(benchmark::State& state) {
  Snapshot snapshot;
  snapshot.devices = Devices();
  snapshot.collections = {Pass(HwNames(), EthtoolNames(), TimePoint(1000s), 1)};
  snapshot.counted = collectors::CountOnce(snapshot.collections, snapshot.devices);
  for (auto _ : state) benchmark::DoNotOptimize(metrics::RenderText(snapshot));
  const std::string text = metrics::RenderText(snapshot);
  std::size_t series = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    series += text[at] != '#';
  state.counters["series"] = static_cast<double>(series);
}
BENCHMARK(Scrape)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace rdmapulse

BENCHMARK_MAIN();
