// What a control session costs: CPU of a ping's round trip, both ends together, and heap memory of
// a peer with its session. Figures come as counters:
//   bazel run -c opt --copt=-UNDEBUG //daemon/peers:control_plane_bench
#include <benchmark/benchmark.h>
#include <malloc.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <vector>

#include "daemon/peers/test_support.h"

namespace rdmapulse::peers {
namespace {

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void PingRoundTrip(benchmark::State& state) {
  boost::asio::io_context io{1};
  Options options1 = QuickOptions("127.0.0.1:0", "h1", 1);
  Options options2 = QuickOptions("127.0.0.2:0", "h2", 2);
  // 100 pings a second at each end: below the receiver's limit, with sleep in between as in life.
  options1.timers.ping_interval = options2.timers.ping_interval = std::chrono::milliseconds(10);
  Node h1(io, options1);
  Node h2(io, options2);
  h1.plane.SetPeers({{"h2", h2.Address("127.0.0.2"), {}}});
  h2.plane.SetPeers({{"h1", h1.Address("127.0.0.1"), {}}});
  if (!RunUntil(io, [&h1, &h2] { return h1.Up("h2") && h2.Up("h1"); })) {
    return state.SkipWithError("the daemons did not meet");
  }
  const auto pongs = [&h1, &h2] {
    return static_cast<double>(h1.Status("h2").tcp_rtt.count() + h2.Status("h1").tcp_rtt.count());
  };
  const double pongs_before = pongs();
  const double cpu_before = CpuSeconds();
  for (auto _ : state) io.run_for(std::chrono::seconds(1));
  state.counters["cpu_us_per_round_trip"] =
      (CpuSeconds() - cpu_before) / (pongs() - pongs_before) * 1e6;
  h1.plane.Stop();
  h2.plane.Stop();
  io.restart();
  io.run();
}
BENCHMARK(PingRoundTrip)->Iterations(5)->Unit(benchmark::kMillisecond);

// One hub with `peers` peers, each of them a control plane with one peer: twice as many ends.
void MemoryPerPeer(benchmark::State& state) {
  const auto peers = static_cast<std::size_t>(state.range(0));
  boost::asio::io_context io{1};
  Options options = QuickOptions("127.0.0.1:0", "hub", 1);
  options.timers = Timers{};
  Node hub(io, options);
  std::vector<std::unique_ptr<Node>> spokes;
  std::vector<config::Peer> configured;
  for (std::size_t i = 0; i < peers; ++i) {
    Options spoke = QuickOptions("127.0.0.2:0", "h" + std::to_string(i), i + 2);
    spoke.timers = Timers{};
    spokes.push_back(std::make_unique<Node>(io, spoke));
    configured.push_back({spoke.host, spokes.back()->Address("127.0.0.2"), {}});
  }
  const std::size_t before = mallinfo2().uordblks;
  hub.plane.SetPeers(configured);
  for (const auto& spoke : spokes) spoke->plane.SetPeers({{"hub", hub.Address("127.0.0.1"), {}}});
  const auto all_up = [&hub] {
    for (const PeerSnapshot& peer : hub.plane.Status(Clock::now())) {
      if (!peer.up) return false;
    }
    return true;
  };
  for (auto _ : state) {
    if (!RunUntil(io, all_up)) return state.SkipWithError("the daemons did not meet");
  }
  // Past the duplicates of the first dials.
  io.run_for(2 * Timers{}.liveness.idle_after);
  state.counters["heap_bytes_per_peer"] =
      static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(2 * peers);
  hub.plane.Stop();
  for (const auto& spoke : spokes) spoke->plane.Stop();
  io.restart();
  io.run();
}
BENCHMARK(MemoryPerPeer)->Arg(200)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace rdmapulse::peers

int main(int argc, char** argv) {
  spdlog::set_level(spdlog::level::warn);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
