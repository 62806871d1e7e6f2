// The detectors have tests of their own: here it is seen that what happens reaches them.
#include "daemon/verdict.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using health::Condition;
using health::Finding;
using health::State;

constexpr TimePoint kStart = TimePoint(1000s);
constexpr std::uint64_t kEpoch = 1'795'985'600'000'000;

std::vector<DeviceInfo> Device(PortState state) {
  DeviceInfo device;
  device.name = "mlx5_0";
  device.driver = "mlx5";
  PortInfo port;
  port.state = state;
  port.protocol = Protocol::kRoceV2;
  port.rate_bytes_per_second = 12'500'000'000;
  device.ports.push_back(port);
  return {device};
}

class VerdictTest : public ::testing::Test {
 protected:
  void Run(
      Duration how_long, const std::function<void()>& each = [] {}) {
    for (const TimePoint end = now_ + how_long; now_ < end; now_ += 500ms) {
      verdict_.OnDevices(devices_, now_);
      each();
      verdict_.Evaluate(now_, 0ms, false);
    }
  }
  const Finding* Find(Condition condition) {
    const auto& all = *verdict_.Findings();
    const auto found = std::find_if(all.begin(), all.end(), [condition](const Finding& finding) {
      return finding.condition == condition;
    });
    return found == all.end() ? nullptr : &*found;
  }

  TimePoint now_ = kStart;
  std::vector<DeviceInfo> devices_ = Device(PortState::kActive);
  std::vector<Finding> journal_;
  std::vector<std::string> recorded_;
  Verdict verdict_{{.host = "h1",
                    .epoch = kEpoch,
                    .unix_minus_monotonic = std::chrono::microseconds(kEpoch) - 1000s},
                   {},
                   {},
                   {.journal = [this](const Finding& finding) { journal_.push_back(finding); },
                    .record = [this](auto, const Finding& of) { recorded_.push_back(of.id); }}};
};

TEST_F(VerdictTest, AHealthyHostHasNoFindings) {
  Run(60s);
  EXPECT_TRUE(verdict_.Findings()->empty());
  EXPECT_TRUE(journal_.empty());
  EXPECT_TRUE(verdict_.FastPorts(now_).empty());
}

TEST_F(VerdictTest, APortThatGoesDownIsFoundAndSaysWhenInUnixTime) {
  Run(30s);
  devices_ = Device(PortState::kDown);
  Run(10s);
  const Finding* const finding = Find(Condition::kLinkDown);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->state, State::kActive);
  EXPECT_EQ(finding->subject.port, (health::PortName{"mlx5_0", 1}));
  EXPECT_GE(finding->since, std::chrono::microseconds(kEpoch) + 29s);
  EXPECT_LE(finding->since, std::chrono::microseconds(kEpoch) + 32s);
  EXPECT_EQ(verdict_.Series().Totals()[static_cast<std::size_t>(Condition::kLinkDown)], 1U);
  ASSERT_FALSE(journal_.empty());
  EXPECT_EQ(journal_.back().id, finding->id);
  EXPECT_EQ(recorded_, std::vector<std::string>{finding->id});
}

TEST_F(VerdictTest, ADeviceThatIsListedNoMoreIsLost) {
  Run(30s);
  devices_.clear();
  Run(10s);
  EXPECT_NE(Find(Condition::kDeviceLost), nullptr);
}

TEST_F(VerdictTest, ADeviceThatIsExcludedIsNotLost) {
  Run(30s);
  verdict_.SetWanted([](const std::string& device) { return device != "mlx5_0"; });
  Run(1s);  // by a list from before
  devices_.clear();
  Run(30s);
  EXPECT_TRUE(verdict_.Findings()->empty());
  verdict_.SetWanted([](const std::string&) { return true; });
  Run(1s);
  devices_ = Device(PortState::kActive);
  Run(60s);
  EXPECT_TRUE(verdict_.Findings()->empty());
  EXPECT_TRUE(journal_.empty());
  devices_.clear();
  Run(10s);
  EXPECT_NE(Find(Condition::kDeviceLost), nullptr) << "it is looked after again";
}

TEST_F(VerdictTest, WhatWasFoundOfADeviceEndsWhenItIsExcluded) {
  Run(30s);
  devices_ = Device(PortState::kDown);
  Run(10s);
  ASSERT_NE(Find(Condition::kLinkDown), nullptr);
  verdict_.SetWanted([](const std::string&) { return false; });
  Run(1s);
  EXPECT_TRUE(verdict_.Findings()->empty());
  ASSERT_FALSE(journal_.empty());
  EXPECT_EQ(journal_.back().state, State::kOk);
}

TEST_F(VerdictTest, ADeviceThatIsLostAndThenExcludedIsLostNoMore) {
  Run(30s);
  devices_.clear();
  Run(10s);
  ASSERT_NE(Find(Condition::kDeviceLost), nullptr);
  verdict_.SetWanted([](const std::string&) { return false; });
  Run(1s);
  EXPECT_EQ(Find(Condition::kDeviceLost), nullptr);
}

TEST_F(VerdictTest, ADeviceWhosePortsGoBeforeItIsLostToo) {
  Run(30s);
  devices_[0].ports.clear();
  Run(2s);
  devices_.clear();
  Run(10s);
  EXPECT_NE(Find(Condition::kDeviceLost), nullptr);
}

TEST_F(VerdictTest, WhatNeverBeganDoesNotEndInTheJournal) {
  Run(30s);
  devices_ = Device(PortState::kDown);
  Run(10s);
  devices_ = Device(PortState::kActive);
  Run(120s);
  std::map<std::string, bool> begun;
  for (const Finding& finding : journal_) {
    EXPECT_NE(finding.state, State::kSuspect);
    if (finding.state == State::kActive) begun[finding.id] = true;
    EXPECT_TRUE(begun[finding.id]) << finding.id;
  }
  EXPECT_FALSE(begun.empty());
}

TEST_F(VerdictTest, ASessionThatTakesItsTimeToComeIsNotGone) {
  PeerSnapshot peer;
  peer.name = "h2";
  Run(5s, [&] { verdict_.OnPeers({peer}, now_); });
  peer.up = true;
  peer.epoch = kEpoch;
  const auto no_findings = [&] {
    verdict_.OnPeers({peer}, now_);
    EXPECT_TRUE(verdict_.Findings()->empty());
  };
  Run(60s, no_findings);
}

TEST_F(VerdictTest, APeerThatIsSetDifferentlyIsSaidUntilItIsNot) {
  PeerSnapshot peer;
  peer.name = "h2";
  peer.up = true;
  peer.epoch = kEpoch;
  std::vector<std::string> differs = {"mtu: a/1 here has 1024 bytes and b/1 at the peer 4096"};
  const auto tell = [&] {
    verdict_.OnPeers({peer}, now_);
    verdict_.OnPeerConfig("h2", differs, now_);
    verdict_.OnPeerConfig("nobody", differs, now_);
  };
  Run(60s, tell);
  const Finding* const finding = Find(Condition::kConfig);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->state, State::kActive);
  EXPECT_EQ(finding->subject.peer, "h2");
  EXPECT_EQ(verdict_.Findings()->size(), 1U);
  differs.clear();
  Run(30s, tell);
  EXPECT_TRUE(verdict_.Findings()->empty());
}

TEST_F(VerdictTest, ASessionThatNeverComesIsSaidUntilThePeerIsListedNoMore) {
  PeerSnapshot peer;
  peer.name = "h2";
  Run(60s, [&] { verdict_.OnPeers({peer}, now_); });
  const Finding* const finding = Find(Condition::kPeerDown);
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->subject.peer, "h2");
  Run(5s, [&] { verdict_.OnPeers({}, now_); });
  EXPECT_EQ(Find(Condition::kPeerDown), nullptr);
}

TEST_F(VerdictTest, ASessionThatGoesIsSaidAtOnce) {
  PeerSnapshot peer;
  peer.name = "h2";
  peer.up = true;
  peer.epoch = kEpoch;
  Run(30s, [&] { verdict_.OnPeers({peer}, now_); });
  peer.up = false;
  Run(2s, [&] { verdict_.OnPeers({peer}, now_); });
  EXPECT_NE(Find(Condition::kPeerDown), nullptr);
}

TEST_F(VerdictTest, ProbesThatFailWhileTheSessionIsUpAreAPathThatLoses) {
  PeerSnapshot peer;
  peer.name = "h2";
  peer.up = true;
  peer.epoch = kEpoch;
  const probes::PathKey key{.peer = "h2", .local = {"mlx5_0", 1}, .remote = {"mlx5_0", 1}};
  const auto probe = [&](bool good) {
    verdict_.OnPeers({peer}, now_);
    probes::ProbeNews news{.key = key, .sport = 50'000, .posted = now_ - 100ms};
    verdict_.OnProbe(news, now_ - 100ms);
    news.end = good ? probes::ProbeEnd{.outcome = probes::Outcome::kOk, .rtt = 20us}
                    : probes::ProbeEnd{.outcome = probes::Outcome::kFailed, .status = {.code = 12}};
    verdict_.OnProbe(news, now_);
  };
  Run(60s, [&probe] { probe(true); });
  EXPECT_TRUE(verdict_.Findings()->empty());
  Run(60s, [&probe] { probe(false); });
  ASSERT_FALSE(verdict_.Findings()->empty());
  EXPECT_EQ(verdict_.Findings()->front().subject.peer, "h2");
}

}  // namespace
}  // namespace rdmapulse
