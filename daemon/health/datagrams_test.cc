// Datagrams beside RC probes: evidence that is heard, and believed less.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "daemon/health/test_trace.h"

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

class DatagramsTest : public testing::Test {
 protected:
  // A second each: RC probes of both classes, and every tenth a datagram by the next of 8 ways; one
  // that is lost is asked twice more, as the prober does.
  void Seconds(int count, const std::function<bool(std::uint32_t way)>& arrives, bool rc_ok = true,
               bool session = true) {
    for (int i = 0; i < count; ++i) {
      host_.engine.Add(PeerSample{host_.now, "h2", session, 1});
      for (const ProbeClass each : {ProbeClass::kLossless, ProbeClass::kControl}) {
        Add({"h2", each, "write0", 50'000, {}}, rc_ok || each == ProbeClass::kControl);
      }
      // Every second one while RC is bad.
      if (again_ == 0 && (!rc_ok || second_++ % 10 == 0)) {
        way_ = (way_ + 1) % 8;
        again_ = 3;
      }
      if (again_ > 0) {
        const bool ok = arrives(way_);
        Add({"h2", ProbeClass::kLossless, "ud", 51'000 + way_, {}}, ok);
        again_ = ok ? 0 : again_ - 1;
      }
      host_.Run(1s, {});
    }
  }
  void Add(const ProbePath& path, bool ok) {
    ProbeResult result{.time = host_.now, .posted = host_.now, .path = path};
    if (ok) result.rtt = 10us;
    if (!ok) {
      result.outcome = ProbeOutcome::kFailed;
      result.status = path.op == "ud" ? std::string(kNoAnswer) : "transport retry exceeded";
    }
    host_.engine.Add(result);
  }
  bool Says(Condition condition, const std::string& words) const {
    const Finding* const finding = host_.Last(condition);
    if (finding == nullptr) return false;
    return std::any_of(
        finding->evidence.begin(), finding->evidence.end(),
        [&words](const auto& fact) { return fact.text.find(words) != std::string::npos; });
  }

  TestHost host_;
  std::uint32_t way_ = 0;
  int second_ = 0;
  int again_ = 0;
};

TEST_F(DatagramsTest, AWayThatOnlyDatagramsTakeAndThatIsDeadIsAWarning) {
  Seconds(60, [](std::uint32_t) { return true; });
  Seconds(100, [](std::uint32_t way) { return way != 3; });
  const Finding* const finding = host_.Last(Condition::kPathLoss);
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(host_.States(Condition::kPathLoss).find("active"), std::string::npos);
  EXPECT_EQ(finding->severity, Severity::kWarning);
  EXPECT_LE(finding->confidence, 0.7);
}

TEST_F(DatagramsTest, APeersDaemonThatAnswersNoneIsNoLossOfTheNetwork) {
  Seconds(60, [](std::uint32_t) { return true; });
  Seconds(120, [](std::uint32_t) { return false; });
  EXPECT_EQ(host_.States(Condition::kPathLoss).find("active"), std::string::npos);
  EXPECT_EQ(host_.Last(Condition::kPeerDown), nullptr);
  EXPECT_EQ(host_.Last(Condition::kPeerOverloaded), nullptr);
}

TEST_F(DatagramsTest, SomeThatAreLostByDifferentWaysAreASuspicion) {
  int sent = 0;
  Seconds(120, [&sent](std::uint32_t) { return ++sent % 3 != 0; });
  EXPECT_NE(host_.States(Condition::kPathLoss).find("suspect"), std::string::npos);
  EXPECT_EQ(host_.States(Condition::kPathLoss).find("active"), std::string::npos);
}

TEST_F(DatagramsTest, WhatRcLosesSaysWhatDatagramsMet) {
  Seconds(60, [](std::uint32_t) { return true; });
  Seconds(
      30, [](std::uint32_t) { return false; }, false);
  ASSERT_EQ(host_.Last(Condition::kPathLoss)->state, State::kActive);
  EXPECT_TRUE(Says(Condition::kPathLoss, "sent as datagrams met the same: none was answered"));
}

TEST_F(DatagramsTest, ThoseThatAreLostChangeNothingOfRcsOwnRules) {
  Seconds(30, [](std::uint32_t) { return false; });
  Seconds(
      15, [](std::uint32_t) { return false; }, false, false);
  EXPECT_EQ(host_.Last(Condition::kPeerDown), nullptr) << "the control class is well";
}

}  // namespace
}  // namespace rdmapulse::health
