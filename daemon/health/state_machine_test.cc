#include "daemon/health/state_machine.h"

#include <gtest/gtest.h>

namespace rdmapulse::health {
namespace {

using namespace std::chrono_literals;

class StateMachineTest : public testing::Test {
 protected:
  bool At(Time now, Signs signs, Severity severity = Severity::kWarning) {
    Judgement judgement;
    judgement.signs = signs;
    judgement.severity = severity;
    return machine_.Step(now, judgement, Info(Condition::kEgressBlocked), settings_);
  }

  config::HealthSettings settings_;
  StateMachine machine_;
};

TEST_F(StateMachineTest, GoesThroughItsStatesAndReportsEach) {
  EXPECT_FALSE(At(0s, Signs::kNone));
  EXPECT_TRUE(At(1s, Signs::kSuspect));
  EXPECT_EQ(machine_.state(), State::kSuspect);
  EXPECT_TRUE(At(2s, Signs::kActive));
  EXPECT_EQ(machine_.state(), State::kActive);
  EXPECT_EQ(machine_.since(), Time(1s)) << "it began with the suspicion";
  EXPECT_FALSE(At(3s, Signs::kActive)) << "nothing new";
  EXPECT_TRUE(At(12s, Signs::kClear));
  EXPECT_EQ(machine_.state(), State::kClearing);
  EXPECT_TRUE(At(42s, Signs::kClear));
  EXPECT_EQ(machine_.state(), State::kOk);
}

TEST_F(StateMachineTest, AnActiveFindingStaysForItsDwell) {
  At(0s, Signs::kActive);
  EXPECT_FALSE(At(9'999ms, Signs::kClear));
  EXPECT_TRUE(At(10s, Signs::kClear));
}

TEST_F(StateMachineTest, TheHoldStartsAnewWhenItIsNotOver) {
  At(0s, Signs::kActive);
  At(10s, Signs::kClear);
  EXPECT_FALSE(At(39s, Signs::kNone));
  EXPECT_FALSE(At(68s, Signs::kClear));
  EXPECT_TRUE(At(69s, Signs::kClear));
  EXPECT_EQ(machine_.state(), State::kOk);
}

TEST_F(StateMachineTest, ComingBackWhileClearingIsTheSameIncident) {
  At(0s, Signs::kActive);
  At(10s, Signs::kClear);
  EXPECT_TRUE(At(11s, Signs::kActive));
  EXPECT_EQ(machine_.state(), State::kActive);
  EXPECT_EQ(machine_.incident(), 1U);
}

TEST_F(StateMachineTest, ComingBackWithinTenMinutesReopensTheIncident) {
  At(0s, Signs::kActive);
  At(10s, Signs::kClear);
  At(40s, Signs::kClear);
  EXPECT_TRUE(At(640s, Signs::kActive));
  EXPECT_EQ(machine_.incident(), 1U);
  EXPECT_EQ(machine_.reopened(), 1U);
  EXPECT_EQ(machine_.since(), Time(0s));
  At(650s, Signs::kClear);
  At(680s, Signs::kClear);
  EXPECT_TRUE(At(1'281s, Signs::kActive));
  EXPECT_EQ(machine_.incident(), 2U);
}

TEST_F(StateMachineTest, OnlyARaisedSeverityIsReportedAgain) {
  EXPECT_TRUE(At(0s, Signs::kActive, Severity::kMajor));
  EXPECT_FALSE(At(1s, Signs::kActive, Severity::kWarning));
  EXPECT_EQ(machine_.severity(), Severity::kMajor);
  EXPECT_TRUE(At(2s, Signs::kActive, Severity::kCritical));
}

TEST_F(StateMachineTest, ASuspicionThatIsNotConfirmedEndsQuietly) {
  At(0s, Signs::kSuspect);
  EXPECT_FALSE(At(10s, Signs::kSuspect));
  EXPECT_FALSE(At(39s, Signs::kNone));
  EXPECT_TRUE(At(40s, Signs::kNone));
  EXPECT_EQ(machine_.state(), State::kOk);
}

TEST_F(StateMachineTest, WhatCannotBeJudgedChangesNothing) {
  At(0s, Signs::kActive);
  EXPECT_FALSE(At(1'000s, Signs::kUnknown));
  EXPECT_EQ(machine_.state(), State::kActive);
}

}  // namespace
}  // namespace rdmapulse::health
