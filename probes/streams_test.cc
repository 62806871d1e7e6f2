// Several UDP source ports from port to port, and so several ways through the fabric.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/prober.h"
#include "probes/prober_test_support.h"
#include "probes/stream.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {
namespace {

using fakes::Fabric;
using fakes::Fate;
using ::testing::Each;
using ::testing::SizeIs;
using namespace std::chrono_literals;

PathKey KeyOf(std::uint8_t stream, Class traffic_class = Class::kLossless) {
  return {.peer = "h2",
          .local = {"mlx5_0", 1},
          .remote = {"mlx5_0", 1},
          .traffic_class = traffic_class,
          .stream = stream};
}

TEST(StreamTest, BothClassesGoByOnePortAndTheFirstStreamKeepsIt) {
  for (const std::uint8_t stream : std::array<std::uint8_t, 2>{0, 1}) {
    EXPECT_EQ(FlowLabelOf(KeyOf(stream), 5), FlowLabelOf(KeyOf(stream, Class::kControl), 5));
  }
  EXPECT_NE(FlowLabelOf(KeyOf(0), 5), FlowLabelOf(KeyOf(1), 5));
  EXPECT_EQ(FlowLabelOf(KeyOf(0), 5), FlowLabelOf(KeyOf(0), 6));
  EXPECT_NE(FlowLabelOf(KeyOf(1), 5), FlowLabelOf(KeyOf(1), 6));
}

TEST(StreamTest, ARotationEndsWhenTheNextBegins) {
  const TimePoint now(1'000'000s);
  const std::int64_t rotation = RotationAt(KeyOf(1), 1h, now);
  const TimePoint end = RotationEnd(KeyOf(1), 1h, rotation);
  EXPECT_GT(end, now);
  EXPECT_LE(end, now + 1h);
  EXPECT_EQ(RotationAt(KeyOf(1), 1h, end - 1ns), rotation);
  EXPECT_EQ(RotationAt(KeyOf(1), 1h, end), rotation + 1);
  PathKey other = KeyOf(1);
  other.peer = "h3";
  EXPECT_NE(RotationEnd(other, 1h, RotationAt(other, 1h, now)), end) << "not all at once";
}

TEST(StreamTest, WhatDoesNotRotateStays) {
  const TimePoint now(1'000'000s);
  EXPECT_EQ(RotationAt(KeyOf(0), 1h, now), 0);
  EXPECT_EQ(RotationEnd(KeyOf(0), 1h, 0), TimePoint::max());
  EXPECT_EQ(RotationAt(KeyOf(1), 0s, now), 0);
  EXPECT_EQ(RotationEnd(KeyOf(1), 0s, 0), TimePoint::max());
}

TEST(StreamTest, TheStreamsOfAPairStandEvenlyInTheirPeriod) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const double first = PhaseOf(KeyOf(0), 4, seed);
    for (const std::uint8_t stream : std::array<std::uint8_t, 3>{1, 2, 3}) {
      const double after = PhaseOf(KeyOf(stream), 4, seed) - first;
      EXPECT_NEAR(after < 0 ? after + 1 : after, stream / 4.0, 1e-9);
    }
  }
  EXPECT_NE(PhaseOf(KeyOf(0), 2, 1), PhaseOf(KeyOf(0, Class::kControl), 2, 1));
}

class StreamsTest : public ::testing::Test {
 protected:
  StreamsTest() {
    for (const std::string name : {"h1", "h2"}) {
      fabric_.AddHost(name).SetPort(fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2"));
    }
  }
  Fabric::Host& h1() { return fabric_.host("h1"); }
  Fabric::Host& h2() { return fabric_.host("h2"); }

  static Settings InStreams(const std::string& peer, std::uint32_t streams) {
    Settings settings = fakes::DefaultSettings({peer});
    settings.streams = streams;
    return settings;
  }
  void Start(const Settings& first, const Settings& second) {
    h1().StartProber(first);
    h2().StartProber(second);
    fabric_.ConnectSession("h1", "h2");
    fabric_.Advance(1s);
  }
  void Start(std::uint32_t streams = 2) {
    Start(InStreams("h2", streams), InStreams("h1", streams));
  }
  std::vector<PathSnapshot> Paths(Fabric::Host& host) { return host.prober().Paths(fabric_.now()); }
  // Probes of an op that were good, by source port.
  std::map<std::uint16_t, std::uint64_t> Good(Fabric::Host& host, Class traffic_class) {
    std::map<std::uint16_t, std::uint64_t> good;
    for (const PathSnapshot& path : Paths(host)) {
      if (path.key.traffic_class != traffic_class) continue;
      good[path.sport] = Count(path.series.at(0), Outcome::kOk);
    }
    return good;
  }

  Fabric fabric_;
};

TEST_F(StreamsTest, TogetherTheyProbeAsOftenAsOneWould) {
  Start();
  fabric_.Advance(20s);
  for (Fabric::Host* const host : {&h1(), &h2()}) {
    EXPECT_THAT(Paths(*host), SizeIs(4)) << "two classes by two ports";
    const auto good = Good(*host, Class::kLossless);
    ASSERT_THAT(good, SizeIs(2));
    for (const auto& [sport, count] : good) EXPECT_NEAR(static_cast<double>(count), 10, 1);
    EXPECT_EQ(Good(*host, Class::kControl).begin()->first, good.begin()->first);
  }
  EXPECT_EQ(Good(h1(), Class::kLossless).begin()->first,
            Good(h2(), Class::kLossless).begin()->first)
      << "there and back";
}

TEST_F(StreamsTest, ABlackHoledSourcePortIsSeenAsExactlyThat) {
  Start();
  const std::uint16_t hole = Good(h1(), Class::kControl).rbegin()->first;
  fabric_.fate = [hole](const Fabric::Message& message) {
    return message.sport == hole ? Fate::kLost : Fate::kDelivered;
  };
  fabric_.Advance(20s);
  for (const PathSnapshot& path : Paths(h1())) {
    const std::uint64_t failed = Count(path.series.at(0), Outcome::kFailed);
    if (path.sport == hole) {
      EXPECT_GE(failed + (path.series.at(0).overdue ? 1 : 0), 1U) << Text(path.key);
    } else {
      EXPECT_EQ(failed, 0U) << Text(path.key);
      EXPECT_EQ(path.rebuilds, 0U);
    }
  }
}

TEST_F(StreamsTest, AskedProbesGoByEachInTurn) {
  Start(3);
  std::set<std::uint16_t> sports;
  for (int i = 0; i < 3; ++i) {
    h1().prober().Ask("h2", Op::kWrite0, Class::kLossless,
                      [&sports](const AskedProbe& asked) { sports.insert(asked.sport); });
    fabric_.Advance(10ms);
  }
  EXPECT_THAT(sports, SizeIs(3));
}

TEST_F(StreamsTest, DatagramsGoBesideEach) {
  Start(3);
  for (int i = 0; i < 6; ++i) {
    AskedProbe answer;
    h1().prober().Ask("h2", Op::kUd, Class::kLossless,
                      [&answer](const AskedProbe& asked) { answer = asked; });
    fabric_.Advance(100ms);
    EXPECT_EQ(answer.outcome, Outcome::kOk) << answer.note;
  }
}

TEST_F(StreamsTest, TheSmallerNumberOfBothEndsHoldsAndAReloadChangesIt) {
  Start(InStreams("h2", 4), InStreams("h1", 1));
  EXPECT_THAT(Paths(h1()), SizeIs(2));
  fabric_.Advance(10s);
  EXPECT_NEAR(static_cast<double>(Good(h1(), Class::kLossless).begin()->second), 10, 1);
  h2().prober().Configure(InStreams("h1", 3));
  fabric_.Advance(5s);
  EXPECT_THAT(Paths(h1()), SizeIs(6));
  EXPECT_THAT(Paths(h2()), SizeIs(6));
  EXPECT_THAT(Good(h1(), Class::kLossless), SizeIs(3)) << "each has a port of its own";
}

TEST_F(StreamsTest, WhatAStreamCountedGoesOnWithTheFirst) {
  Start();
  fabric_.Advance(20s);
  const auto total = [this] {
    std::uint64_t sum = 0;
    for (const auto& [sport, count] : Good(h1(), Class::kLossless)) sum += count;
    return sum;
  };
  const std::uint64_t before = total();
  h1().prober().Configure(InStreams("h2", 1));
  EXPECT_THAT(Paths(h1()), SizeIs(2));
  EXPECT_GE(total(), before) << "a counter does not go back";
  fabric_.Advance(10s);
  EXPECT_NEAR(static_cast<double>(total() - before), 10, 2);
}

TEST_F(StreamsTest, WhatDoesNotFitIntoTheBudgetIsLeftOutAndSaidOnce) {
  Settings settings = InStreams("h2", 4);
  settings.qps_per_nic = 5;  // two classes by three ports are six
  Start(settings, InStreams("h1", 4));
  fabric_.Advance(5s);
  EXPECT_THAT(Paths(h1()), SizeIs(4));
  EXPECT_THAT(h1().journal,
              ::testing::Contains("device mlx5_0: budget.qps_per_nic (5) has room for 2 of "
                                  "paths.source_ports (4); raise it or lower these")
                  .Times(1));
  h1().journal.clear();
  settings.qps_per_nic = 256;
  h1().prober().Configure(settings);
  EXPECT_THAT(h1().journal, ::testing::Not(::testing::Contains(::testing::HasSubstr("budget"))));
  settings.qps_per_nic = 3;
  h1().prober().Configure(settings);
  fabric_.Advance(5s);
  EXPECT_THAT(Paths(h1()), SizeIs(2));
  EXPECT_THAT(Paths(h2()), SizeIs(2));
  EXPECT_THAT(Paths(h1()), Each(::testing::Field(&PathSnapshot::qp_state, "rts")));
}

TEST_F(StreamsTest, TheSecondMovesToAnotherPortWithoutAWordAndTheFirstStays) {
  std::vector<Settings> settings = {InStreams("h2", 2), InStreams("h1", 2)};
  for (Settings& each : settings) each.rotate = 10min;
  Start(settings[0], settings[1]);
  std::uint16_t first = 0;
  std::uint16_t second = 0;
  for (const PathSnapshot& path : Paths(h1())) (path.key.stream == 0 ? first : second) = path.sport;
  h1().journal.clear();
  h2().journal.clear();
  fabric_.Advance(10min + 5s);
  for (Fabric::Host* const host : {&h1(), &h2()}) {
    for (const PathSnapshot& path : Paths(*host)) {
      EXPECT_EQ(path.qp_state, "rts");
      EXPECT_EQ(path.sport == first, path.key.stream == 0) << Text(path.key);
      EXPECT_NE(path.sport, second) << Text(path.key);
      EXPECT_EQ(path.rebuilds, 0U) << "nothing broke";
      EXPECT_EQ(Count(path.series.at(0), Outcome::kFailed), 0U);
    }
    EXPECT_THAT(host->journal, ::testing::IsEmpty());
  }
}

TEST_F(StreamsTest, TheTurnsOfAPortThatIsNotUpAreTakenByThoseThatAre) {
  std::vector<Settings> settings = {InStreams("h2", 2), InStreams("h1", 2)};
  for (Settings& each : settings) each.rotate = 10min;
  Start(settings[0], settings[1]);
  for (Fabric::Host* const host : {&h1(), &h2()}) host->FailOpen(1000, ENOMEM);
  fabric_.Advance(10min + 5s);
  const auto good = [this](Op op) {
    std::map<std::uint8_t, double> by_stream;
    for (const PathSnapshot& path : Paths(h1())) {
      if (path.key.traffic_class != Class::kLossless) continue;
      for (const ProbeSeries& series : path.series) {
        if (series.op != op) continue;
        by_stream[path.key.stream] = static_cast<double>(Count(series, Outcome::kOk));
      }
    }
    return by_stream;
  };
  for (const bool up : {false, true}) {
    if (up) {
      for (Fabric::Host* const host : {&h1(), &h2()}) host->FailOpen(0, 0);
      fabric_.Advance(3min);  // they are tried more and more rarely
    }
    auto writes = good(Op::kWrite0);
    auto reads = good(Op::kRead);
    fabric_.Advance(20s);
    EXPECT_NEAR(good(Op::kWrite0)[0] - writes[0], up ? 10 : 20, 2);
    EXPECT_NEAR(good(Op::kRead)[0] - reads[0], up ? 10 : 20, 2);
    EXPECT_NEAR(good(Op::kWrite0)[1] - writes[1], up ? 10 : 0, 1);
    EXPECT_NEAR(good(Op::kRead)[1] - reads[1], up ? 10 : 0, 1);
  }
}

TEST_F(StreamsTest, OfSeveralThatAreUpEachTakesSomeOfTheTurns) {
  Start(4);
  const std::uint16_t hole = Paths(h1()).back().sport;
  fabric_.fate = [hole](const Fabric::Message& message) {
    return message.sport == hole ? Fate::kLost : Fate::kDelivered;
  };
  for (Fabric::Host* const host : {&h1(), &h2()}) host->FailOpen(1000, ENOMEM);  // it stays down
  fabric_.Advance(60s);
  const auto before = Good(h1(), Class::kControl);
  fabric_.Advance(80s);
  double sum = 0;
  for (const auto& [sport, count] : Good(h1(), Class::kControl)) {
    const auto more = static_cast<double>(count - before.at(sport));
    sum += more;
    EXPECT_EQ(more == 0, sport == hole);
    EXPECT_LT(more, 35) << "none takes all";
  }
  EXPECT_NEAR(sum, 80, 3) << "three of four have 60 turns of their own";
}

TEST_F(StreamsTest, WhatFailsWhileThePortChangesIsSaid) {
  std::vector<Settings> settings = {InStreams("h2", 2), InStreams("h1", 2)};
  for (Settings& each : settings) each.rotate = 10min;
  Start(settings[0], settings[1]);
  h1().journal.clear();
  h2().journal.clear();
  for (Fabric::Host* const host : {&h1(), &h2()}) host->FailOpen(1000, ENOMEM);
  fabric_.Advance(10min + 5s);
  std::vector<std::string> said = h1().journal;
  said.insert(said.end(), h2().journal.begin(), h2().journal.end());
  EXPECT_THAT(said, ::testing::Contains(::testing::HasSubstr("ibv_create_qp")).Times(2))
      << "once for each class, by the end that leads";
}

}  // namespace
}  // namespace rdmapulse::probes
