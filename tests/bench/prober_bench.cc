// What the prober itself costs with a thousand peers and more probes a second than one NIC is asked
// for by default: CPU a probe, heap a peer, and how late probes are posted. The transport under it
// completes everything 200 µs later, and the sessions agree at once; beside it stands what that
// transport takes without a prober.
//
//   prober_bench [PEERS]      1000
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "config/config.h"
#include "probes/prober.h"

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRoundTrip = 200us;
const PortId kPort{"mlx5_0", 1};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double HeapBytes() { return static_cast<double>(mallinfo2().uordblks); }

// One port, whose every peer is there and answers.
class Answering : public Transport, public PeerLink {
 public:
  explicit Answering(std::function<TimePoint()> now) : now_(std::move(now)) {}

  // Tells what is due by now; work that the handlers give out is for the next call.
  void Deliver() {
    for (std::deque<std::function<void()>> later = std::exchange(later_, {}); !later.empty();
         later.pop_front()) {
      later.front()();
    }
    Poll();
  }
  TimePoint NextDue() const {
    if (!later_.empty()) return now_();
    return posted_.empty() ? TimePoint::max() : posted_.front().due;
  }
  std::uint64_t posts() const { return posts_; }

  void SetHandlers(Handlers handlers) override { handlers_ = std::move(handlers); }
  std::vector<TransportPort> Ports() const override {
    TransportPort port;
    port.id = kPort;
    port.protocol = Protocol::kRoceV2;
    port.usable = true;
    port.gid = *ParseGid("10.0.0.1");
    port.mtu_bytes = 4096;
    return {port};
  }
  void Open(const PortId& port, const Gid& /*towards*/, const QpAttributes& /*attributes*/,
            Opened opened) override {
    const QpId id = ++last_qp_;
    later_.push_back([id, port, opened = std::move(opened)] {
      opened(std::pair(id, Endpoint(port, static_cast<std::uint32_t>(id))));
    });
  }
  void Connect(QpId /*qp*/, const QpEndpoint& /*remote*/, Transport::Connected connected) override {
    later_.push_back([connected = std::move(connected)] { connected({}); });
  }
  Result<void> Post(QpId /*qp*/, Op /*op*/, std::uint64_t probe) override {
    posted_.push_back({probe, now_() + kRoundTrip});
    ++posts_;
    return {};
  }
  Result<std::uint16_t> PostDatagram(QpId /*qp*/, std::uint32_t /*way*/,
                                     std::uint64_t /*probe*/) override {
    return Fail({"no datagrams here"});
  }
  void Poll() override {
    const TimePoint now = now_();
    while (!posted_.empty() && posted_.front().due <= now) {
      const Posted posted = posted_.front();
      posted_.pop_front();
      handlers_.completed({.probe = posted.probe, .status = {}, .time = {now}});
    }
  }
  void Close(QpId /*qp*/) override {}

  void RequestConnect(const std::string& /*peer*/, const ConnectRequest& request,
                      PeerLink::Connected connected) override {
    later_.push_back([path = request.path, connected = std::move(connected)] {
      connected(ConnectReply{.follower = Endpoint(path.follower_port, 7)});
    });
  }
  void TellReady(const std::string& /*peer*/, const PathRef& /*path*/) override {}
  void TellLost(const std::string& peer, const PathRef& /*path*/, const std::string& why) override {
    std::fprintf(stderr, "prober_bench: %s lost a path: %s\n", peer.c_str(), why.c_str());
  }

 private:
  struct Posted {
    std::uint64_t probe = 0;
    TimePoint due;
  };

  static QpEndpoint Endpoint(const PortId& port, std::uint32_t qpn) {
    QpEndpoint endpoint;
    endpoint.port = port;
    endpoint.protocol = Protocol::kRoceV2;
    endpoint.gid = *ParseGid("10.0.0.2");
    endpoint.qpn = qpn;
    endpoint.mtu_bytes = 4096;
    endpoint.buffer_bytes = 4096;
    return endpoint;
  }

  std::function<TimePoint()> now_;
  Handlers handlers_;
  std::deque<std::function<void()>> later_;
  std::deque<Posted> posted_;
  QpId last_qp_ = 0;
  std::uint64_t posts_ = 0;
};

Settings SettingsFor(std::size_t peers, std::uint32_t source_ports) {
  config::Config config;
  config.paths.source_ports = source_ports;
  config.paths.rotate = config::milliseconds(0);
  config.ud.interval = config::milliseconds(0);
  config.budget.qps_per_nic = 65'536;
  config.budget.probes_per_second_per_nic = 1'000'000;
  Settings settings = MakeSettings(config, {});
  for (ClassSettings& one : settings.classes) one.ops = {Op::kWrite0};
  for (std::size_t i = 0; i < peers; ++i) settings.peers.push_back("h" + std::to_string(i));
  return settings;
}

// A host that probes so many peers, on a clock that is moved or on the machine's own.
class Fleet {
 public:
  Fleet(std::size_t peers, std::uint32_t source_ports)
      : transport_([this] { return Now(); }),
        prober_({.transport = transport_,
                 .link = transport_,
                 .now = [this] { return Now(); },
                 .loop_late = [](TimePoint) { return Duration::zero(); },
                 .ports_changed = [](const auto&) {},
                 .due_changed = [](TimePoint) {},
                 .journal = [](const std::string&) {},
                 .news = [](const ProbeNews&) {}},
                1) {
    prober_.Configure(SettingsFor(peers, source_ports));
    for (std::size_t i = 0; i < peers; ++i) {
      PeerInfo info{.host = "h" + std::to_string(i), .epoch = 1, .we_lead = true, .ports = {}};
      info.ports.push_back({.id = kPort,
                            .protocol = Protocol::kRoceV2,
                            .mtu_bytes = 4096,
                            .gid = *ParseGid("10.0.0.2"),
                            .streams = source_ports});
      prober_.OnPeer(info.host, info);
    }
  }

  std::uint64_t posts() const { return transport_.posts(); }
  std::size_t PathsUp() const {
    const auto paths = prober_.Paths(moved_);
    return static_cast<std::size_t>(
        std::count_if(paths.begin(), paths.end(),
                      [](const PathSnapshot& path) { return path.qp_state == "rts"; }));
  }

  void Move(Duration duration) {
    const TimePoint end = moved_ + duration;
    while (true) {
      const TimePoint next = std::min(prober_.NextDue(), transport_.NextDue());
      if (next > end) break;
      moved_ = std::max(moved_, next);
      Turn();
    }
    moved_ = end;
  }

  // By the machine's clock from here on: how late each wake's last probe was posted.
  std::vector<Duration> Live(Duration duration) {
    shift_ = moved_ - Clock::now();
    live_ = true;
    std::vector<Duration> late;
    for (const TimePoint end = Now() + duration; Now() < end;) {
      const TimePoint due = prober_.NextDue();
      const TimePoint next = std::min(due, transport_.NextDue());
      std::this_thread::sleep_for(next - Now());
      const std::uint64_t before = posts();
      Turn();
      if (posts() > before && due <= Now()) late.insert(late.end(), posts() - before, Now() - due);
    }
    return late;
  }

 private:
  TimePoint Now() const { return live_ ? Clock::now() + shift_ : moved_; }
  void Turn() {
    transport_.Deliver();
    prober_.Tick(Now());
  }

  TimePoint moved_{1h};
  Duration shift_{};
  bool live_ = false;
  Answering transport_;
  Prober prober_;
};

// The transport and the clock without a prober: what of the cost is the bench's own.
double FloorSeconds(std::uint64_t probes) {
  TimePoint now{1h};
  Answering transport([&now] { return now; });
  std::uint64_t completed = 0;
  transport.SetHandlers(
      {.completed = [&completed](const Completion&) { ++completed; }, .port_changed = {}});
  const double before = CpuSeconds();
  for (std::uint64_t i = 0; i < probes; ++i) {
    static_cast<void>(transport.Post(1, Op::kWrite0, i));
    now += kRoundTrip;
    transport.Poll();
  }
  return completed == probes ? CpuSeconds() - before : 0;
}

void Measure(std::size_t peers, std::uint32_t source_ports) {
  const double heap_before = HeapBytes();
  Fleet fleet(peers, source_ports);
  fleet.Move(10min);  // not more than ten paths a second are made
  const double heap = HeapBytes() - heap_before;
  const std::uint64_t posts_before = fleet.posts();
  const double cpu_before = CpuSeconds();
  constexpr int kSeconds = 120;
  fleet.Move(std::chrono::seconds(kSeconds));
  const double cpu = CpuSeconds() - cpu_before;
  const std::uint64_t probes = fleet.posts() - posts_before;
  const double floor = FloorSeconds(probes);
  std::vector<Duration> late = fleet.Live(10s);
  std::sort(late.begin(), late.end());
  const auto at = [&late](double share) {
    if (late.empty()) return 0.0;
    const auto index = static_cast<std::size_t>(share * static_cast<double>(late.size() - 1));
    return std::chrono::duration<double, std::micro>(late[index]).count();
  };
  std::printf(
      "%zu peers, %u source ports: %zu paths up, %.0f probes a second: %.2f %% of a core, %.2f µs "
      "a "
      "probe (%.2f µs of that the bench's own), %.1f KiB of heap a peer; posted late by p50 %.0f "
      "µs, p99 %.0f µs\n",
      peers, source_ports, fleet.PathsUp(), static_cast<double>(probes) / kSeconds,
      100 * cpu / kSeconds, 1e6 * cpu / static_cast<double>(probes),
      1e6 * floor / static_cast<double>(probes), heap / 1024 / static_cast<double>(peers), at(0.5),
      at(0.99));
}

}  // namespace
}  // namespace rdmapulse::probes

int main(int argc, char** argv) {
  const std::size_t peers = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
  if (peers == 0) {
    std::fprintf(stderr, "usage: prober_bench [PEERS]\n");
    return 2;
  }
  rdmapulse::probes::Measure(peers, 1);
  rdmapulse::probes::Measure(peers, 2);
  return 0;
}
