#include "daemon/http/probe_feed.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace rdmapulse::http {
namespace {

ProbeReply Numbered(std::uint32_t seq) {
  ProbeReply reply;
  reply.seq = seq;
  return reply;
}

// "7", "end", "end: why" or "nothing".
std::string Next(ProbeFeed& feed) {
  const auto event = feed.Pop();
  if (!event) return "nothing";
  if (const auto* reply = std::get_if<ProbeReply>(&*event)) return std::to_string(reply->seq);
  const std::string& why = std::get<ProbeDone>(*event).error;
  return why.empty() ? "end" : "end: " + why;
}

class ProbeFeedTest : public testing::Test {
 protected:
  int woken_ = 0;
  ProbeFeed feed_{[this] { ++woken_; }};
};

TEST_F(ProbeFeedTest, EventsComeOutInOrderAndEachWakes) {
  feed_.Push(Numbered(1));
  feed_.Push(Numbered(2));
  feed_.Push(ProbeDone{});
  EXPECT_EQ(woken_, 3);
  EXPECT_EQ(Next(feed_), "1");
  EXPECT_EQ(Next(feed_), "2");
  EXPECT_EQ(Next(feed_), "end");
  EXPECT_EQ(Next(feed_), "nothing");
}

TEST_F(ProbeFeedTest, NothingFollowsTheEnd) {
  feed_.Push(ProbeDone{"no peer h9"});
  feed_.Push(Numbered(1));
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(Next(feed_), "end: no peer h9");
  EXPECT_EQ(Next(feed_), "nothing");
}

TEST_F(ProbeFeedTest, NobodyIsWokenOnceClosed) {
  feed_.Push(Numbered(1));
  feed_.Close();
  feed_.Push(Numbered(2));
  EXPECT_EQ(woken_, 1);
  EXPECT_EQ(Next(feed_), "nothing");
}

TEST(ProbeFeedClosedTest, NothingIsKeptOfWhatWakesOnceClosed) {
  const auto bell = std::make_shared<int>(0);
  const auto feed = std::make_shared<ProbeFeed>([bell] { ++*bell; });
  const std::function<void(const ProbeEvent&)> the_loops = [feed](const ProbeEvent& event) {
    feed->Push(event);
  };
  the_loops(Numbered(1));
  EXPECT_EQ(*bell, 1);
  feed->Close();
  EXPECT_EQ(bell.use_count(), 1);
  the_loops(Numbered(2));
  EXPECT_EQ(*bell, 1);
}

TEST_F(ProbeFeedTest, AReaderThatFallsTooFarBehindIsToldSoAfterWhatItHas) {
  for (std::uint32_t i = 0; i < ProbeFeed::kEventsMax; ++i) feed_.Push(Numbered(i));
  EXPECT_EQ(woken_, static_cast<int>(ProbeFeed::kEventsMax));
  feed_.Push(Numbered(99999));
  feed_.Push(Numbered(99999));
  EXPECT_EQ(woken_, static_cast<int>(ProbeFeed::kEventsMax) + 1);
  for (std::uint32_t i = 0; i < ProbeFeed::kEventsMax; ++i) {
    ASSERT_EQ(Next(feed_), std::to_string(i));
  }
  EXPECT_EQ(Next(feed_), "end: the client reads more slowly than probes are answered");
  EXPECT_EQ(Next(feed_), "nothing");
}

}  // namespace
}  // namespace rdmapulse::http
