#include "daemon/path_trace/tracer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace rdmapulse::path_trace {
namespace {

using namespace std::chrono_literals;
using probes::Class;
using probes::PathKey;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr TimePoint kStart = TimePoint(1000s);

// Keeps what was sent; answers, when it is told to, as routers in a row and the peer would.
class FakeWire : public Wire {
 public:
  Result<TimePoint> Send(const Flow& flow, const Bytes& packet) override {
    if (refusal) return tl::unexpected(*refusal);
    sent.emplace_back(flow, packet);
    return now;
  }
  void Rest() override { ++rests; }

  std::vector<std::pair<Flow, Bytes>> sent;
  std::optional<Error> refusal;
  int rests = 0;
  TimePoint now = kStart;
};

PathKey KeyTo(const std::string& peer, Class traffic_class = Class::kLossless) {
  return {peer, {"rxe0", 1}, {"rxe0", 1}, traffic_class};
}

probes::PathSnapshot PathTo(const std::string& peer, const std::string& address,
                            Class traffic_class = Class::kLossless) {
  probes::PathSnapshot path;
  path.key = KeyTo(peer, traffic_class);
  path.ends = {Protocol::kRoceV2, *ParseGid("10.77.0.1"), *ParseGid(address)};
  path.sport = 50216;
  path.qp_state = "rts";
  return path;
}

class TracerTest : public ::testing::Test {
 protected:
  TracerTest() { settings_.traffic_class = {104, 0}; }

  Tracer& tracer() {
    if (!tracer_) {
      tracer_.emplace(
          Tracer::Seams{.wire = wire_,
                        .due_changed = [this] { ++due_changed_; },
                        .journal = [this](const std::string& line) { journal_.push_back(line); },
                        .unix_us = [] { return 1700000000000000ULL; },
                        .random_marker = [this] { return NextMarker(); }},
          settings_);
    }
    return *tracer_;
  }
  // Those that a test names, then others.
  std::uint16_t NextMarker() {
    if (markers_.empty()) return ++last_marker_;
    const std::uint16_t marker = markers_.front();
    markers_.pop_front();
    return marker;
  }
  Tracer::Listener Listen() {
    return [this](const News& news) { news_.push_back(news); };
  }
  // Ticks whenever something is due, and has every packet answered by who gets it.
  void Run(TimePoint until) {
    for (now_ = std::max(now_, kStart); now_ <= until;
         now_ = std::max(now_ + 1ms, std::min(tracer().NextDue(now_), until + 1ms))) {
      wire_.now = now_;
      tracer().Tick(now_);
      while (!wire_.sent.empty()) {
        for (const auto& [flow, packet] : std::exchange(wire_.sent, {})) Answer(flow, packet);
      }
    }
    now_ = until;
  }
  void Answer(const Flow& flow, const Bytes& packet) {
    ++packets_;
    const bool question = packet[22] == kClosedPort >> 8U;
    const std::size_t ttl = packet[8];
    IcmpAnswer answer{
        .said = Said::kTimeExceeded,
        .quoted = {.source = flow.source,
                   .destination = flow.destination,
                   .sport = flow.sport,
                   .dport = question ? kClosedPort : kRocePort,
                   .ttl = 1,
                   .marker = static_cast<std::uint16_t>((packet[4] << 8U) | packet[5])}};
    if (question ? answers_ < 9 : ttl > answers_) return;
    if (question) {
      answer.said = Said::kPortUnreachable;
      answer.quoted.ttl = static_cast<std::uint8_t>(kFullTtl - routers_.size());
      tracer().OnAnswer(answer, flow.destination.Text(), now_ + 2ms);
    } else if (ttl <= routers_.size() && !routers_[ttl - 1].empty()) {
      tracer().OnAnswer(answer, routers_[ttl - 1], now_ + 1ms);
    }
  }
  std::vector<std::string> Addresses(const PathKey& key) {
    std::vector<std::string> addresses;
    const auto routes = tracer().routes();
    const auto route = routes->find(key);
    if (route == routes->end()) return {"no route"};
    for (const Hop& hop : route->second.hops) addresses.push_back(hop.address);
    return addresses;
  }
  std::string LastError() {
    const auto* ended = news_.empty() ? nullptr : std::get_if<Ended>(&news_.back());
    return ended == nullptr ? "not ended" : ended->error;
  }

  FakeWire wire_;
  TracerSettings settings_;
  std::vector<std::string> routers_ = {"10.77.0.254", "10.99.0.1"};
  std::vector<std::string> journal_;
  std::vector<News> news_;
  std::size_t answers_ = 9;  // hops; less: what is behind says nothing
  int due_changed_ = 0;
  int packets_ = 0;
  std::deque<std::uint16_t> markers_;
  std::uint16_t last_marker_ = 1000;
  TimePoint now_;
  std::optional<Tracer> tracer_;
};

TEST_F(TracerTest, WhoAsksHearsOfEveryHopInOrder) {
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, Listen());
  EXPECT_THAT(news_, IsEmpty());
  EXPECT_EQ(tracer().NextDue(kStart), kStart);
  Run(kStart + 1s);
  EXPECT_EQ(news_,
            (std::vector<News>{
                Began{"10.77.0.1", "10.78.0.2", 50216, 26, 16},
                Hop{.ttl = 1, .address = "10.77.0.254", .rtt = 1ms},
                Hop{.ttl = 2, .address = "10.99.0.1", .rtt = 1ms},
                Hop{.ttl = 3, .address = "10.78.0.2", .rtt = 2ms, .refusal = {}, .peer = true},
                Ended{.ending = Ending::kPeer}}));
  EXPECT_THAT(Addresses(KeyTo("h2")), ElementsAre("10.77.0.254", "10.99.0.1", "10.78.0.2"));
  EXPECT_GT(wire_.rests, 0);
  EXPECT_EQ(tracer().NextDue(now_), TimePoint::max());
}

TEST_F(TracerTest, ByItselfItTracesNothing) {
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  Run(kStart + 1h);
  EXPECT_EQ(packets_, 0);
}

TEST_F(TracerTest, WithAnIntervalEveryPathIsTracedOnceInEach) {
  settings_.interval = 60s;
  tracer().OnPaths({PathTo("h2", "10.78.0.2"), PathTo("h2", "10.78.0.2", Class::kControl)}, kStart);
  Run(kStart + 60s);
  EXPECT_THAT(Addresses(KeyTo("h2")), ElementsAre("10.77.0.254", "10.99.0.1", "10.78.0.2"));
  EXPECT_EQ(Addresses(KeyTo("h2", Class::kControl)).size(), 3U);
  const int first = packets_;
  Run(kStart + 120s);
  EXPECT_EQ(packets_, 2 * first);
}

TEST_F(TracerTest, ARouteThatChangesIsALineAndEvidence) {
  settings_.interval = 60s;
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  Run(kStart + 60s);
  EXPECT_THAT(journal_, IsEmpty());
  routers_ = {"10.77.0.254", "10.99.0.7"};
  Run(kStart + 120s);
  EXPECT_THAT(
      journal_,
      ElementsAre("path h2 rxe0/1 to rxe0/1 lossless: its packets (UDP source port 50216) go "
                  "another way now: hop 2 was 10.99.0.1 and is 10.99.0.7"));
  Run(kStart + 180s);
  EXPECT_EQ(journal_.size(), 1U);
  EXPECT_EQ(tracer().routes()->at(KeyTo("h2")).change, "hop 2 was 10.99.0.1 and is 10.99.0.7");
}

TEST_F(TracerTest, WhereAPathWentIsKnownStillWhenItIsDead) {
  settings_.interval = 60s;
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  Run(kStart + 60s);
  answers_ = 1;
  Run(kStart + 130s);
  const Route route = tracer().routes()->at(KeyTo("h2"));
  EXPECT_EQ(route.ending, Ending::kSilent);
  EXPECT_EQ(HopsText(route.hops), "10.77.0.254");
  EXPECT_EQ(HopsText(WholeWay(route)), "10.77.0.254, 10.99.0.1");
  EXPECT_THAT(journal_, IsEmpty());
}

TEST_F(TracerTest, AllTracesShareOneRate) {
  settings_.packets_per_second = 10;
  std::vector<probes::PathSnapshot> paths;
  for (int i = 0; i < 20; ++i) {
    const std::string peer = "h" + std::to_string(i);
    paths.push_back(PathTo(peer, "10.78.0." + std::to_string(i + 1)));
  }
  tracer().OnPaths(paths, kStart);
  for (const auto& path : paths) tracer().Ask(path.key.peer, Class::kLossless, Listen());
  Run(kStart + 2s);
  EXPECT_LE(packets_, 10 + 20);  // what the bucket held, and two seconds
  Run(kStart + 30s);
  EXPECT_EQ(tracer().routes()->size(), 20U);
}

TEST_F(TracerTest, WhoAsksForATraceThatGoesOnHearsAllOfIt) {
  routers_ = {"10.77.0.254", ""};
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, [](const News&) {});
  Run(kStart + 500ms);
  tracer().Ask("h2", Class::kLossless, Listen());
  Run(kStart + 3s);
  EXPECT_EQ(news_.size(), 5U);
  EXPECT_EQ(packets_, 4);  // the silent one was asked twice
}

TEST_F(TracerTest, WhatCannotBeTracedSaysWhy) {
  probes::PathSnapshot infiniband = PathTo("h2", "10.78.0.2");
  infiniband.ends.protocol = Protocol::kInfiniband;
  probes::PathSnapshot iwarp = PathTo("h3", "10.78.0.3");
  iwarp.ends.protocol = Protocol::kIwarp;
  probes::PathSnapshot mixed = PathTo("h4", "fd78::4");
  tracer().OnPaths({infiniband, iwarp, mixed}, kStart);
  for (const auto& [peer, why] : std::map<std::string, std::string>{
           {"h2", "InfiniBand"},
           {"h3", "iWARP"},
           {"h4", "addresses of two families"},
           {"h9", "no path to h9 in that class is known here yet"}}) {
    tracer().Ask(peer, Class::kLossless, Listen());
    tracer().Tick(kStart);
    EXPECT_THAT(LastError(), HasSubstr(why));
  }
  EXPECT_THAT(wire_.sent, IsEmpty());
}

TEST_F(TracerTest, WithoutThePrivilegeOneSentenceAndNoMoreTries) {
  settings_.interval = 60s;
  wire_.refusal = Error{std::make_error_code(std::errc::operation_not_permitted), "opening", "do"};
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  Run(kStart + 10min);
  EXPECT_THAT(journal_, ElementsAre("opening: Operation not permitted; do"));
  EXPECT_EQ(tracer().NextDue(now_), TimePoint::max());
  tracer().Ask("h2", Class::kLossless, Listen());
  Run(now_ + 1s);
  EXPECT_EQ(LastError(), "opening: Operation not permitted; do");
}

TEST_F(TracerTest, WhoAsksFirstDoesNotKeepTheJournalFromKnowing) {
  settings_.interval = 1h;
  wire_.refusal = Error{std::make_error_code(std::errc::operation_not_permitted), "opening", "do"};
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, Listen());
  Run(kStart + 1s);
  EXPECT_EQ(journal_.size(), 1U);
  EXPECT_EQ(LastError(), "opening: Operation not permitted; do");
}

TEST_F(TracerTest, FailuresOfScheduledTracesAreALineAMinute) {
  settings_.interval = 10s;
  wire_.refusal = Error{std::make_error_code(std::errc::network_unreachable), "sending", ""};
  tracer().OnPaths({PathTo("h2", "10.78.0.2"), PathTo("h3", "10.78.0.3")}, kStart);
  Run(kStart + 100s);
  EXPECT_EQ(journal_.size(), 2U);
  EXPECT_THAT(journal_[0], HasSubstr("sending: "));
}

TEST_F(TracerTest, AnInterfaceThatIsGoneEndsOneTraceOnly) {
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, Listen());
  wire_.refusal = Error{{}, "no interface has this address any more", ""};
  Run(kStart + 100ms);
  EXPECT_EQ(LastError(), "no interface has this address any more");
  wire_.refusal.reset();
  tracer().Ask("h2", Class::kLossless, Listen());
  Run(kStart + 1s);
  EXPECT_EQ(LastError(), "");
  EXPECT_EQ(Addresses(KeyTo("h2")).size(), 3U);
}

TEST_F(TracerTest, APathThatGoesTakesItsTraceAndItsHopsAlong) {
  tracer().OnPaths({PathTo("h2", "10.78.0.2"), PathTo("h3", "10.78.0.3")}, kStart);
  tracer().Ask("h3", Class::kLossless, [](const News&) {});
  Run(kStart + 1s);
  tracer().Ask("h2", Class::kLossless, Listen());
  tracer().Tick(now_);
  tracer().OnPaths({}, now_);
  EXPECT_EQ(LastError(), "the path to h2 is no longer probed");
  EXPECT_TRUE(tracer().routes()->empty());
}

TEST_F(TracerTest, PacketsHaveTheMarkersThatChanceGivesAndNoneTwice) {
  markers_ = {40000, 0, 40000, 7};
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, Listen());
  tracer().Tick(kStart);
  std::vector<int> used;
  for (const auto& [flow, packet] : wire_.sent) used.push_back((packet[4] << 8U) | packet[5]);
  EXPECT_EQ(used, (std::vector<int>{40000, 7}));
}

TEST_F(TracerTest, AnAnswerToAnotherPacketCountsNothing) {
  tracer().OnPaths({PathTo("h2", "10.78.0.2")}, kStart);
  tracer().Ask("h2", Class::kLossless, Listen());
  tracer().Tick(kStart);
  const auto [flow, packet] = wire_.sent.at(1);  // TTL 1
  const auto marker = static_cast<std::uint16_t>((packet[4] << 8U) | packet[5]);
  const Quoted right = {.source = flow.source,
                        .destination = flow.destination,
                        .sport = flow.sport,
                        .dport = kRocePort,
                        .ttl = 1,
                        .marker = marker};
  const auto answered = [this](const Quoted& quoted) {
    const std::size_t before = news_.size();
    tracer().OnAnswer({.said = Said::kTimeExceeded, .quoted = quoted}, "10.77.0.254", kStart + 1ms);
    return news_.size() > before;
  };
  Quoted wrong = right;
  wrong.sport = 1;
  EXPECT_FALSE(answered(wrong));
  wrong = right;
  wrong.dport = kClosedPort;
  EXPECT_FALSE(answered(wrong));
  wrong = right;
  wrong.destination = *ParseGid("10.78.0.9");
  EXPECT_FALSE(answered(wrong));
  wrong = right;
  wrong.marker = 999;
  EXPECT_FALSE(answered(wrong));
  EXPECT_TRUE(answered(right));
  EXPECT_FALSE(answered(right)) << "it counted twice";
}

}  // namespace
}  // namespace rdmapulse::path_trace
