#include "config/source_entries.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::config {
namespace {

using ::testing::HasSubstr;

template <typename T>
std::string Refusal(const Result<T>& parsed) {
  return parsed ? "accepted" : parsed.error().Text();
}

TEST(HttpUrlTest, HasHostPortAndTarget) {
  EXPECT_EQ(*ParseHttpUrl("http://sd.example:8080/rdma?dc=1"),
            (HttpUrl{"sd.example", 8080, "/rdma?dc=1"}));
  EXPECT_EQ(*ParseHttpUrl("http://SD.example"), (HttpUrl{"sd.example", 80, "/"}));
  EXPECT_EQ(*ParseHttpUrl("http://[2001:db8::1]:80?a"), (HttpUrl{"2001:db8::1", 80, "/?a"}));
}

TEST(HttpUrlTest, WhatCannotBeFetchedIsOneSentence) {
  EXPECT_THAT(Refusal(ParseHttpUrl("https://sd/")), HasSubstr("needs TLS"));
  EXPECT_THAT(Refusal(ParseHttpUrl("sd.example/rdma")), HasSubstr("is not a URL; write it as"));
  EXPECT_THAT(Refusal(ParseHttpUrl("http://u:p@sd/")), HasSubstr("user and a password"));
  EXPECT_EQ(Refusal(ParseHttpUrl("http://u:p@sd/")).find("u:p"), std::string::npos);
  EXPECT_THAT(Refusal(ParseHttpUrl("http://sd/a b")), HasSubstr("blank"));
  EXPECT_THAT(Refusal(ParseHttpUrl("http://sd/a\r\nX: y")), HasSubstr("blank"));
  EXPECT_THAT(Refusal(ParseHttpUrl("http://sd/#a")), HasSubstr("fragment"));
  EXPECT_THAT(Refusal(ParseHttpUrl("http:///a")), HasSubstr("is not an address"));
  EXPECT_THAT(Refusal(ParseHttpUrl("http://sd:0/")), HasSubstr("no port between 1 and 65535"));
}

TEST(DnsNameTest, UnderscoreMeansSrv) {
  EXPECT_EQ(*ParseDnsName("Hosts.example"), (DnsName{"hosts.example", false, 9937}));
  EXPECT_EQ(*ParseDnsName("hosts.example.:9940"), (DnsName{"hosts.example.", false, 9940}));
  EXPECT_EQ(*ParseDnsName("_control._tcp.hosts."), (DnsName{"_control._tcp.hosts.", true, 9937}));
}

TEST(DnsNameTest, WhatNeedsNoDnsOrIsNoNameIsOneSentence) {
  EXPECT_THAT(Refusal(ParseDnsName("192.0.2.1")), HasSubstr("is an address"));
  EXPECT_THAT(Refusal(ParseDnsName("2001:db8::1")), HasSubstr("is an address"));
  EXPECT_THAT(Refusal(ParseDnsName("_a._tcp.b:1")), HasSubstr("SRV records name their own"));
  EXPECT_THAT(Refusal(ParseDnsName("a b")), HasSubstr("is not a DNS name"));
}

TEST(FilePatternTest, IsAbsoluteAndSaysItsFormat) {
  EXPECT_TRUE(CheckFilePattern("/etc/rdmapulse/peers.json"));
  EXPECT_TRUE(CheckFilePattern("/etc/rdmapulse/peers.d/*.yml"));
  EXPECT_THAT(Refusal(CheckFilePattern("peers.json")), HasSubstr("not an absolute path"));
  EXPECT_THAT(Refusal(CheckFilePattern("/etc/peers")), HasSubstr("does not end in .json"));
  EXPECT_EQ(ListFormatOf("/a.json"), ListFormat::kJson);
  EXPECT_EQ(ListFormatOf("/a.yaml"), ListFormat::kYaml);
  EXPECT_EQ(ListFormatOf("/a.yamlx"), std::nullopt);
}

}  // namespace
}  // namespace rdmapulse::config
