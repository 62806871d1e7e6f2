// Peers that come and go while others are probed, over a fake fabric whose clock the test moves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "probes/prober.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using namespace std::chrono_literals;

class ProberPeersTest : public ::testing::Test {
 protected:
  ProberPeersTest() {
    for (const std::string name : {"h1", "h2", "h3"}) {
      Fabric::Host& host = fabric_.AddHost(name);
      host.SetPort(fakes::RocePort("10.0.0." + name.substr(1)));
      host.StartProber(fakes::DefaultSettings({"h1"}));
    }
    h1().prober().Configure(fakes::DefaultSettings({"h2"}));
  }

  Fabric::Host& h1() { return fabric_.host("h1"); }
  Fabric::Host& h2() { return fabric_.host("h2"); }
  void Connect(const std::string& peer) {
    fabric_.ConnectSession("h1", peer);
    fabric_.Advance(1s);
    ASSERT_EQ(fabric_.host(peer).qps(), 2U);
  }
  // How many probes came back well, of the peer's paths that were never rebuilt.
  std::uint64_t Answers(const std::string& peer) {
    std::uint64_t answers = 0;
    for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
      if (path.key.peer != peer || path.rebuilds != 0) continue;
      for (const ProbeSeries& series : path.series) {
        answers += series.outcomes[static_cast<std::size_t>(Outcome::kOk)];
      }
    }
    return answers;
  }

  Fabric fabric_;
};

TEST_F(ProberPeersTest, APeerThatIsRemovedIsProbedNoMore) {
  Connect("h2");
  h1().prober().Configure(fakes::DefaultSettings({}));
  EXPECT_THAT(h1().prober().Paths(fabric_.now()), IsEmpty());
  EXPECT_EQ(h1().qps(), 0U);
}

TEST_F(ProberPeersTest, PeersThatComeAndGoLeaveTheOthersQpsAlone) {
  Connect("h2");
  fabric_.Advance(10s);
  EXPECT_GE(Answers("h2"), 28U) << "three a second";
  h1().prober().Configure(fakes::DefaultSettings({"h2", "h3"}));
  Connect("h3");
  fabric_.Advance(10s);
  EXPECT_EQ(h1().qps(), 4U);
  EXPECT_GE(Answers("h2"), 61U);
  EXPECT_GE(Answers("h3"), 28U);
  fabric_.CutSession("h1", "h3");
  h1().prober().Configure(fakes::DefaultSettings({"h2"}));
  fabric_.Advance(10s);
  EXPECT_EQ(h1().qps(), 2U);
  EXPECT_GE(Answers("h2"), 91U);
  EXPECT_EQ(Answers("h3"), 0U);
}

// Ours passed it over, its own selection did not: its list is newer.
TEST_F(ProberPeersTest, AGuestIsProbedForAsLongAsItsSessionLasts) {
  h2().prober().Configure(fakes::DefaultSettings({}));
  Connect("h2");
  h2().prober().Configure(fakes::DefaultSettings({}));
  EXPECT_EQ(h2().qps(), 2U) << "a reload does not send it away";
  fabric_.CutSession("h1", "h2");
  fabric_.Advance(1s);
  EXPECT_EQ(h2().qps(), 0U);
  EXPECT_THAT(h2().prober().Paths(fabric_.now()), IsEmpty());
  EXPECT_THAT(h1().prober().Paths(fabric_.now()), SizeIs(2)) << "which keeps what it chose";
}

TEST_F(ProberPeersTest, TheBudgetServesGuestsLast) {
  Fabric::Host& guest = fabric_.AddHost("a_guest");
  guest.SetPort(fakes::RocePort("10.0.0.9"));
  guest.StartProber(fakes::DefaultSettings({"h1"}));
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.qps_per_nic = 2;
  h1().prober().Configure(settings);
  fabric_.ConnectSession("h1", "a_guest");
  fabric_.ConnectSession("h1", "h2");
  fabric_.Advance(20s);
  EXPECT_EQ(h1().qps(), 2U);
  EXPECT_EQ(h2().qps(), 2U);
  for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
    EXPECT_EQ(path.qp_state == "rts", path.key.peer == "h2") << Text(path.key);
  }
}

}  // namespace
}  // namespace rdmapulse::probes
