// The rules of this package that need no socket: every boundary, on both sides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "daemon/peers/back_off.h"
#include "daemon/peers/identity.h"
#include "daemon/peers/liveness.h"
#include "daemon/peers/pending_calls.h"
#include "daemon/peers/preference.h"
#include "daemon/peers/rate_limit.h"

namespace rdmapulse::peers {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr nanoseconds kTick{1};

TEST(BackOffTest, DoublesUpToItsLongest) {
  BackOff back_off(seconds(1), seconds(30));
  std::vector<Duration> waits(7);
  for (Duration& wait : waits) wait = back_off.Next(0.5);
  EXPECT_THAT(waits, ElementsAre(seconds(1), seconds(2), seconds(4), seconds(8), seconds(16),
                                 seconds(30), seconds(30)));
}

TEST(BackOffTest, SpreadsByAFifthEitherWay) {
  EXPECT_EQ(BackOff(seconds(1), seconds(30)).Next(0), milliseconds(800));
  const Duration longest = BackOff(seconds(1), seconds(30)).Next(0.999999);
  EXPECT_LT(longest, milliseconds(1200));
  EXPECT_GT(longest, milliseconds(1199));
}

TEST(BackOffTest, StartsAgainAfterSuccess) {
  BackOff back_off(seconds(1), seconds(30));
  back_off.Next(0.5);
  back_off.Next(0.5);
  back_off.Reset();
  EXPECT_EQ(back_off.Next(0.5), seconds(1));
}

TEST(BackOffTest, SlowIsTheLongestAtOnce) {
  BackOff back_off(seconds(1), seconds(30));
  back_off.Slow();
  EXPECT_EQ(back_off.Next(0.5), seconds(30));
}

TEST(RateLimitTest, TakesItsBurstAndNotOneMore) {
  RateLimit limit(200, 3, kStart);
  EXPECT_TRUE(limit.Take(kStart));
  EXPECT_TRUE(limit.Take(kStart));
  EXPECT_TRUE(limit.Take(kStart));
  EXPECT_FALSE(limit.Take(kStart));
}

TEST(RateLimitTest, RefillsAtItsRate) {
  RateLimit limit(200, 1, kStart);
  ASSERT_TRUE(limit.Take(kStart));
  EXPECT_FALSE(limit.Take(kStart + milliseconds(4)));
  EXPECT_TRUE(limit.Take(kStart + milliseconds(5)));
}

TEST(RateLimitTest, SavesNoMoreThanItsBurst) {
  RateLimit limit(200, 2, kStart);
  EXPECT_TRUE(limit.Take(kStart + seconds(60)));
  EXPECT_TRUE(limit.Take(kStart + seconds(60)));
  EXPECT_FALSE(limit.Take(kStart + seconds(60)));
}

TEST(OncePerTest, HoldsBackUntilThePeriodIsOver) {
  OncePer<std::string> once(seconds(60));
  EXPECT_TRUE(once.Due("a", kStart));
  EXPECT_TRUE(once.Due("b", kStart + seconds(1)));
  EXPECT_FALSE(once.Due("a", kStart + seconds(60) - kTick));
  EXPECT_TRUE(once.Due("a", kStart + seconds(60)));
  EXPECT_EQ(once.TakeHeld(), 1U);
  EXPECT_EQ(once.TakeHeld(), 0U);
}

TEST(OncePerTest, RemembersNoMoreThanItsLimitAndForgetsWhatIsOld) {
  OncePer<int> once(seconds(60));
  for (int key = 0; key < 256; ++key) ASSERT_TRUE(once.Due(key, kStart)) << key;
  EXPECT_FALSE(once.Due(256, kStart + seconds(60) - kTick));
  EXPECT_TRUE(once.Due(256, kStart + seconds(60)));
}

TEST(LivenessTest, MeasuresThePingThatIsAnswered) {
  Liveness liveness({}, kStart);
  liveness.Pinged(1, kStart);
  liveness.Pinged(2, kStart + seconds(1));
  EXPECT_EQ(liveness.Answered(2, kStart + seconds(1) + milliseconds(3)), milliseconds(3));
  EXPECT_EQ(liveness.Answered(2, kStart + seconds(2)), std::nullopt) << "answered twice";
  EXPECT_EQ(liveness.Answered(1, kStart + seconds(2)), std::nullopt) << "overtaken";
  EXPECT_EQ(liveness.Answered(3, kStart + seconds(2)), std::nullopt) << "never sent";
}

TEST(LivenessTest, IsDeadWhenThePingIsUnansweredForSoLong) {
  Liveness liveness({.dead_after = seconds(5), .idle_after = seconds(10)}, kStart);
  liveness.Pinged(1, kStart);
  liveness.Pinged(2, kStart + seconds(4));
  liveness.Heard(kStart + seconds(4));  // chatter is no answer
  EXPECT_EQ(liveness.Judge(kStart + seconds(5) - kTick), Liveness::Verdict::kAlive);
  EXPECT_EQ(liveness.Judge(kStart + seconds(5)), Liveness::Verdict::kDead);
  ASSERT_TRUE(liveness.Answered(1, kStart + seconds(5)).has_value());
  EXPECT_EQ(liveness.Judge(kStart + seconds(9) - kTick), Liveness::Verdict::kAlive);
  EXPECT_EQ(liveness.Judge(kStart + seconds(9)), Liveness::Verdict::kDead);
}

TEST(LivenessTest, IsIdleWhenNothingWasHeardForSoLong) {
  Liveness liveness({.dead_after = seconds(5), .idle_after = seconds(10)}, kStart);
  liveness.Heard(kStart + seconds(1));
  EXPECT_EQ(liveness.Judge(kStart + seconds(11) - kTick), Liveness::Verdict::kAlive);
  EXPECT_EQ(liveness.Judge(kStart + seconds(11)), Liveness::Verdict::kIdle);
}

TEST(PreferenceTest, HeardBeforeLeaderBeforeLatest) {
  const std::vector<Preference> ascending = {
      {.heard = false, .dialled_by_leader = false, .dial = 9, .order = 9},
      {.heard = false, .dialled_by_leader = true, .dial = 9, .order = 9},
      {.heard = true, .dialled_by_leader = false, .dial = 9, .order = 9},
      {.heard = true, .dialled_by_leader = true, .dial = 1, .order = 9},
      {.heard = true, .dialled_by_leader = true, .dial = 2, .order = 1},
      {.heard = true, .dialled_by_leader = true, .dial = 2, .order = 2}};
  for (std::size_t i = 1; i < ascending.size(); ++i) EXPECT_LT(ascending[i - 1], ascending[i]) << i;
}

TEST(PreferenceTest, ExactlyOneEndLeads) {
  EXPECT_TRUE(WeLead(1, 2));
  EXPECT_FALSE(WeLead(2, 1));
}

TEST(IdentityTest, OnePeerAnAddressNeedsNoName) {
  Identity identity;
  identity.Set("h2", {"192.0.2.2", "2001:db8::2"});
  EXPECT_TRUE(identity.Known("192.0.2.2"));
  EXPECT_EQ(identity.Find("2001:db8::2", "anything").value(), "h2");
  EXPECT_FALSE(identity.Known("192.0.2.3"));
  EXPECT_EQ(identity.Find("192.0.2.3", "h2").error().Text(),
            "192.0.2.3 is not the address of any of our peers; add it to peers, or let it connect "
            "from the address that is there");
}

TEST(IdentityTest, SharedAddressIsToldApartByTheHostsName) {
  Identity identity;
  identity.Set("h2", {"192.0.2.2"});
  identity.Set("h3", {"192.0.2.2"});
  EXPECT_EQ(identity.Find("192.0.2.2", "h3").value(), "h3");
  EXPECT_FALSE(identity.Find("192.0.2.2", "h4").has_value());
  identity.Remove("h3");
  EXPECT_EQ(identity.Find("192.0.2.2", "h4").value(), "h2");
}

TEST(IdentityTest, ANewAddressReplacesTheOld) {
  Identity identity;
  identity.Set("h2", {"192.0.2.2"});
  identity.Set("h2", {"192.0.2.9"});
  EXPECT_FALSE(identity.Known("192.0.2.2"));
  EXPECT_TRUE(identity.Known("192.0.2.9"));
  identity.Remove("h2");
  EXPECT_FALSE(identity.Known("192.0.2.9"));
}

TEST(IdentityTest, ACertificateNamesAPeerOrAGuest) {
  const config::Peer h2{"H2", "h2.example.com.:9937", {}};
  const config::Peer guest{"H5", "[2001:db8::5]:9937", {}};
  const config::Peer named{"h6", "Host6.example.com", {}};
  Identity identity;
  identity.Name("H2", CertificateNamesOf(h2));
  identity.SetGuests(std::make_shared<const Guests>(MakeGuests({guest, named})));
  for (const auto& [name, peer] :
       {std::pair{"h2", "H2"}, std::pair{"h2.example.com", "H2"}, std::pair{"h5", "H5"},
        std::pair{"h6", "h6"}, std::pair{"host6.example.com", "h6"}}) {
    EXPECT_EQ(identity.FindCertified({"other", name}, "").value(), peer) << name;
  }
  EXPECT_EQ(identity.FindCertified({"h2", "h5"}, "H5").value(), "H5");
  EXPECT_FALSE(identity.FindCertified({"h2", "h5"}, "H6").has_value());
  EXPECT_FALSE(identity.FindCertified({"2001:db8::5"}, "H5").has_value()) << "no name";
  identity.Remove("H2");
  EXPECT_EQ(
      identity.FindCertified({"a", "b", "c", "d", "h2"}, "").error().Text(),
      "its certificate is of a, b, c and 2 more, which is none of our peers; give the peer in "
      "the configuration a name that is in its certificate");
}

TEST(PendingCallsTest, EachHandlerIsHandedOutOnce) {
  PendingCalls calls;
  calls.Add(1, kStart + seconds(5), [](const auto&) {});
  calls.Add(2, kStart + seconds(6), [](const auto&) {});
  calls.Add(3, kStart + seconds(7), [](const auto&) {});
  EXPECT_TRUE(calls.Take(2).has_value());
  EXPECT_FALSE(calls.Take(2).has_value());
  EXPECT_EQ(calls.NextDeadline(), kStart + seconds(5));
  EXPECT_FALSE(calls.TakeExpired(kStart + seconds(5) - kTick).has_value());
  EXPECT_TRUE(calls.TakeExpired(kStart + seconds(5)).has_value());
  EXPECT_FALSE(calls.TakeExpired(kStart + seconds(5)).has_value());
  EXPECT_TRUE(calls.TakeAny().has_value());
  EXPECT_FALSE(calls.TakeAny().has_value());
  EXPECT_EQ(calls.NextDeadline(), std::nullopt);
}

TEST(PendingCallsTest, IsFullAtItsLimit) {
  PendingCalls calls;
  for (std::uint64_t id = 1; id <= PendingCalls::kMax; ++id) {
    ASSERT_FALSE(calls.Full()) << id;
    calls.Add(id, kStart, [](const auto&) {});
  }
  EXPECT_TRUE(calls.Full());
  calls.TakeAny();
  EXPECT_FALSE(calls.Full());
}

}  // namespace
}  // namespace rdmapulse::peers
