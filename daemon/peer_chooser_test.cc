// With files as sources; what is chosen of what is known is choose_peers_test's.
#include "daemon/peer_chooser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

namespace rdmapulse {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PeerChooserTest : public ::testing::Test {
 protected:
  PeerChooserTest() {
    std::string name = "/tmp/rdmapulse-chooser-XXXXXX";
    folder_ = mkdtemp(name.data());
    config_.host.labels = {{"tor", "t1"}};
    config_.control.listen = "192.0.2.1:9937";
    config_.selection.sampled = 0;
  }
  void TearDown() override {
    chooser_.Stop();
    loop_.restart();
    loop_.run_for(20s);
    fs::remove_all(folder_);
  }

  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / (name + ".new")) << text;
    fs::rename(folder_ / (name + ".new"), folder_ / name);
    return folder_ / name;
  }
  void Configure() { chooser_.Configure(config_, "me", 9937); }
  std::vector<std::string> Probed() const {
    std::vector<std::string> names;
    for (const config::Peer& peer : chooser_.choice().probed) names.push_back(peer.name);
    return names;
  }
  bool RunUntil(const std::vector<std::string>& names) {
    const TimePoint end = Clock::now() + 30s;
    while (Probed() != names && Clock::now() < end) {
      loop_.restart();
      loop_.run_one_for(100ms);
    }
    return Probed() == names;
  }

  fs::path folder_;
  boost::asio::io_context loop_;
  config::Config config_;
  int changes_ = 0;
  PeerChooser chooser_{loop_, [this] { ++changes_; }};
};

constexpr const char* kT1 = R"([{"targets": ["h2"], "labels": {"tor": "t1"}}])";

TEST_F(PeerChooserTest, ConfiguredPeersAreThereAtOnce) {
  config_.peers = {{"h9", "192.0.2.9:9937", {}}};
  Configure();
  EXPECT_THAT(Probed(), ElementsAre("h9"));
  EXPECT_EQ(changes_, 0) << "whoever configures looks by itself";
  EXPECT_THAT(chooser_.Sources(Clock::now()), IsEmpty());
}

TEST_F(PeerChooserTest, AListThatChangesIsAnotherChoice) {
  config_.discovery.file = {Write("a.json", kT1)};
  Configure();
  EXPECT_THAT(Probed(), IsEmpty()) << "nothing is known yet";
  ASSERT_TRUE(RunUntil({"h2"}));
  EXPECT_EQ(changes_, 1);
  Write("a.json", R"([{"targets": ["h3"], "labels": {"tor": "t1"}}])");
  ASSERT_TRUE(RunUntil({"h3"}));
  EXPECT_EQ(changes_, 2);
}

TEST_F(PeerChooserTest, OurOwnEntryIsNoPeerAndSaysWhereWeStand) {
  config_.discovery.file = {Write("a.json", R"([{"targets": ["192.0.2.1"], "labels": {"tor": "t7"}},
                          {"targets": ["h2"], "labels": {"tor": "t1"}},
                          {"targets": ["h3"], "labels": {"tor": "t7"}}])")};
  Configure();
  ASSERT_TRUE(RunUntil({"h3"}));
  EXPECT_TRUE(chooser_.choice().is_listed);
}

// A source that takes its place is not there at once, and peers must not go and come for that.
TEST_F(PeerChooserTest, WhatAReplacedSourceBroughtStaysUntilTheNewOneIsRead) {
  config_.discovery.file = {Write("a.json", kT1)};
  Configure();
  ASSERT_TRUE(RunUntil({"h2"}));
  config_.discovery.file = {Write("b.json", R"([{"targets": ["h2", "h3"],
                                                 "labels": {"tor": "t1"}}])")};
  Configure();
  EXPECT_THAT(Probed(), ElementsAre("h2"));
  EXPECT_TRUE(RunUntil({"h2", "h3"}));
}

TEST_F(PeerChooserTest, WithoutSourcesOnlyTheConfiguredStay) {
  config_.discovery.file = {Write("a.json", kT1)};
  config_.peers = {{"h9", "192.0.2.9:9937", {}}};
  Configure();
  ASSERT_TRUE(RunUntil({"h9", "h2"}));
  config_.discovery = {};
  Configure();
  EXPECT_THAT(Probed(), ElementsAre("h9"));
}

TEST_F(PeerChooserTest, ASourceThatFailsKeepsItsPeersAndSaysSo) {
  config_.discovery.file = {Write("a.json", kT1)};
  Configure();
  ASSERT_TRUE(RunUntil({"h2"}));
  Write("a.json", "[{");
  const TimePoint end = Clock::now() + 30s;
  while (chooser_.Sources(Clock::now()).at(0).success != false && Clock::now() < end) {
    loop_.restart();
    loop_.run_one_for(100ms);
  }
  EXPECT_EQ(chooser_.Sources(Clock::now()).at(0).success, false);
  EXPECT_THAT(Probed(), ElementsAre("h2"));
}

}  // namespace
}  // namespace rdmapulse
