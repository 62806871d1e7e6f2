#include "daemon/cli/record/probe_rows.h"

#include <gtest/gtest.h>

#include "daemon/health/trace/writer.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;

std::string Out(int time_us, const std::string& op = "write0", const std::string& peer = "h2") {
  return R"({"time_us":)" + std::to_string(time_us) + R"(,"peer":")" + peer +
         R"(","device":"mlx5_0","port":1,"op":")" + op + R"(","class":"lossless","sport":50000)";
}

std::string Over(int time_us, const std::string& op = "write0") {
  return Out(time_us, op) + R"(,"outcome":"ok","status":"success","rtt_seconds":2E-5})";
}

constexpr health::Time kLongAfter = 1h;

class ProbeRowsTest : public ::testing::Test {
 protected:
  void Add(const std::string& line) {
    const Result<void> added = rows_.AddProbe(line);
    EXPECT_TRUE(added) << added.error().Text();
  }

  ProbeRows rows_{"h1", ProbeRows::Peers::kByName, 3us};
};

// time_us,src,dst,device,port,class,kind,sport,rtt_us,outcome,status,responder_us,session_up,
// peer_epoch
TEST_F(ProbeRowsTest, AProbeIsARowAtTheTimeOfItsPosting) {
  Add(Out(5) + "}");
  Add(Out(7, "read") + "}");
  Add(Out(7, "read") + R"(,"outcome":"failed","status":"retry exceeded","rtt_seconds":null,)" +
      R"("learned_us":507})");
  EXPECT_EQ(rows_.TakeFinished(kLongAfter), "") << "the first is still out";
  Add(Out(5) + R"(,"outcome":"ok","status":"success","rtt_seconds":2.05E-5,"learned_us":26})");
  EXPECT_EQ(rows_.TakeFinished(kLongAfter),
            "5,h1,h2,mlx5_0,1,lossless,write0,50000,20.5,ok,,,,\n"
            "7,h1,h2,mlx5_0,1,lossless,read,50000,500,failed,retry exceeded,,,\n");
  EXPECT_EQ(rows_.Size(), 2U);
  EXPECT_EQ(rows_.Held(), 0U);
}

TEST_F(ProbeRowsTest, OneThatIsStillOutAtTheEndHasNoEnd) {
  Add(Out(5) + "}");
  EXPECT_EQ(rows_.TakeAll(), "5,h1,h2,mlx5_0,1,lossless,write0,50000,,,,,,\n");
  Add(Out(5) + R"(,"outcome":"ok","status":"success","rtt_seconds":2E-5})");
  EXPECT_EQ(rows_.TakeAll(), "");
}

TEST_F(ProbeRowsTest, OneThatCameBackLateWithoutAnOutcomeYetKeepsItsRoundTrip) {
  Add(Out(5) + "}");
  Add(Out(5) + R"(,"outcome":null,"status":"success","rtt_seconds":0.25})");
  EXPECT_EQ(rows_.TakeAll(), "5,h1,h2,mlx5_0,1,lossless,write0,50000,250000,,,,,\n");
}

TEST_F(ProbeRowsTest, OneThatCameBackInTimeIsToldOnceAndWaitsForEarlierOnes) {
  Add(Over(7));
  EXPECT_EQ(rows_.TakeFinished(7us), "");
  Add(Over(5, "read"));
  EXPECT_EQ(rows_.TakeFinished(5us + kProbeToldWithin),
            "5,h1,h2,mlx5_0,1,lossless,read,50000,20,ok,,,,\n");
  EXPECT_EQ(rows_.TakeFinished(7us + kProbeToldWithin),
            "7,h1,h2,mlx5_0,1,lossless,write0,50000,20,ok,,,,\n");
  Add(Over(6));
  EXPECT_EQ(rows_.TakeAll(), "");
  EXPECT_EQ(rows_.late(), 1U);
}

TEST_F(ProbeRowsTest, OneWhoseQueuePairWasRebuiltMeanwhileIsStillTheSame) {
  Add(Out(5) + "}");
  std::string end = Out(5) + R"(,"outcome":"aborted","status":"flushed","rtt_seconds":null,)" +
                    R"("learned_us":105})";
  end.replace(end.find("50000"), 5, "null");
  Add(end);
  EXPECT_EQ(rows_.TakeAll(), "5,h1,h2,mlx5_0,1,lossless,write0,50000,100,aborted,flushed,,,\n");
}

TEST_F(ProbeRowsTest, WhatWentOutBeforeIsPassedOver) {
  Add(Over(2));
  EXPECT_EQ(rows_.TakeAll(), "");
  EXPECT_EQ(rows_.late(), 0U);
}

TEST_F(ProbeRowsTest, ASessionIsARowWhenItIsNotAsItWas) {
  const auto peers = [this](health::Time time, const std::string& session) {
    const Result<void> added =
        rows_.AddPeers(time, R"({"peers":[{"peer":"h2",)" + session + "},{},7]}");
    EXPECT_TRUE(added) << added.error().Text();
  };
  Add(Out(5) + "}");
  peers(10us, R"("up":true,"epoch":3)");
  peers(20us, R"("up":true,"epoch":3)");
  peers(30us, R"("up":false,"epoch":null)");
  Add(Out(15) + "}");
  EXPECT_EQ(rows_.TakeAll(),
            "5,h1,h2,mlx5_0,1,lossless,write0,50000,,,,,,\n"
            "10,h1,h2,,,lossless,connect,,0,ok,,,1,3\n"
            "15,h1,h2,mlx5_0,1,lossless,write0,50000,,,,,,\n"
            "30,h1,h2,,,lossless,connect,,0,failed,,,0,\n");
}

TEST_F(ProbeRowsTest, RowsNeverGoBackInTime) {
  Add(Out(5) + "}");
  rows_.TakeAll();
  Add(Out(4) + "}");
  Add(Out(5, "read") + "}");
  EXPECT_EQ(rows_.TakeAll(), "5,h1,h2,mlx5_0,1,lossless,read,50000,,,,,,\n");
}

TEST(ProbeRowsHeldTest, AProbeThatNeverComesBackDoesNotHoldUpTheRestForEver) {
  ProbeRows rows("h1", ProbeRows::Peers::kByName, health::kNever, 2);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(rows.AddProbe(Out(i) + "}"));
  EXPECT_EQ(rows.TakeFinished(kLongAfter), "0,h1,h2,mlx5_0,1,lossless,write0,50000,,,,,,\n");
  EXPECT_EQ(rows.Held(), 2U);
  EXPECT_EQ(rows.Size(), 3U);
}

TEST(ProbeRowsAnonymousTest, PeersAreNumberedInTheOrderOfTheirFirstRow) {
  ProbeRows rows("host", ProbeRows::Peers::kNumbered, health::kNever);
  int time_us = 0;
  for (const char* peer : {"a.example", "b.example", "a.example"}) {
    ASSERT_TRUE(rows.AddProbe(Out(time_us++, "write0", peer) + "}"));
  }
  ASSERT_TRUE(rows.AddProbe(Out(1, "write0", "b.example") +
                            R"(,"outcome":"ok","status":"success","rtt_seconds":1E-6})"));
  EXPECT_EQ(rows.TakeAll(),
            "0,host,peer1,mlx5_0,1,lossless,write0,50000,,,,,,\n"
            "1,host,peer2,mlx5_0,1,lossless,write0,50000,1,ok,,,,\n"
            "2,host,peer1,mlx5_0,1,lossless,write0,50000,,,,,,\n");
}

TEST_F(ProbeRowsTest, WhatIsNoProbeIsAnError) {
  EXPECT_EQ(rows_.AddProbe(R"({"error":"too many watch the probes already"})").error().Text(),
            "reading the daemon's probes: too many watch the probes already");
  EXPECT_EQ(rows_.AddProbe(R"({"time_us":5,"peer":"h2","op":"write0"})").error().Text(),
            "reading the daemon's probes: a line does not say which probe it is of");
  EXPECT_FALSE(rows_.AddProbe("{"));
  EXPECT_FALSE(rows_.AddPeers(5us, "[]"));
  EXPECT_EQ(rows_.Size(), 0U);
}

}  // namespace
}  // namespace rdmapulse::cli
