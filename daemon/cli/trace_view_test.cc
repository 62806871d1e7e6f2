#include "daemon/cli/trace_view.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

constexpr std::uint64_t kNow = 1'795'985'600'000'000;

constexpr std::string_view kTrace = R"({"id":"h1-storm_source-mlx5_0.1-p3-1",
  "begin_us":1795985460000000,"step_us":1000000,"series":[
  {"name":"pausing its switch or peer","unit":"ratio","values":[0,0,0.5,1]},
  {"name":"worst round trip of probes, lossless class","unit":"seconds",
   "values":[0.00025,null,0.0005,null]}],
  "finding":{"id":"h1-storm_source-mlx5_0.1-p3-1","since_us":1795985462000000,
   "device":"mlx5_0","port":1,"priority":3,"peer":null,"class":null,"condition":"storm_source",
   "state":"active","severity":"critical","confidence":0.97}})";

TEST(TraceTextTest, IsTheHeadAndAChartASeries) {
  EXPECT_EQ(TraceText(kTrace, kNow, Glyphs::kAscii).value(),
            "CRITICAL storm_source: mlx5_0/1 priority 3\n"
            "active for 2 min 18 s, confidence 0.97, id h1-storm_source-mlx5_0.1-p3-1\n"
            "\n"
            "pausing its switch or peer, share of the time: max 100 %, last 100 %\n"
            "     100 % |                                                   #################\n"
            "           |                                                   #################\n"
            "           |                                  ##################################\n"
            "         0 |__________________________________##################################\n"
            "           + 4 s ago -------------------------^ began 2 s ago -------------- now\n"
            "\n"
            "worst round trip of probes, lossless class: max 500 us, last 500 us\n"
            "    500 us |                                  #################\n"
            "           |                                  #################\n"
            "           |#################                 #################\n"
            "         0 |#################                 #################\n"
            "           + 4 s ago -------------------------^ began 2 s ago -------------- now\n"
            "\n"
            "Where nothing is drawn nothing is known.\n");
}

TEST(TraceTextTest, EveryUnitIsReadByPeople) {
  const auto title = [](std::string_view unit, std::string_view value) {
    const std::string json = R"({"series":[{"name":"x","unit":")" + std::string(unit) +
                             R"(","values":[)" + std::string(value) + "]}]}";
    const std::string text = TraceText(json, kNow, Glyphs::kBlocks).value();
    return text.substr(1, text.find('\n', 1) - 1);
  };
  EXPECT_EQ(title("ratio", "0.984"), "x, share of the time: max 98.4 %, last 98.4 %");
  EXPECT_EQ(title("line_ratio", "0.5"), "x, share of line rate: max 50 %, last 50 %");
  EXPECT_EQ(title("bytes_per_second", "1.25e9"), "x: max 10 Gb/s, last 10 Gb/s");
  EXPECT_EQ(title("per_second", "1234"), "x: max 1.2k/s, last 1.2k/s");
  EXPECT_EQ(title("seconds", "1.5e-5"), "x: max 15.0 µs, last 15.0 µs");
  EXPECT_EQ(title("probes", "3, 1"), "x: max 3, last 1");
  EXPECT_EQ(title("up", "0, 1"), "x: worst down, last up");
  EXPECT_EQ(title("of_a_newer_daemon", "7"), "x: max 7, last 7");
  EXPECT_EQ(title("ratio", "null"), "x, share of the time: nothing is known");
}

TEST(TraceTextTest, NothingMovedIsSaid) {
  EXPECT_EQ(TraceText(R"({"id":"x","series":[]})", kNow, Glyphs::kBlocks).value(),
            "\nNothing that the flight recorder holds of it has moved.\n");
}

TEST(TraceTextTest, AnAnswerWithoutSeriesIsAnError) {
  EXPECT_FALSE(TraceText("{}", kNow, Glyphs::kBlocks).has_value());
  EXPECT_FALSE(TraceText("nonsense", kNow, Glyphs::kBlocks).has_value());
}

TEST(TraceTextTest, ABrokenAnswerDoesNotBreakTheTerminal) {
  for (const std::string_view text :
       {R"({"begin_us":-1e308,"step_us":1e308,"series":[{"name":"a","unit":"ratio",)"
        R"("values":[1e308,-1e308,18446744073709551615,"x",null,{}]}]})",
        R"({"step_us":-5,"series":[{"values":[1,2]},{"values":7},3],"finding":{}})"}) {
    EXPECT_TRUE(TraceText(text, kNow, Glyphs::kBlocks).has_value()) << text;
  }
  const auto text =
      TraceText("{\"series\":[{\"name\":\"\\u001b[2Jä\",\"values\":[1]}]}", kNow, Glyphs::kAscii);
  EXPECT_EQ(text.value().find('\x1b'), std::string::npos);
  EXPECT_EQ(text.value().substr(0, 8), "\n?[2J?: ");
}

}  // namespace
}  // namespace rdmapulse::cli
