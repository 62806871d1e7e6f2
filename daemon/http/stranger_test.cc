// Clients that are not on loopback, in a network namespace with another address on `lo`.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstring>
#include <string>

#include "daemon/base/unique_fd.h"
#include "daemon/http/server_fixture.h"

namespace rdmapulse::http {
namespace {

constexpr const char* kStranger = "192.0.2.1";  // for documentation only (RFC 5737)

// Empty: this process is alone in a network namespace in which `lo` has kStranger.
std::string EnterNamespace() {
  if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return std::string("no network namespace may be made here: ") + std::strerror(errno);
  }
  const UniqueFd fd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq lo{};
  std::strcpy(lo.ifr_name, "lo");
  lo.ifr_flags = IFF_UP;
  if (ioctl(fd.get(), SIOCSIFFLAGS, &lo) != 0) return "lo cannot be brought up";
  ifreq alias{};
  std::strcpy(alias.ifr_name, "lo:1");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, kStranger, &address.sin_addr);
  std::memcpy(&alias.ifr_addr, &address, sizeof(address));
  if (ioctl(fd.get(), SIOCSIFADDR, &alias) != 0) return "lo takes no second address";
  return "";
}

class StrangerTest : public ServerFixture {
 protected:
  static void SetUpTestSuite() { why_not = EnterNamespace(); }
  void SetUp() override {
    if (!why_not.empty()) GTEST_SKIP() << why_not;
  }
  void StartWith(AddressPredicate allowed) {
    auto server = Server::Start({.listen = ":0", .api_allowed = std::move(allowed)}, store_,
                                commands_, traces_);
    ASSERT_TRUE(server) << server.error().Text();
    server_ = *std::move(server);
  }
  std::string AskAsStranger(std::string_view method, std::string_view target) const {
    return Ask(TestClient::Tcp(server_->Port(), kStranger), method, target);
  }

  static inline std::string why_not;
};

TEST_F(StrangerTest, MetricsAndHealthAreOpenTheApiIsNot) {
  StartWith({});
  for (const char* path : {"/metrics", "/healthz"}) {
    EXPECT_EQ(StatusOf(AskAsStranger("GET", path)), 200) << path;
  }
  for (const char* path : {"/", "/api/v1/status", "/api/v1/ports", "/api/v1/peers"}) {
    const std::string refused = AskAsStranger("GET", path);
    EXPECT_EQ(StatusOf(refused), 403) << path;
    EXPECT_EQ(BodyOf(refused),
              "only loopback and the networks of http.api_allow may read this; /metrics is open to "
              "everybody\n");
  }
  EXPECT_EQ(StatusOf(Ask(Tcp(), "GET", "/api/v1/status")), 200) << "from loopback";
}

TEST_F(StrangerTest, AnAllowedNetworkReadsTheApiAndCommandsNothing) {
  StartWith([](const boost::asio::ip::address& client) { return client.to_string() == kStranger; });
  EXPECT_EQ(StatusOf(AskAsStranger("GET", "/api/v1/ports")), 200);
  EXPECT_EQ(StatusOf(AskAsStranger("POST", "/api/v1/maintenance?on=true")), 403);
  EXPECT_EQ(commands_.maintenance(), std::vector<bool>{});
}

}  // namespace
}  // namespace rdmapulse::http
