// Two whole probers over two verbs transports, on one real loop: what the daemon wires, without its
// sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"
#include "probes/prober.h"
#include "probes/settings.h"
#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using probes::Outcome;
using ::testing::IsEmpty;

const std::vector<probes::Op> kOps = {probes::Op::kWrite0,   probes::Op::kWrite,
                                      probes::Op::kWriteMtu, probes::Op::kRead,
                                      probes::Op::kEcho,     probes::Op::kAtomic};

// A host that probes its peer; the control session between the two is a call on the loop.
class ProbingHost : public probes::PeerLink {
 public:
  ProbingHost(boost::asio::io_context& loop, std::string name, const std::string& device)
      : info(Discovered(device)),
        transport(loop, {.device = {},
                         .ignored = [](const PortId&) { return false; },
                         .journal = [](const std::string&) {}}),
        name_(std::move(name)),
        loop_(loop),
        timer_(loop),
        prober_({.transport = transport,
                 .link = *this,
                 .now = Clock::now,
                 .loop_late = [](TimePoint) { return Duration::zero(); },
                 .ports_changed =
                     [this](const std::vector<probes::PeerPort>& ports) {
                       offered_ = ports;
                       Tell();
                     },
                 .due_changed = [this](TimePoint due) { Arm(due); },
                 .journal = [](const std::string&) {}},
                std::hash<std::string>()(name_)) {}

  void Meet(ProbingHost& peer) {
    peer_ = &peer;
    probes::Settings settings = probes::MakeSettings(config::Config{}, {});
    settings.peers = {peer.name_};
    settings.probes_per_second_per_nic = 10000;
    for (probes::ClassSettings& of_class : settings.classes) {
      of_class.ops = kOps;
      of_class.interval = 5ms;
      of_class.deadline = 5s;  // this machine's load is not the network's lateness
    }
    prober_.Configure(settings);
  }
  // The session's hello: what the peer may know of us.
  void Tell() {
    if (peer_ == nullptr || silent) return;
    boost::asio::post(loop_, [this] {
      peer_->prober_.OnPeer(
          name_, {.host = name_, .epoch = 1, .we_lead = peer_->name_ < name_, .ports = offered_});
    });
  }
  void Discover(TimePoint now = Clock::now()) { transport.SetDevices({info}, now); }
  void Stop() {
    silent = true;
    transport.Stop();
    stopping_ = true;
    timer_.cancel();
  }

  std::vector<probes::PathSnapshot> Paths() const { return prober_.Paths(Clock::now()); }
  bool AllUp() const {
    const auto paths = Paths();
    return !paths.empty() && std::all_of(paths.begin(), paths.end(),
                                         [](const auto& path) { return path.qp_state == "rts"; });
  }
  // Of the series that has the fewest.
  std::uint64_t FewestOk() const {
    std::uint64_t fewest = ~std::uint64_t{0};
    for (const probes::PathSnapshot& path : Paths()) {
      for (const probes::ProbeSeries& series : path.series) {
        fewest = std::min(fewest, series.outcomes[static_cast<std::size_t>(Outcome::kOk)]);
      }
    }
    return fewest;
  }
  std::uint64_t Failed() const {
    std::uint64_t failed = 0;
    for (const probes::PathSnapshot& path : Paths()) {
      for (const probes::ProbeSeries& series : path.series) {
        failed += series.outcomes[static_cast<std::size_t>(Outcome::kFailed)];
      }
    }
    return failed;
  }

  // --- PeerLink
  void RequestConnect(const std::string& /*peer*/, const probes::ConnectRequest& request,
                      Connected connected) override {
    boost::asio::post(loop_, [this, request, connected = std::move(connected)] {
      peer_->prober_.OnConnectRequest(name_, request, connected);
    });
  }
  void TellReady(const std::string& /*peer*/, const probes::PathRef& path) override {
    boost::asio::post(loop_, [this, path] { peer_->prober_.OnReady(name_, path); });
  }
  void TellLost(const std::string& /*peer*/, const probes::PathRef& path,
                const std::string& why) override {
    boost::asio::post(loop_, [this, path, why] { peer_->prober_.OnLost(name_, path, why); });
  }

  DeviceInfo info;
  VerbsTransport transport;
  bool silent = false;

 private:
  void Arm(TimePoint due) {
    if (stopping_) return;
    timer_.expires_at(due);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (error) return;
      prober_.Tick(Clock::now());
      if (prober_.NextDue() != TimePoint::max()) Arm(prober_.NextDue());
    });
  }

  std::string name_;
  boost::asio::io_context& loop_;
  boost::asio::steady_timer timer_;
  ProbingHost* peer_ = nullptr;
  std::vector<probes::PeerPort> offered_;
  bool stopping_ = false;
  probes::Prober prober_;
};

class TwoHostsTest : public ::testing::Test {
 protected:
  TwoHostsTest() {
    verbs_.AddDevice("fake_0", {RocePort("10.0.0.1")});
    verbs_.AddDevice("fake_1", {RocePort("10.0.0.2")});
  }
  void TearDown() override {
    h1_.Stop();
    h2_.Stop();
    loop_.restart();
    loop_.run_for(10s);
    EXPECT_TRUE(loop_.stopped()) << "the loop did not end by itself";
    EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());
    EXPECT_THAT(verbs_.Misuse(), IsEmpty());
  }

  bool RunUntil(const std::function<bool()>& condition) {
    return verbs::RunUntil(loop_, condition);
  }
  void Meet() {
    h1_.Meet(h2_);
    h2_.Meet(h1_);
    h1_.Discover();
    h2_.Discover();
    ASSERT_TRUE(BothProbeMore());
  }
  // Every op of every class, on both hosts, over QPs that are up.
  bool BothProbeMore() {
    if (!RunUntil([this] { return h1_.AllUp() && h2_.AllUp(); })) return false;
    const std::uint64_t enough = std::max(h1_.FewestOk(), h2_.FewestOk()) + 5;
    return RunUntil(
        [this, enough] { return h1_.FewestOk() >= enough && h2_.FewestOk() >= enough; });
  }
  bool NothingIsOpenOn(const std::string& device) {
    const std::vector<std::string> live = verbs_.LiveObjects();
    return std::none_of(live.begin(), live.end(), [&device](const std::string& object) {
      return object.ends_with(" of " + device);
    });
  }

  fakes::Ibverbs verbs_;
  boost::asio::io_context loop_{1};
  ProbingHost h1_{loop_, "h1", "fake_0"};
  ProbingHost h2_{loop_, "h2", "fake_1"};
};

TEST_F(TwoHostsTest, ProbeEachOtherWithEveryOpOverAQpPairForEachClassAndSourcePort) {
  Meet();
  EXPECT_EQ(h1_.Failed() + h2_.Failed(), 0U);
  const std::vector<fakes::FakeQp> qps = verbs_.Qps();
  std::map<std::uint32_t, int> labels;
  for (const fakes::FakeQp& qp : qps) {
    EXPECT_EQ(qp.state, IBV_QPS_RTS);
    ++labels[qp.flow_label];
  }
  EXPECT_EQ(labels.size(), 2U) << "two UDP source ports";
  for (const auto& [label, ends] : labels) {
    EXPECT_NE(label, 0U);
    EXPECT_EQ(ends, 4) << "both classes, there and back";
  }
}

TEST_F(TwoHostsTest, AnMtuMismatchIsMetAtTheSmallerOne) {
  fakes::FakePort narrow = RocePort("10.0.0.2");
  narrow.mtu = IBV_MTU_1024;
  verbs_.SetPort("fake_1", narrow);
  Meet();
  for (const fakes::FakeQp& qp : verbs_.Qps()) EXPECT_EQ(qp.path_mtu_bytes, 1024U);
}

TEST_F(TwoHostsTest, ADeviceThatIsRemovedUnderLoadIsLetGoAndProbedAgainWhenItIsBack) {
  Meet();
  h2_.info.present = false;
  h2_.Discover();
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_1"); }));
  EXPECT_TRUE(RunUntil([this] { return !h1_.AllUp() && !h2_.AllUp(); }));
  EXPECT_EQ(h2_.Failed(), 0U) << "what it had out was torn down by us";
  h2_.info.present = true;
  EXPECT_TRUE(RunUntil([this] {
    h2_.Discover();
    return h2_.transport.Ports().front().usable;
  }));
  EXPECT_TRUE(BothProbeMore());
}

TEST_F(TwoHostsTest, ADeviceThatVanishesUnderLoadIsProbedAgainWhenItIsBack) {
  Meet();
  verbs_.Vanish("fake_1");
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_1"); }));
  EXPECT_TRUE(RunUntil([this] { return !h1_.AllUp() && !h2_.AllUp(); }));
  EXPECT_EQ(h2_.Failed(), 0U);
  verbs_.Return("fake_1");
  EXPECT_TRUE(RunUntil([this] {
    h2_.Discover(Clock::now() + 1h);
    return h2_.transport.Ports().front().usable;
  }));
  EXPECT_TRUE(BothProbeMore());
}

TEST_F(TwoHostsTest, AnAddressThatIsReplacedUnderLoadIsProbedAtItsNewIndex) {
  Meet();
  fakes::FakePort moved = RocePort("10.0.0.3");
  moved.gids[0].index = 3;
  verbs_.SetPort("fake_1", moved);
  verbs_.RaisePort("fake_1", 1, IBV_EVENT_GID_CHANGE);
  EXPECT_TRUE(RunUntil([this] { return !h1_.AllUp() && !h2_.AllUp(); }));
  EXPECT_TRUE(BothProbeMore());
  for (const fakes::FakeQp& qp : verbs_.Qps()) {
    EXPECT_EQ(qp.gid_index, qp.device == "fake_1" ? 3U : 1U);
  }
}

TEST_F(TwoHostsTest, CompletionsThatNeverComeAreOverdueUntilTheyDo) {
  Meet();
  verbs_.WithholdCompletions();
  EXPECT_TRUE(RunUntil([this] {
    const auto paths = h1_.Paths();
    return std::all_of(paths.begin(), paths.end(), [](const probes::PathSnapshot& path) {
      return std::any_of(path.series.begin(), path.series.end(),
                         [](const auto& series) { return series.oldest_outstanding > 100ms; });
    });
  }));
  verbs_.DeliverCompletions();
  EXPECT_TRUE(BothProbeMore());
  EXPECT_EQ(h1_.Failed() + h2_.Failed(), 0U);
}

}  // namespace
}  // namespace rdmapulse::verbs
