#include "daemon/cli/probe_report.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

const ProbeTarget kTarget = {"h2", probes::Op::kWrite0, probes::Class::kLossless};

std::string Reply(int seq, std::string_view outcome, std::string_view rtt,
                  std::string_view status = "success") {
  return R"({"seq":)" + std::to_string(seq) + R"(,"time_us":1,"outcome":")" + std::string(outcome) +
         R"(","status":")" + std::string(status) + R"(","rtt_seconds":)" + std::string(rtt) +
         R"(,"sport":49153})";
}

TEST(ProbeReportTest, ReadsLikePing) {
  ProbeReport report(kTarget, false);
  EXPECT_EQ(report.AddLine(Reply(1, "ok", "0.0000123")).value(),
            "write0 to h2 lossless: seq=1 rtt=12.3 µs sport=49153\n");
  EXPECT_EQ(report.AddLine(Reply(2, "late_blocked", "0.25")).value(),
            "write0 to h2 lossless: seq=2 rtt=250 ms late_blocked sport=49153\n");
  EXPECT_EQ(report.AddLine(Reply(3, "failed", "null", "transport retry exceeded")).value(),
            "write0 to h2 lossless: seq=3 failed: transport retry exceeded sport=49153\n");
  EXPECT_EQ(report.Finish(),
            "\n3 sent, 1 ok, 1 late, 1 failed\n"
            "rtt min 12.3 µs, p50 12.4 µs, p99 247 ms, max 250 ms\n");
  EXPECT_EQ(report.ExitCode(), 0);
}

TEST(ProbeReportTest, WhatTheDaemonChoseIsNamed) {
  ProbeReport report({"h2", std::nullopt, probes::Class::kLossless}, false);
  EXPECT_EQ(report.StillWaiting(std::chrono::milliseconds(2500)),
            "probe to h2 lossless: nothing came back for 2.50 s, still waiting\n");
  EXPECT_EQ(report
                .AddLine(R"({"seq":1,"time_us":1,"op":"read","outcome":"ok","status":"success",)"
                         R"("rtt_seconds":0.001,"sport":49153})")
                .value(),
            "read to h2 lossless: seq=1 rtt=1.00 ms sport=49153\n");
}

TEST(ProbeReportTest, AnEchoSaysWhatThePeersDaemonTook) {
  ProbeReport report({"h2", probes::Op::kEcho, probes::Class::kLossless}, false);
  EXPECT_EQ(report
                .AddLine(R"({"seq":1,"time_us":1,"op":"echo","outcome":"ok","status":"success",)"
                         R"("rtt_seconds":0.001,"responder_seconds":0.00002,"sport":49153})")
                .value(),
            "echo to h2 lossless: seq=1 rtt=1.00 ms responder=20.0 µs sport=49153\n");
}

TEST(ProbeReportTest, SaysWhyNothingWasSent) {
  ProbeReport report(kTarget, false);
  EXPECT_EQ(report
                .AddLine(R"({"seq":1,"time_us":1,"outcome":"failed","status":null,)"
                         R"("rtt_seconds":null,"sport":null,"note":"no control session with h2"})")
                .value(),
            "write0 to h2 lossless: seq=1 not sent: no control session with h2\n");
  EXPECT_EQ(report.Summary(), (ProbeSummary{.sent = 1, .failed = 1}));
}

TEST(ProbeReportTest, PrintsTheDaemonsSummaryOnce) {
  ProbeReport report(kTarget, false);
  EXPECT_EQ(report
                .AddLine(R"({"summary":{"sent":9,"ok":7,"late":1,"failed":1,"min_seconds":1e-5,)"
                         R"("p50_seconds":2e-5,"p99_seconds":3e-5,"max_seconds":4e-5}})")
                .value(),
            "\n9 sent, 7 ok, 1 late, 1 failed\n"
            "rtt min 10.0 µs, p50 20.0 µs, p99 30.0 µs, max 40.0 µs\n");
  EXPECT_EQ(report.Finish(), "");
  EXPECT_EQ(report.ExitCode(), 0);
}

TEST(ProbeReportTest, OnlyWhatCameBackIsAReply) {
  ProbeReport report(kTarget, false);
  EXPECT_EQ(report.ExitCode(), 1);
  ASSERT_TRUE(report.AddLine(Reply(1, "failed", "2.5", "transport retry exceeded")));
  ASSERT_TRUE(report.AddLine(Reply(2, "aborted", "null", "work request flushed")));
  EXPECT_EQ(report.ExitCode(), 1);
  EXPECT_EQ(report.Finish(), "\n2 sent, 0 ok, 0 late, 1 failed\n");
  ASSERT_TRUE(report.AddLine(Reply(3, "late_self", "0.2")));
  EXPECT_EQ(report.ExitCode(), 0);
  EXPECT_EQ(report.Summary(), (ProbeSummary{.sent = 3, .late = 1, .failed = 1}))
      << "our own lateness is no round trip";
}

TEST(ProbeReportTest, JsonIsTheDaemonsToTheLastByte) {
  ProbeReport report(kTarget, true);
  const std::string line = R"({ "seq" : 1,"outcome":"ok", "rtt_seconds":1.50e-5,"more":[] })";
  EXPECT_EQ(report.AddLine(line).value(), line + "\n");
  EXPECT_EQ(report.StillWaiting(std::chrono::seconds(5)), "");
  EXPECT_EQ(report.Finish(),
            R"({"summary":{"sent":1,"ok":1,"late":0,"failed":0,"min_seconds":1.5E-5,)"
            R"("p50_seconds":1.5E-5,"p99_seconds":1.5E-5,"max_seconds":1.5E-5}})"
            "\n");
}

TEST(ProbeReportTest, SummaryOfNothingIsNull) {
  EXPECT_EQ(ProbeReport(kTarget, true).Finish(),
            R"({"summary":{"sent":0,"ok":0,"late":0,"failed":0,"min_seconds":null,)"
            R"("p50_seconds":null,"p99_seconds":null,"max_seconds":null}})"
            "\n");
}

TEST(ProbeReportTest, SaysHowLongNothingCame) {
  EXPECT_EQ(ProbeReport(kTarget, false).StillWaiting(std::chrono::milliseconds(2500)),
            "write0 to h2 lossless: nothing came back for 2.50 s, still waiting\n");
}

TEST(ProbeReportTest, TheDaemonsErrorIsOurs) {
  ProbeReport report(kTarget, true);
  EXPECT_EQ(report.AddLine(R"({"error":"no peer h2 is configured"})").error().Text(),
            "probing h2: no peer h2 is configured");
}

TEST(ProbeReportTest, HostileLinesAreErrorsOrUnknown) {
  ProbeReport report(kTarget, false);
  EXPECT_EQ(report.AddLine("garbage").error().Text(),
            "reading the daemon's answer to probe: not JSON: syntax error");
  EXPECT_EQ(report.AddLine("{}").error().Text(), "probing h2: the daemon's answer has no outcome");
  EXPECT_EQ(report.AddLine(Reply(1, "ok", "1e300")).value(),
            "write0 to h2 lossless: seq=1 rtt=- sport=49153\n");
  EXPECT_EQ(report.AddLine(Reply(2, "ok", "-1")).value(),
            "write0 to h2 lossless: seq=2 rtt=- sport=49153\n");
  EXPECT_EQ(report.Summary(), (ProbeSummary{.sent = 2, .ok = 2})) << "neither is a time";
}

}  // namespace
}  // namespace rdmapulse::cli
