#include "probes/lateness.h"

#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

using namespace std::chrono_literals;

const TimePoint kT = TimePoint(1000s);

LateProbe Probe(Duration rtt, Duration self_late = 0ns) {
  return {.posted = kT,
          .completed = kT + rtt,
          .deadline = 100ms,
          .ack_timeout = 537ms,
          .self_late = self_late};
}

TEST(DecideLateTest, WithNewRetransmissionsItWasRepaired) {
  EXPECT_EQ(DecideLate(Probe(200ms), true), Outcome::kLateRetx);
}

TEST(DecideLateTest, WithoutNewRetransmissionsItWasBlocked) {
  EXPECT_EQ(DecideLate(Probe(2s), false), Outcome::kLateBlocked);
}

TEST(DecideLateTest, WithoutACounterTheAckTimeoutDecides) {
  EXPECT_EQ(DecideLate(Probe(537ms - 1ns), std::nullopt), Outcome::kLateBlocked);
  EXPECT_EQ(DecideLate(Probe(537ms), std::nullopt), Outcome::kLateRetx);
}

TEST(DecideLateTest, WithoutACounterDatagramsThatWereLateTooSayThatNothingWasLost) {
  EXPECT_EQ(DecideLate(Probe(2s), std::nullopt, Joint::kSlow), Outcome::kLateBlocked);
  for (const Joint joint : {Joint::kUnknown, Joint::kLossyButRepaired, Joint::kTransport}) {
    EXPECT_EQ(DecideLate(Probe(2s), std::nullopt, joint), Outcome::kLateRetx);
    EXPECT_EQ(DecideLate(Probe(200ms), std::nullopt, joint), Outcome::kLateBlocked)
        << "nothing can have been sent again so soon";
  }
  EXPECT_EQ(DecideLate(Probe(2s), true, Joint::kSlow), Outcome::kLateRetx) << "counters know";
}

TEST(DecideLateTest, WhatOurOwnLoopMadeLateIsNotTheNetworks) {
  EXPECT_EQ(DecideLate(Probe(150ms, 50ms), true), Outcome::kLateSelf);
  EXPECT_EQ(DecideLate(Probe(150ms + 1ns, 50ms), true), Outcome::kLateRetx);
}

TEST(RetransmitHistoryTest, OnlyReadingsThatEncloseTheProbeCount) {
  RetransmitHistory history;
  history.Add(kT - 20ms, kT - 10ms, 5);
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), std::nullopt) << "nothing after it yet";
  history.Add(kT + 100ms, kT + 110ms, 6);
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), std::nullopt) << "read in the middle of it";
  EXPECT_FALSE(history.CoversAfter(kT + 200ms));
  history.Add(kT + 200ms, kT + 210ms, 6);
  EXPECT_TRUE(history.CoversAfter(kT + 200ms));
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), true);
}

TEST(RetransmitHistoryTest, ACounterThatStoodStillDidNotRise) {
  RetransmitHistory history;
  history.Add(kT - 20ms, kT, 5);
  history.Add(kT + 1s, kT + 1s, 5);
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), false);
}

TEST(DecideLateTest, OnIwarpThePeersTcpMayHaveRepairedItUnseen) {
  LateProbe probe = Probe(210ms);
  probe.ack_timeout = 134ms;
  probe.answer_uncounted = true;
  EXPECT_EQ(DecideLate(probe, false), Outcome::kLateRetx) << "past TCP's first wait";
  probe.completed = kT + 120ms;
  EXPECT_EQ(DecideLate(probe, false), Outcome::kLateBlocked) << "before it nothing can have been";
  EXPECT_EQ(DecideLate(probe, true), Outcome::kLateRetx);
}

TEST(RetransmitHistoryTest, AResetTellsNothing) {
  RetransmitHistory history;
  history.Add(kT - 20ms, kT, 500);
  history.Add(kT + 50ms, kT + 60ms, 1);
  history.Add(kT + 1s, kT + 1s, 900);
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), std::nullopt);
}

TEST(RetransmitHistoryTest, AProbeOlderThanAllReadingsIsNotJudged) {
  RetransmitHistory history;
  history.Add(kT + 1s, kT + 1s, 5);
  EXPECT_EQ(history.RoseDuring(kT, kT + 200ms), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::probes
