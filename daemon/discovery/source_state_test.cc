#include "daemon/discovery/source_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmapulse::discovery {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr TimePoint kStart{1h};

SourceState::News Told(const std::string& text) { return {.trouble = false, .text = text}; }
SourceState::News Trouble(const std::string& text) { return {.trouble = true, .text = text}; }

TargetList ListOf(const std::string& name) { return {{{name, name + ":9937", {}}}, {}, 0}; }
Fetched Good(const std::string& name) { return {.list = ListOf(name), .failure = {}}; }
Fetched Bad(const std::string& why) { return {.list = {}, .failure = why}; }

TEST(SourceStateTest, AFailureKeepsTheLastGoodListAndItsAgeGrows) {
  SourceState state("discovery.file /f.json");
  EXPECT_EQ(state.success(), std::nullopt);
  EXPECT_EQ(state.Age(kStart), std::nullopt) << "never read is not fresh";
  EXPECT_TRUE(state.Take(Good("h2"), kStart));
  EXPECT_FALSE(state.Take(Bad("it is not there"), kStart + 5s));
  EXPECT_EQ(state.list()->peers, ListOf("h2").peers);
  EXPECT_EQ(state.success(), false);
  EXPECT_EQ(state.Age(kStart + 7s), 7s);
  EXPECT_FALSE(state.Take({}, kStart + 10s)) << "read well, and nothing is new";
  EXPECT_EQ(state.success(), true);
  EXPECT_EQ(state.Age(kStart + 10s), 0s);
  EXPECT_TRUE(state.Take(Good("h3"), kStart + 15s));
  EXPECT_FALSE(state.Take(Good("h3"), kStart + 20s));
}

TEST(SourceStateTest, EachThingIsSaidOnce) {
  SourceState state("S");
  state.Take(Good("h2"), kStart);
  EXPECT_THAT(state.TakeNews(), ElementsAre(Told("S: a list of 1 peer")));
  state.Take(Good("h2"), kStart);
  EXPECT_THAT(state.TakeNews(), IsEmpty());
  state.Take(Bad("gone"), kStart);
  state.Take(Bad("gone"), kStart);
  EXPECT_THAT(state.TakeNews(), ElementsAre(Trouble("S: gone; in use stays a list of 1 peer")));
  TargetList odd = ListOf("h2");
  odd.problems = {"group 1 is odd"};
  odd.problem_count = 3;
  state.Take({.list = odd, .failure = {}}, kStart);
  state.Take({.list = odd, .failure = {}}, kStart);
  EXPECT_THAT(state.TakeNews(),
              ElementsAre(Told("S: read again, a list of 1 peer"), Trouble("S: group 1 is odd"),
                          Trouble("S: 2 further problems are not listed")));
  EXPECT_EQ(state.list()->problem_count, 3U);
}

}  // namespace
}  // namespace rdmapulse::discovery
