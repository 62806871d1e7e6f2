#include "daemon/cli/findings_view.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

constexpr std::uint64_t kNow = 1'795'985'600'000'000;

constexpr std::string_view kFindings = R"({"findings":[
  {"id":"h1-egress_blocked-mlx5_0.1-p3-1","time_us":1795985590000000,"since_us":1795985475000000,
   "host":"h1","device":"mlx5_0","port":1,"priority":3,"peer":null,"class":null,
   "condition":"egress_blocked","state":"active","severity":"warning","confidence":0.8123,
   "evidence":[{"text":"its switch paused it 99 % of the time","value":0.99,"unit":"ratio",
                "time_us":1795985590000000}],
   "not":null,"also_hit":{"peers":[],"ports":[],"priorities":[]},
   "explained_by":"h1-storm_source-mlx5_0.1-p3-1","advice":"See the cause."},
  {"id":"h1-storm_source-mlx5_0.1-p3-1","time_us":1795985590000000,"since_us":1795985475000000,
   "host":"h1","device":"mlx5_0","port":1,"priority":3,"peer":null,"class":null,
   "condition":"storm_source","state":"active","severity":"critical","confidence":0.97,
   "evidence":[{"text":"it paused its switch 98 % of the time over the last 2 s","value":0.98,
                "unit":"ratio","time_us":1795985590000000},
               {"text":"it received next to nothing meanwhile","value":0.001,"unit":"ratio",
                "time_us":1795985590000000}],
   "not":{"condition":"slow_receiver","because":"it receives nothing at all"},
   "also_hit":{"peers":["h2","h3"],"ports":[],"priorities":[4]},
   "explained_by":null,"advice":"Take the port down, then reset the NIC."}]})";

TEST(FindingsTextTest, TheCauseStandsFirstAndEachHasItsStrongestFactBelow) {
  EXPECT_EQ(FindingsText(kFindings, kNow).value(),
            "SEVERITY  CONDITION       WHERE                STATE       SINCE  SURE\n"
            "CRITICAL  storm_source    mlx5_0/1 priority 3  active  2 min 5 s  0.97\n"
            "    it paused its switch 98 % of the time over the last 2 s; id\n"
            "    h1-storm_source-mlx5_0.1-p3-1\n"
            "warning   egress_blocked  mlx5_0/1 priority 3  active  2 min 5 s  0.81\n"
            "    its switch paused it 99 % of the time; explained by\n"
            "    h1-storm_source-mlx5_0.1-p3-1; id h1-egress_blocked-mlx5_0.1-p3-1\n");
}

TEST(FindingsTextTest, NoneIsGoodNews) {
  EXPECT_EQ(FindingsText(R"({"findings":[]})", kNow).value(), "Nothing is found to be wrong.\n");
}

TEST(FindingsTextTest, AnAnswerWithoutTheListIsAnError) {
  EXPECT_FALSE(FindingsText("{}", kNow).has_value());
  EXPECT_FALSE(FindingsText("nonsense", kNow).has_value());
}

TEST(FindingTextTest, SaysAllThatIsKnownOfOne) {
  EXPECT_EQ(FindingText(kFindings, "h1-storm_source-mlx5_0.1-p3-1", kNow).value(),
            "CRITICAL storm_source: mlx5_0/1 priority 3\n"
            "active for 2 min 5 s, confidence 0.97, id h1-storm_source-mlx5_0.1-p3-1\n"
            "why\n"
            "    - it paused its switch 98 % of the time over the last 2 s\n"
            "    - it received next to nothing meanwhile\n"
            "what it is not\n"
            "    slow_receiver: it receives nothing at all\n"
            "also hit\n"
            "    peers h2, h3; priorities 4\n"
            "what to do\n"
            "    Take the port down, then reset the NIC.\n");
}

TEST(FindingTextTest, AnUnknownIdIsASentence) {
  EXPECT_EQ(FindingText(kFindings, "h1-x-1", kNow).error().Text(),
            "looking for the finding \"h1-x-1\": there is none of this id now; rdmapulse findings "
            "lists them; those that are over are in the journal");
  EXPECT_FALSE(FindingJson(kFindings, "h1-x-1").has_value());
}

}  // namespace
}  // namespace rdmapulse::cli
