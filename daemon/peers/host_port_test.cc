#include "daemon/peers/host_port.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rdmapulse::peers {
namespace {

TEST(HostPortTest, ReadsWhatAnOperatorMayWrite) {
  const std::vector<std::pair<std::string, HostPort>> cases = {
      {"h2", {"h2", 9937}},
      {"h2.example.net:1", {"h2.example.net", 1}},
      {"192.0.2.2:65535", {"192.0.2.2", 65535}},
      {"2001:db8::2", {"2001:db8::2", 9937}},
      {"[2001:db8::2]", {"2001:db8::2", 9937}},
      {"[2001:db8::2]:80", {"2001:db8::2", 80}},
      {":9937", {"", 9937}},
      {"127.0.0.1:0", {"127.0.0.1", 0}},
  };
  for (const auto& [text, expected] : cases) {
    const auto parsed = ParseHostPort(text);
    ASSERT_TRUE(parsed.has_value()) << text << ": " << parsed.error().Text();
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(HostPortTest, SaysWhatIsWrong) {
  EXPECT_EQ(ParseHostPort("h2:65536").error().Text(),
            "'65536' in the address 'h2:65536' is no port; write host, host:port or [v6]:port");
  for (const char* text : {"h2:", "h2:x", "h2:-1", "h2:1x", "[::1", "[::1]80", "[::1]:"}) {
    EXPECT_FALSE(ParseHostPort(text).has_value()) << text;
  }
}

TEST(HostPortTest, MappedAddressesAreIpv4) {
  const auto text = [](const char* address) {
    return Plain(boost::asio::ip::make_address(address)).to_string();
  };
  EXPECT_EQ(text("::ffff:192.0.2.2"), "192.0.2.2");
  EXPECT_EQ(text("192.0.2.2"), "192.0.2.2");
  EXPECT_EQ(text("2001:db8::2"), "2001:db8::2");
}

}  // namespace
}  // namespace rdmapulse::peers
