// Paths over iWARP, where only a READ is a round trip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "probes/prober.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using ::testing::ElementsAre;
using namespace std::chrono_literals;

class ProberIwarpTest : public ::testing::Test {
 protected:
  ProberIwarpTest() {
    for (const std::string name : {"h1", "h2"}) {
      TransportPort port = fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2", "siw0");
      port.protocol = Protocol::kIwarp;
      fabric_.AddHost(name).SetPort(port);
    }
    h1().StartProber(fakes::DefaultSettings({"h2"}));
    fabric_.host("h2").StartProber(fakes::DefaultSettings({"h1"}));
    fabric_.ConnectSession("h1", "h2");
    fabric_.Advance(1s);
  }
  Fabric::Host& h1() { return fabric_.host("h1"); }
  std::vector<Op> OpsOf(const PathSnapshot& path) {
    std::vector<Op> ops;
    for (const ProbeSeries& series : path.series) ops.push_back(series.op);
    return ops;
  }

  Fabric fabric_;
};

TEST_F(ProberIwarpTest, EveryClassReadsWhateverItsOpsAre) {
  fabric_.Advance(5s);
  const std::vector<PathSnapshot> paths = h1().prober().Paths(fabric_.now());
  ASSERT_EQ(paths.size(), 2U);
  for (const PathSnapshot& path : paths) {
    EXPECT_EQ(path.qp_state, "rts") << path.problem;
    ASSERT_THAT(OpsOf(path), ElementsAre(Op::kRead));
    EXPECT_GE(path.series[0].outcomes[static_cast<std::size_t>(Outcome::kOk)], 4U);
  }
}

TEST_F(ProberIwarpTest, ANewConfigurationChangesNothingInThat) {
  Settings settings = fakes::DefaultSettings({"h2"});
  settings.classes[0].ops = {Op::kWrite, Op::kWrite0};
  h1().prober().Configure(settings);
  for (const PathSnapshot& path : h1().prober().Paths(fabric_.now())) {
    EXPECT_THAT(OpsOf(path), ElementsAre(Op::kRead));
  }
}

TEST_F(ProberIwarpTest, AnAskedWriteIsRefusedInOneSentenceAndAReadIsSent) {
  std::vector<AskedProbe> answers;
  const auto answer = [&answers](const AskedProbe& asked) { answers.push_back(asked); };
  h1().prober().Ask("h2", Op::kWrite0, Class::kLossless, answer);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].posted);
  EXPECT_EQ(answers[0].note,
            "write0 says nothing on iWARP, where a write completes before it has arrived: use "
            "--op read");
  h1().prober().Ask("h2", Op::kRead, Class::kLossless, answer);
  fabric_.Advance(10ms);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[1].outcome, Outcome::kOk);
}

TEST_F(ProberIwarpTest, AnAskedProbeWithoutAnOpIsARead) {
  std::vector<AskedProbe> answers;
  h1().prober().Ask("h2", std::nullopt, Class::kLossless,
                    [&answers](const AskedProbe& asked) { answers.push_back(asked); });
  fabric_.Advance(10ms);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].op, Op::kRead);
  EXPECT_EQ(answers[0].outcome, Outcome::kOk);
}

}  // namespace
}  // namespace rdmapulse::probes
