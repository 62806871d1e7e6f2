#include "probes/joint.h"

#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

constexpr DatagramsSeen kNone;
constexpr DatagramsSeen kInTime{.in_time = 2, .late = 0, .lost = 0};
constexpr DatagramsSeen kLate{.in_time = 0, .late = 2, .lost = 0};
constexpr DatagramsSeen kLost{.in_time = 0, .late = 0, .lost = 2};

TEST(JointTest, LateOnRcAndLostAsADatagramIsLossThatIsRepaired) {
  EXPECT_EQ(Join(RcState::kLate, kLost), Joint::kLossyButRepaired);
  EXPECT_EQ(Join(RcState::kLate, {.in_time = 1, .late = 1, .lost = 1}), Joint::kLossyButRepaired);
}

TEST(JointTest, LateAsBothIsSlow) {
  EXPECT_EQ(Join(RcState::kLate, kLate), Joint::kSlow);
  EXPECT_EQ(Join(RcState::kWaiting, kLate), Joint::kSlow);
  EXPECT_EQ(Join(RcState::kLate, {.in_time = 1, .late = 1, .lost = 0}), Joint::kSlow);
}

TEST(JointTest, LateOnRcAloneIsTheTransports) {
  EXPECT_EQ(Join(RcState::kLate, kInTime), Joint::kTransport);
  EXPECT_EQ(Join(RcState::kWaiting, kInTime), Joint::kTransport);
  EXPECT_EQ(Join(RcState::kFailed, kInTime), Joint::kTransport);
}

TEST(JointTest, WhatWaitsWhileNoDatagramArrivesIsBlockedOrDead) {
  EXPECT_EQ(Join(RcState::kWaiting, kLost), Joint::kBlocked);
  EXPECT_EQ(Join(RcState::kFailed, kLost), Joint::kBlocked);
  EXPECT_EQ(Join(RcState::kWaiting, {.in_time = 1, .late = 0, .lost = 1}),
            Joint::kLossyButRepaired);
}

TEST(JointTest, WithoutDatagramsOrWithRcWellNothingIsSaid) {
  for (const RcState rc :
       {RcState::kUnknown, RcState::kInTime, RcState::kWaiting, RcState::kLate, RcState::kFailed}) {
    EXPECT_EQ(Join(rc, kNone), Joint::kUnknown);
  }
  // The peer's daemon may be what does not answer.
  EXPECT_EQ(Join(RcState::kInTime, kLost), Joint::kUnknown);
  EXPECT_EQ(Join(RcState::kInTime, kLate), Joint::kUnknown);
  EXPECT_EQ(Name(Joint::kUnknown), "");
  EXPECT_EQ(InWords(Joint::kUnknown), "");
}

}  // namespace
}  // namespace rdmapulse::probes
