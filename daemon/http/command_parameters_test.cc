#include "daemon/http/command_parameters.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace rdmapulse::http {
namespace {

using namespace std::chrono_literals;

// A request as one line, so that whole values compare.
std::string Line(const Result<ProbeRequest>& request) {
  if (!request) return "refused: " + request.error().Text();
  return request->peer + " " + std::string(request->op ? Name(*request->op) : "-") + " " +
         std::string(Name(request->traffic_class)) + " " + std::to_string(request->count) + " " +
         std::to_string(request->interval.count()) + "ns";
}

std::string FromQuery(std::string_view query) { return Line(ParseProbeRequest(query, "")); }
std::string FromBody(std::string_view body) { return Line(ParseProbeRequest("", body)); }

TEST(CommandParametersTest, OnlyThePeerMustBeNamed) {
  EXPECT_EQ(FromQuery("peer=h2"), "h2 - lossless 0 1000000000ns");
  EXPECT_EQ(FromBody(R"({"peer": "h2"})"), "h2 - lossless 0 1000000000ns");
  const std::string missing =
      "refused: reading the parameters: peer is missing; say which peer to probe";
  EXPECT_EQ(FromQuery(""), missing);
  EXPECT_EQ(FromQuery("peer="), missing);
  EXPECT_EQ(FromBody("{}"), missing);
}

TEST(CommandParametersTest, QueryAndBodySayTheSame) {
  const std::string expected = "h2 read control 5 200000000ns";
  EXPECT_EQ(FromQuery("peer=h2&op=read&class=control&count=5&interval=0.2"), expected);
  EXPECT_EQ(FromBody(R"({"peer":"h2","op":"read","class":"control","count":5,"interval":0.2})"),
            expected);
  EXPECT_EQ(Line(ParseProbeRequest("peer=h2&op=read", R"({"class":"control","count":5,)"
                                                      R"("interval":2e-1})")),
            expected);
}

TEST(CommandParametersTest, PercentCodesAreDecodedInNamesAndValues) {
  EXPECT_EQ(FromQuery("p%65er=a%26b+c%2B"), "a&b c+ - lossless 0 1000000000ns");
  const std::string refused = "' has a % that two hexadecimal digits do not follow";
  EXPECT_EQ(FromQuery("peer=%"), "refused: reading the query: 'peer=%" + refused);
  EXPECT_EQ(FromQuery("peer=%4"), "refused: reading the query: 'peer=%4" + refused);
  EXPECT_EQ(FromQuery("peer=%4g"), "refused: reading the query: 'peer=%4g" + refused);
  EXPECT_EQ(FromQuery("peer=%-1"), "refused: reading the query: 'peer=%-1" + refused);
}

TEST(CommandParametersTest, NumbersAreTakenUpToTheirLimitsAndNotBeyond) {
  EXPECT_EQ(FromQuery("peer=h&count=1000000"), "h - lossless 1000000 1000000000ns");
  EXPECT_EQ(FromQuery("peer=h&interval=0.01"), "h - lossless 0 10000000ns");
  EXPECT_EQ(FromQuery("peer=h&interval=3600"), "h - lossless 0 3600000000000ns");
  for (const std::string count :
       {"1000001", "-1", "1.5", "", " 1", "0x10", "99999999999999999999"}) {
    EXPECT_EQ(FromQuery("peer=h&count=" + count),
              "refused: reading count: '" + count + "' is not a whole number from 0 to 1000000");
  }
  for (const std::string seconds : {"0.0099", "3600.1", "-1", "nan", "inf", "1e300", "", "1s"}) {
    EXPECT_EQ(FromQuery("peer=h&interval=" + seconds),
              "refused: reading interval: '" + seconds +
                  "' is not a number of seconds from 0.01 to 3600");
  }
}

TEST(CommandParametersTest, WordsOutsideTheVocabularyAreRefused) {
  EXPECT_EQ(
      FromQuery("peer=h&op=ping"),
      "refused: reading op: 'ping' is none of write0, write, write_mtu, read, echo, atomic, ud");
  EXPECT_EQ(FromQuery("peer=h&class=fast"),
            "refused: reading class: 'fast' is neither lossless nor control");
  EXPECT_EQ(FromQuery("peer=h&colour=red"),
            "refused: reading the parameters: there is none called 'colour'; there are: peer, op, "
            "class, count, interval, trace");
}

TEST(CommandParametersTest, NothingIsTakenTwice) {
  EXPECT_EQ(FromQuery("peer=a&peer=b"), "refused: reading the parameters: peer is given twice");
  EXPECT_EQ(Line(ParseProbeRequest("peer=a", R"({"peer":"b"})")),
            "refused: reading the parameters: peer is given twice");
}

TEST(CommandParametersTest, ABodyMustBeAFlatObject) {
  EXPECT_EQ(FromBody("[1]"), "refused: reading the body: not a JSON object");
  EXPECT_EQ(FromBody(R"({"peer": ["h"]})"),
            "refused: reading the body: peer is not a text, a number, true or false");
  EXPECT_EQ(FromBody(R"({"peer": null})"),
            "refused: reading the body: peer is not a text, a number, true or false");
  EXPECT_EQ(FromBody("{\"peer\""), "refused: reading the body: not JSON: incomplete JSON");
  EXPECT_EQ(FromBody(std::string(1000, '[')).substr(0, 38),
            "refused: reading the body: not JSON: t");  // too deep
}

TEST(CommandParametersTest, APeersNameAndTheParametersHaveLimits) {
  const std::string longest(256, 'p');
  EXPECT_EQ(FromQuery("peer=" + longest), longest + " - lossless 0 1000000000ns");
  EXPECT_EQ(FromQuery("peer=" + longest + "p"), "refused: reading peer: longer than 256 bytes");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "x" + std::to_string(i) + "=1&";
  EXPECT_EQ(FromQuery(many), "refused: reading the parameters: more than 16");
}

TEST(CommandParametersTest, MaintenanceIsOnOrOff) {
  EXPECT_EQ(ParseMaintenance("", R"({"on":true})"), true);
  EXPECT_EQ(ParseMaintenance("on=false", ""), false);
  EXPECT_EQ(ParseMaintenance("", "").error().Text(),
            "reading the parameters: on is missing; say true or false");
  EXPECT_EQ(ParseMaintenance("", R"({"on":1})").error().Text(),
            "reading on: '1' is neither true nor false");
}

TEST(TraceIdTest, IsTakenFromTheQuery) {
  EXPECT_EQ(ParseTraceId("id=h1-storm_source-mlx5_0.1-p3-1"), "h1-storm_source-mlx5_0.1-p3-1");
  EXPECT_EQ(ParseTraceId("id=h1%2Fx+y"), "h1/x y");
  for (const char* const query : {"", "id", "id="}) {
    EXPECT_EQ(ParseTraceId(query).error().Text(),
              "reading the parameters: id is missing; say of which finding");
  }
  EXPECT_FALSE(ParseTraceId("id=a&id=b"));
  EXPECT_FALSE(ParseTraceId("id=a&name=b"));
  EXPECT_TRUE(ParseTraceId("id=" + std::string(1024, 'x')));
  EXPECT_FALSE(ParseTraceId("id=" + std::string(1025, 'x')));
}

TEST(ProbeRequestTest, ATraceIsMadeWhenItIsAskedFor) {
  EXPECT_FALSE(ParseProbeRequest("peer=h2", "")->trace);
  EXPECT_FALSE(ParseProbeRequest("peer=h2&trace=false", "")->trace);
  EXPECT_TRUE(ParseProbeRequest("", R"({"peer":"h2","trace":true})")->trace);
  EXPECT_EQ(ParseProbeRequest("peer=h2&trace=yes", "").error().Text(),
            "reading trace: 'yes' is neither true nor false");
}

}  // namespace
}  // namespace rdmapulse::http
