#include "daemon/http/probe_lines.h"

#include <gtest/gtest.h>

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;
using probes::Outcome;

ProbeReply Reply(Outcome outcome, std::optional<Duration> rtt) {
  ProbeReply reply;
  reply.outcome = outcome;
  reply.rtt = rtt;
  return reply;
}

TEST(ProbeLinesTest, AReplyIsOneLine) {
  ProbeReply reply = Reply(Outcome::kOk, 12500ns);
  reply.seq = 3;
  reply.time_us = 1700000000000001;
  reply.op = probes::Op::kRead;
  reply.sport = 51234;
  EXPECT_EQ(ProbeLine(reply),
            "{\"seq\":3,\"time_us\":1700000000000001,\"op\":\"read\",\"outcome\":\"ok\",\"status\":"
            "\"success\","
            "\"rtt_seconds\":1.25E-5,\"sport\":51234}\n");
}

TEST(ProbeLinesTest, AnEchoSaysWhatThePeersDaemonTook) {
  ProbeReply reply = Reply(Outcome::kOk, 12500ns);
  reply.responder = 2500ns;
  EXPECT_NE(ProbeLine(reply).find("\"rtt_seconds\":1.25E-5,\"responder_seconds\":2.5E-6,"),
            std::string::npos)
      << ProbeLine(reply);
  ProbeSeen seen;
  seen.over = true;
  seen.rtt = 12500ns;
  seen.responder = 2500ns;
  EXPECT_NE(SeenLine(seen).find("\"rtt_seconds\":1.25E-5,\"responder_seconds\":2.5E-6,"),
            std::string::npos)
      << SeenLine(seen);
}

TEST(ProbeLinesTest, WhatAReplyDoesNotKnowIsNull) {
  ProbeReply reply = Reply(Outcome::kFailed, std::nullopt);
  reply.status = {12, 0x81};
  EXPECT_EQ(
      ProbeLine(reply),
      "{\"seq\":0,\"time_us\":0,\"op\":null,\"outcome\":\"failed\",\"status\":\"transport retry "
      "exceeded\",\"rtt_seconds\":null,\"sport\":null}\n");
}

TEST(ProbeLinesTest, WhatWasNotSentSaysWhyAndHasNoStatus) {
  ProbeReply reply = Reply(Outcome::kFailed, std::nullopt);
  reply.seq = 1;
  reply.note = "no control session with h9";
  EXPECT_EQ(ProbeLine(reply),
            "{\"seq\":1,\"time_us\":0,\"op\":null,\"outcome\":\"failed\",\"status\":null,"
            "\"rtt_seconds\":null,\"sport\":null,\"note\":\"no control session with h9\"}\n");
}

TEST(ProbeLinesTest, AnErrorIsOneLineWhateverItsBytes) {
  EXPECT_EQ(ErrorLine("no \"h9\"\n\xFF"), "{\"error\":\"no \\\"h9\\\"\\n\xEF\xBF\xBD\"}\n");
}

TEST(ProbeLinesTest, ASeriesWithoutAReplyHasNoTimes) {
  EXPECT_EQ(ProbeSummary().Line(),
            "{\"summary\":{\"sent\":0,\"ok\":0,\"late\":0,\"failed\":0,\"min_seconds\":null,"
            "\"p50_seconds\":null,\"p99_seconds\":null,\"max_seconds\":null}}\n");
}

TEST(ProbeLinesTest, OutcomesAreCountedAndTimesAreThoseOfTheNetwork) {
  ProbeSummary summary;
  summary.Add(Reply(Outcome::kOk, 10us));
  summary.Add(Reply(Outcome::kLateBlocked, 200ms));
  summary.Add(Reply(Outcome::kLateRetx, 100ms));
  summary.Add(Reply(Outcome::kLateSelf, 5s));
  summary.Add(Reply(Outcome::kFailed, 3s));
  summary.Add(Reply(Outcome::kAborted, 1us));
  // p50 is 100 ms within 2 %: the middle of its bucket.
  EXPECT_EQ(summary.Line(),
            "{\"summary\":{\"sent\":6,\"ok\":1,\"late\":3,\"failed\":1,\"min_seconds\":1E-5,"
            "\"p50_seconds\":9.9571384E-2,\"p99_seconds\":1.99142768E-1,\"max_seconds\":2E-1}}\n");
}

TEST(ProbeLinesTest, AQuantileNeverLiesOutsideWhatWasMeasured) {
  ProbeSummary summary;
  summary.Add(Reply(Outcome::kOk, 12345ns));
  EXPECT_EQ(summary.Line(),
            "{\"summary\":{\"sent\":1,\"ok\":1,\"late\":0,\"failed\":0,\"min_seconds\":1.2345E-5,"
            "\"p50_seconds\":1.2345E-5,\"p99_seconds\":1.2345E-5,\"max_seconds\":1.2345E-5}}\n");
}

TEST(ProbeLinesTest, ATraceIsWhatIsAskedThenAHopALineThenHowItEnded) {
  EXPECT_EQ(TraceLine(path_trace::Began{"10.77.0.1", "10.78.0.2", 50216, 26, 16}),
            "{\"trace\":{\"source\":\"10.77.0.1\",\"destination\":\"10.78.0.2\",\"sport\":50216,"
            "\"dscp\":26,\"hops_max\":16}}\n");
  EXPECT_EQ(
      TraceLine(path_trace::Hop{.ttl = 1, .address = "10.77.0.254", .rtt = 1ms}),
      "{\"hop\":{\"ttl\":1,\"address\":\"10.77.0.254\",\"rtt_seconds\":1E-3,\"peer\":false}}\n");
  EXPECT_EQ(TraceLine(path_trace::Hop{.ttl = 2}),
            "{\"hop\":{\"ttl\":2,\"address\":null,\"rtt_seconds\":null,\"peer\":false}}\n");
  EXPECT_EQ(TraceLine(path_trace::Ended{.ending = path_trace::Ending::kPeer}),
            "{\"trace\":{\"ending\":\"peer\",\"change\":null,\"error\":null}}\n");
  EXPECT_EQ(TraceLine(path_trace::Ended{.error = "no"}),
            "{\"trace\":{\"ending\":null,\"change\":null,\"error\":\"no\"}}\n");
}

}  // namespace
}  // namespace rdmapulse::http
