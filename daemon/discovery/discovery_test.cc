#include "daemon/discovery/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "daemon/discovery/test_servers.h"

namespace rdmapulse::discovery {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using config::Peer;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DiscoveryTest : public ::testing::Test {
 protected:
  DiscoveryTest() {
    std::string name = "/tmp/rdmapulse-discovery-XXXXXX";
    folder_ = mkdtemp(name.data());
    config_.refresh = 50ms;
  }
  void TearDown() override {
    discovery_.Stop();
    loop_.restart();
    loop_.run_for(20s);
    fs::remove_all(folder_);
  }

  std::string Path(const std::string& name) const { return folder_ / name; }
  // As a careful writer does it: nobody ever sees half of it.
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name + ".new")) << text;
    fs::rename(Path(name + ".new"), Path(name));
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& list : discovery_.Lists()) {
      for (const Peer& peer : list->peers) names.push_back(peer.name);
    }
    return names;
  }
  SourceStatus Status() const { return discovery_.Status(Clock::now()).at(0); }
  bool RunUntil(const std::function<bool()>& done) {
    const TimePoint end = Clock::now() + 30s;
    while (!done()) {
      if (Clock::now() > end) return false;
      loop_.restart();
      loop_.run_one_for(100ms);
    }
    return true;
  }
  bool RunUntilNames(const std::vector<std::string>& names) {
    return RunUntil([this, &names] { return Names() == names; });
  }
  bool RunUntilFailure(const std::string& what) {
    return RunUntil([this, &what] {
      return Status().success == false && !journal_.empty() &&
             journal_.back().find(what) != std::string::npos;
    });
  }

  fs::path folder_;
  TestDns dns_;
  TestHttp http_;
  boost::asio::io_context loop_;
  config::Discovery config_;
  int changes_ = 0;
  std::vector<std::string> journal_;
  Discovery discovery_{loop_,
                       {.file_interval = 10ms,
                        .http_timeout = 1s,
                        .first_look = 1min,
                        .dns_server = DnsServer{INADDR_LOOPBACK, dns_.port()}},
                       [this] { ++changes_; },
                       [this](const SourceState::News& news) { journal_.push_back(news.text); }};
};

constexpr const char* kH2 = R"([{"targets": ["h2"]}])";
constexpr const char* kH3 = R"([{"targets": ["h3"]}])";

TEST_F(DiscoveryTest, AChangedFileIsReadAgain) {
  Write("peers.json", kH2);
  config_.file = {Path("peers.json")};
  discovery_.Configure(config_);
  EXPECT_FALSE(discovery_.Settled());
  ASSERT_TRUE(RunUntilNames({"h2"}));
  EXPECT_TRUE(discovery_.Settled());
  Write("peers.json", kH3);
  ASSERT_TRUE(RunUntilNames({"h3"}));
  EXPECT_EQ(changes_, 2);
}

TEST_F(DiscoveryTest, AnUnchangedFileChangesNothing) {
  Write("peers.json", kH2);
  config_.file = {Path("peers.json")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2"}));
  const TimePoint later = Clock::now() + 300ms;  // several looks, and some that read again
  ASSERT_TRUE(RunUntil([later] { return Clock::now() >= later; }));
  EXPECT_EQ(changes_, 1);
  EXPECT_THAT(journal_, ElementsAre(HasSubstr("peers.json: a list of 1 peer")));
}

TEST_F(DiscoveryTest, FilesOfAPatternComeAndGo) {
  config_.file = {Path("*.yml")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilFailure("no file matches"));
  Write("b.yml", "- targets: [h3]\n");
  Write("a.yml", "- targets: [h2]\n");
  ASSERT_TRUE(RunUntilNames({"h2", "h3"}));
  EXPECT_EQ(Status().success, true);
  fs::remove(Path("a.yml"));
  ASSERT_TRUE(RunUntilNames({"h3"}));
  fs::remove(Path("b.yml"));
  ASSERT_TRUE(RunUntilFailure("no file matches"));
  EXPECT_THAT(Names(), ElementsAre("h3")) << "all of them at once is a failure";
  Write("c.yml", "- targets: [h4]\n");
  ASSERT_TRUE(RunUntilNames({"h4"}));
}

TEST_F(DiscoveryTest, ABrokenFileOfAPatternKeepsItsLastListAndTheOthersGoOn) {
  Write("a.yml", "- targets: [h2]\n");
  Write("b.yml", "- targets: [h3]\n");
  config_.file = {Path("*.yml")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2", "h3"}));
  Write("a.yml", "- targets: [h2\n");
  ASSERT_TRUE(RunUntilFailure("a.yml is not used: line "));
  Write("b.yml", "- targets: [h4]\n");
  ASSERT_TRUE(RunUntilNames({"h2", "h4"}));
  EXPECT_EQ(Status().success, false);
}

TEST_F(DiscoveryTest, AMissingFileKeepsTheLastListAndItsAgeGrows) {
  Write("peers.json", kH2);
  config_.file = {Path("peers.json")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2"}));
  fs::remove(Path("peers.json"));
  ASSERT_TRUE(RunUntilFailure("No such file"));
  EXPECT_THAT(journal_.back(), HasSubstr("in use stays a list of 1 peer"));
  ASSERT_TRUE(RunUntil([this] { return Status().age > 300ms; }));
  EXPECT_THAT(Names(), ElementsAre("h2"));
}

TEST_F(DiscoveryTest, AUrlIsAskedAsPrometheusAsks) {
  http_.SayList(kH2);
  config_.http = {http_.Url("/rdma?dc=1")};
  config_.refresh = 7s;
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2"}));
  ASSERT_EQ(http_.requests().size(), 1U);
  EXPECT_THAT(http_.requests()[0], HasSubstr("GET /rdma?dc=1 HTTP/1.1\r\n"));
  EXPECT_THAT(http_.requests()[0], HasSubstr("\r\nAccept: application/json\r\n"));
  EXPECT_THAT(http_.requests()[0], HasSubstr("X-Prometheus-Refresh-Interval-Seconds: 7\r\n"));
  EXPECT_THAT(http_.requests()[0],
              HasSubstr("Host: 127.0.0.1:" + std::to_string(http_.port()) + "\r\n"));
}

TEST_F(DiscoveryTest, AnAnswerThatIsNoListKeepsTheLastOne) {
  http_.SayList(kH2);
  config_.http = {http_.Url("/")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2"}));
  http_.Say("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\n[]");
  ASSERT_TRUE(RunUntilFailure("its answer is \"text/html\" and not application/json"));
  http_.Say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]");
  ASSERT_TRUE(RunUntilFailure("its answer is of no type"));
  http_.Say("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(RunUntilFailure("it answers with status 503"));
  http_.Say("HTTP/1.1 301 Moved\r\nLocation: http://b/\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(RunUntilFailure("it redirects to \"http://b/\"; list that URL instead"));
  http_.SayList("{}");
  ASSERT_TRUE(RunUntilFailure("is not used: it is JSON, but not a list"));
  http_.Say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n");
  ASSERT_TRUE(RunUntilFailure("its answer has more than 8 MiB"));
  http_.Say("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[");
  ASSERT_TRUE(RunUntilFailure("reading its answer"));
  http_.Say("");
  ASSERT_TRUE(RunUntilFailure("it gave no whole answer within 1 s"));
  EXPECT_THAT(Names(), ElementsAre("h2"));
  http_.SayList(kH3);
  ASSERT_TRUE(RunUntilNames({"h3"}));
  EXPECT_THAT(journal_.back(), HasSubstr("read again"));
}

TEST_F(DiscoveryTest, AServerThatIsDownIsOneLine) {
  config_.http = {"http://127.0.0.1:1/"};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilFailure("connecting: Connection refused"));
  const TimePoint later = Clock::now() + 200ms;
  ASSERT_TRUE(RunUntil([later] { return Clock::now() >= later; }));
  EXPECT_EQ(journal_.size(), 1U);
  EXPECT_EQ(Status().age, std::nullopt);
}

TEST_F(DiscoveryTest, DnsNamesAreAskedAgain) {
  dns_.Add("hosts.example", "192.0.2.1");
  config_.dns = {"hosts.example."};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"192.0.2.1"}));
  dns_.Add("hosts.example", "192.0.2.2");
  ASSERT_TRUE(RunUntilNames({"192.0.2.1", "192.0.2.2"}));
  dns_.Fail();
  ASSERT_TRUE(RunUntilFailure("no server answered, or one failed"));
  EXPECT_THAT(Names(), ElementsAre("192.0.2.1", "192.0.2.2"));
}

TEST_F(DiscoveryTest, SourcesThatStayKeepTheirListsAndOthersAreForgotten) {
  Write("a.json", kH2);
  Write("b.json", kH3);
  config_.file = {Path("a.json"), Path("b.json")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntilNames({"h2", "h3"}));
  config_.file = {Path("b.json")};
  discovery_.Configure(config_);
  EXPECT_THAT(Names(), ElementsAre("h3")) << "at once, without reading it again";
  discovery_.Configure({});
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(DiscoveryTest, ASourceThatDoesNotAnswerIsGoneOnWithout) {
  Write("a.json", kH2);
  http_.Say("");
  config_.file = {Path("a.json")};
  config_.http = {http_.Url("/")};
  std::vector<SourceState::News> said;
  Discovery impatient(
      loop_,
      {.file_interval = 10ms, .http_timeout = 1h, .first_look = 100ms, .dns_server = std::nullopt},
      [] {}, [&said](const SourceState::News& news) { said.push_back(news); });
  impatient.Configure(config_);
  EXPECT_FALSE(impatient.Settled());
  ASSERT_TRUE(RunUntil([&impatient] { return impatient.Settled(); }));
  const auto silent = [](const SourceState::News& news) {
    return news.trouble && news.text.find("no answer within") != std::string::npos;
  };
  ASSERT_TRUE(RunUntil([&] {
    return std::any_of(said.begin(), said.end(), silent) && !impatient.Lists().at(0)->peers.empty();
  }));
  EXPECT_EQ(impatient.Status(Clock::now()).at(1).success, std::nullopt);
  impatient.Stop();
  loop_.restart();
  loop_.run();
}

TEST_F(DiscoveryTest, StoppingDoesNotWaitForASilentServer) {
  http_.Say("");
  config_.http = {http_.Url("/")};
  discovery_.Configure(config_);
  ASSERT_TRUE(RunUntil([this] { return http_.requests().size() == 1; }));
  const TimePoint began = Clock::now();
  discovery_.Stop();
  loop_.restart();
  loop_.run();
  EXPECT_LT(Clock::now() - began, 900ms);
  EXPECT_EQ(changes_, 0);
}

}  // namespace
}  // namespace rdmapulse::discovery
