// Paths by source port: a queue pair that is built anew may go by another one.
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/health/probe_book.h"
#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

ProbePath PathBy(std::uint32_t sport, ProbeClass traffic_class = ProbeClass::kLossless) {
  return {"h2", traffic_class, "write0", sport, {}};
}

ProbeResult Result(Time posted, const ProbePath& path, bool ok) {
  ProbeResult result{.time = posted, .posted = posted, .path = path};
  if (ok) result.rtt = 10us;
  if (!ok) result.outcome = ProbeOutcome::kFailed;
  return result;
}

class SourcePortsTest : public testing::Test {
 protected:
  void Seconds(int count, std::uint32_t sport, bool ok) {
    for (int i = 0; i < count; ++i) {
      for (const ProbeClass each : {ProbeClass::kLossless, ProbeClass::kControl}) {
        host_.engine.Add(Result(host_.now, PathBy(sport, each), ok));
      }
      host_.Run(1s, {});
    }
  }
  void Session(bool up, std::uint64_t epoch) {
    host_.engine.Add(PeerSample{host_.now, "h2", up, epoch});
  }

  TestHost host_;
};

TEST_F(SourcePortsTest, APeerThatReturnsByOtherPortsIsNotDown) {
  Session(true, 1);
  for (std::uint64_t round = 1; round <= 3; ++round) {
    const auto sport = static_cast<std::uint32_t>(50'000 + round);
    Seconds(20, sport, true);
    Session(false, round);
    Seconds(10, sport, false);
    ASSERT_EQ(host_.Last(Condition::kPeerDown)->state, State::kActive) << round;
    Session(true, round + 1);
    Seconds(60, sport + 1, true);
    EXPECT_EQ(host_.Last(Condition::kPeerDown)->state, State::kOk) << round;
  }
}

TEST_F(SourcePortsTest, ABlackHoledPortIsNamed) {
  Session(true, 1);
  for (int i = 0; i < 30; ++i) {
    for (const ProbeClass each : {ProbeClass::kLossless, ProbeClass::kControl}) {
      host_.engine.Add(Result(host_.now, PathBy(50'216, each), i < 10));
      host_.engine.Add(Result(host_.now, PathBy(61'234, each), true));
    }
    host_.Run(1s, {});
  }
  const Finding* const finding = host_.Last(Condition::kPathLoss);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->state, State::kActive);
  std::string said;
  for (const Evidence& evidence : finding->evidence) said += evidence.text + "; ";
  EXPECT_NE(said.find("by UDP source port 50216 to this peer did not come through"), said.npos)
      << said;
  EXPECT_EQ(said.find("61234"), said.npos) << said;
}

// By two source ports all write_mtu are lost, and by the second one, if it is bad, the others too.
class LargePacketsTest : public SourcePortsTest {
 protected:
  std::string Said(bool second_is_bad) {
    Session(true, 1);
    for (int i = 0; i < 30; ++i) {
      for (const std::uint32_t sport : {50'216U, 61'234U}) {
        ProbePath large = PathBy(sport);
        large.op = "write_mtu";
        host_.engine.Add(Result(host_.now, PathBy(sport), !second_is_bad || sport != 61'234));
        host_.engine.Add(Result(host_.now, large, false));
      }
      host_.Run(1s, {});
    }
    std::string said;
    const Finding* const finding = host_.Last(Condition::kPathLoss);
    if (finding == nullptr) return said;
    for (const Evidence& evidence : finding->evidence) said += evidence.text + "; ";
    return said;
  }
};

TEST_F(LargePacketsTest, WhereOnlyTheyAreLostTheMtuIsNamed) {
  const std::string said = Said(false);
  EXPECT_NE(said.find("write_mtu were lost on 2 paths to this peer, smaller messages"), said.npos)
      << said;
}

TEST_F(LargePacketsTest, WhereOthersAreLostTooItIsNot) {
  const std::string said = Said(true);
  EXPECT_EQ(said.find("smaller messages"), said.npos) << said;
  EXPECT_NE(said.find("most of the last five probes did not come through on 3 paths"), said.npos)
      << said;
}

// The last of the other class' paths is dead, not all of them.
TEST_F(SourcePortsTest, AClassThatIsDeadIsNoDeadPeerWhereTheOtherComesThroughByOnePort) {
  Session(true, 1);
  for (int i = 0; i < 18; ++i) {
    const bool well = i < 10;
    host_.engine.Add(Result(host_.now, PathBy(50'216, ProbeClass::kControl), true));
    host_.engine.Add(Result(host_.now, PathBy(61'234, ProbeClass::kControl), well));
    host_.engine.Add(Result(host_.now, PathBy(50'216), well));
    host_.engine.Add(Result(host_.now, PathBy(61'234), well));
    host_.Run(1s, {});
  }
  EXPECT_TRUE(std::any_of(host_.said.begin(), host_.said.end(), [](const Finding& finding) {
    return finding.condition == Condition::kPathLoss && finding.state == State::kActive &&
           finding.subject.traffic_class == "lossless" && finding.severity == Severity::kMajor;
  }));
}

// The old ports' paths, bad to the last, are no sign that its NIC does not answer.
TEST_F(SourcePortsTest, AnAgentThatIsStoppedAfterARestartIsToldFromADeadHost) {
  Session(true, 1);
  Seconds(20, 50'001, true);
  Session(false, 1);
  Seconds(5, 50'001, false);
  Session(true, 2);
  Seconds(20, 50'002, true);
  Session(false, 2);
  Seconds(6, 50'002, true);
  ASSERT_NE(host_.Last(Condition::kPeerOverloaded), nullptr);
  EXPECT_EQ(host_.Last(Condition::kPeerOverloaded)->state, State::kActive);
}

TEST(ProbeBookTest, ForgetsAPathThatAnotherPortHasTakenOver) {
  const config::HealthSettings settings;
  ProbeBook book(settings);
  Time now = 0s;
  const auto seconds = [&book, &now](int count, std::initializer_list<std::uint32_t> sports) {
    for (int i = 0; i < count; ++i) {
      now += 1s;
      for (const std::uint32_t sport : sports) {
        book.Add(Result(now, PathBy(sport), true), std::nullopt, false);
      }
      book.Prune(now);
    }
  };
  seconds(100, {1, 2});
  EXPECT_EQ(book.paths().size(), 2U) << "two that are in use";
  seconds(50, {2, 3});
  EXPECT_EQ(book.paths().size(), 3U) << "a minute is remembered";
  seconds(30, {2, 3});
  EXPECT_EQ(book.paths().size(), 2U);
  seconds(1, {});
  now += 10min;
  book.Prune(now);
  EXPECT_EQ(book.paths().size(), 2U) << "the last that is known of a peer stays";
}

}  // namespace
}  // namespace rdmapulse::health
