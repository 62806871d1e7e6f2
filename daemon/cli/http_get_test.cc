#include "daemon/cli/http_get.h"

#include <gtest/gtest.h>

namespace rdmapulse::cli {
namespace {

std::string UrlError(std::string_view text) {
  const auto url = ParseHttpUrl(text);
  return url ? "no error" : url.error().Text();
}

TEST(ParseHttpUrlTest, TakesAHostAPortAndAPath) {
  EXPECT_EQ(ParseHttpUrl("http://prom"), (HttpUrl{"prom", "80", ""}));
  EXPECT_EQ(ParseHttpUrl("http://prom:9090/"), (HttpUrl{"prom", "9090", ""}));
  EXPECT_EQ(ParseHttpUrl("http://192.0.2.1:9090/a/b/"), (HttpUrl{"192.0.2.1", "9090", "/a/b"}));
  EXPECT_EQ(ParseHttpUrl("http://[2001:db8::1]:9090"), (HttpUrl{"2001:db8::1", "9090", ""}));
  EXPECT_EQ(ParseHttpUrl("http://[::1]"), (HttpUrl{"::1", "80", ""}));
}

TEST(ParseHttpUrlTest, RefusesTheRestInOneSentence) {
  EXPECT_EQ(UrlError("https://prom"),
            "reading the address \"https://prom\": https is not spoken here; give an http:// "
            "address, if need be that of a proxy or of `ssh -L`");
  EXPECT_EQ(UrlError("prom:9090"),
            "reading the address \"prom:9090\": it is no http:// address; write http://HOST:PORT, "
            "like http://localhost:9090");
  for (const char* const odd : {"http://", "http://:1", "http://a:", "http://a:0", "http://a:65536",
                                "http://a:b", "http://[::1", "http://[::1]x", "http://a b",
                                "http://me@a", "http://a/?x", "http://a/#x", "http://a\n"}) {
    EXPECT_NE(UrlError(odd), "no error") << odd;
  }
}

TEST(PercentEncodedTest, LeavesOnlyWhatIsSafe) {
  EXPECT_EQ(PercentEncoded("a b&c=\"d\"~1"), "a%20b%26c%3D%22d%22~1");
  EXPECT_EQ(PercentEncoded("ü"), "%C3%BC");
}

TEST(HttpGetTest, ANobodyIsOneSentence) {
  const auto reply =
      HttpGet({"127.0.0.1", "1", ""}, "/", std::chrono::seconds(10), "asking nobody");
  ASSERT_FALSE(reply);
  EXPECT_EQ(
      reply.error().Text(),
      "asking nobody: connecting: Connection refused; is the address right, and does it run?");
}

}  // namespace
}  // namespace rdmapulse::cli
