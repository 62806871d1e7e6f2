#include "daemon/discovery/dns_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

#include "daemon/discovery/test_servers.h"

namespace rdmapulse::discovery {
namespace {

using config::Peer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class DnsLookupTest : public ::testing::Test {
 protected:
  // Absolute, so that the machine's search domains stay out of it.
  Result<TargetList> Look(const std::string& name) {
    return LookUp(*config::ParseDnsName(name), DnsServer{INADDR_LOOPBACK, dns_.port()});
  }
  std::vector<Peer> Peers(const std::string& name) {
    const auto list = Look(name);
    EXPECT_TRUE(list) << list.error().Text();
    return list ? list->peers : std::vector<Peer>{};
  }

  TestDns dns_;
};

TEST_F(DnsLookupTest, EveryARecordIsAPeerInOrderOfTheirAddresses) {
  dns_.Add("hosts.example", "192.0.2.2");
  dns_.Add("hosts.example", "192.0.2.1");
  EXPECT_THAT(Peers("hosts.example."), ElementsAre(Peer{"192.0.2.1", "192.0.2.1:9937", {}},
                                                   Peer{"192.0.2.2", "192.0.2.2:9937", {}}));
  EXPECT_THAT(Peers("hosts.example.:9940"), ElementsAre(Peer{"192.0.2.1", "192.0.2.1:9940", {}},
                                                        Peer{"192.0.2.2", "192.0.2.2:9940", {}}));
}

TEST_F(DnsLookupTest, AHostOfBothFamiliesIsOnePeerAndOneOfIpv6IsFound) {
  dns_.Add("both.example", "192.0.2.1");
  dns_.Add("both.example", "2001:db8::1");
  dns_.Add("six.example", "2001:db8::2");
  EXPECT_THAT(Peers("both.example."), ElementsAre(Peer{"192.0.2.1", "192.0.2.1:9937", {}}));
  EXPECT_THAT(Peers("six.example."), ElementsAre(Peer{"2001:db8::2", "[2001:db8::2]:9937", {}}));
}

TEST_F(DnsLookupTest, ServiceRecordsNameHostsAndPorts) {
  const std::string name = "_control._tcp.hosts.example";
  dns_.AddService(name, "h2.hosts.example", 9940, "192.0.2.2");
  dns_.AddService(name, "h1.hosts.example", 9937, "");
  EXPECT_THAT(Peers(name + "."), ElementsAre(Peer{"h1.hosts.example", "h1.hosts.example:9937", {}},
                                             Peer{"h2.hosts.example", "192.0.2.2:9940", {}}));
}

TEST_F(DnsLookupTest, AnAnswerThatIsTooLongForUdpComesOverTcp) {
  for (int i = 0; i < 1000; ++i) {
    dns_.Add("many.example", "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256));
  }
  EXPECT_EQ(Peers("many.example.").size(), 1000U);
  EXPECT_EQ(dns_.tcp_queries(), 1);
}

TEST_F(DnsLookupTest, ANameWithoutRecordsIsAFailureAndNotAnEmptyList) {
  dns_.Add("_x._tcp.a.example", "192.0.2.1");
  EXPECT_THAT(Look("nobody.example.").error().Text(),
              HasSubstr("DNS has no A or AAAA record of nobody.example."));
  EXPECT_THAT(Look("_x._tcp.a.example.").error().Text(),
              HasSubstr("DNS has no SRV record of _x._tcp.a.example."));
}

TEST_F(DnsLookupTest, AServerThatFailsIsNamedAsSuch) {
  dns_.Add("hosts.example", "192.0.2.2");
  dns_.Fail();
  EXPECT_THAT(Look("hosts.example.").error().Text(),
              HasSubstr("asking DNS for hosts.example.: no server answered, or one failed"));
}

}  // namespace
}  // namespace rdmapulse::discovery
