// The collectors on threads of their own over a sysfs in a folder. What blocks is in
// tests/integration/stuck_read_test.cc.
#include "daemon/collection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "tests/fakes/tree.h"

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kHost =
    "class/infiniband/mlx5_0/hca_type = MT4119\n"
    "class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait = 1\n"
    "class/infiniband/mlx5_0/ports/1/hw_counters/out_of_buffer = 1\n"
    "class/infiniband/mlx5_0/ports/2/hw_counters/out_of_buffer = 2\n"
    "class/infiniband/mlx5_1/ports/1/hw_counters/out_of_buffer = 3\n";

class CollectionLoopTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (collectors::KernelNetlink::Open(NETLINK_RDMA))
      GTEST_SKIP() << "this kernel knows which devices there are: ours are not";
  }

  void Start(Duration interval, Duration fast_interval) {
    collection_.Configure({.interval = interval,
                           .fast_interval = fast_interval,
                           .wanted = [](const std::string& name) { return name != "mlx5_1"; }});
    collection_.Start();
  }
  // False: not within a minute.
  bool RunUntil(const std::function<bool()>& condition) {
    const TimePoint end = Clock::now() + 60s;
    while (!condition() && Clock::now() < end) loop_.run_one_until(end);
    return condition();
  }

  const fakes::Tree tree_{kHost};
  boost::asio::io_context loop_;
  std::vector<std::vector<std::string>> discovered_;
  std::vector<collectors::Collection> collected_;
  std::vector<std::string> journal_;
  CollectionLoop collection_{
      loop_,
      {.sysfs = tree_.Root(), .procfs = "/proc"},
      {.discovered =
           [this](const std::vector<DeviceInfo>& devices) {
             auto& names = discovered_.emplace_back();
             for (const DeviceInfo& device : devices) names.push_back(device.name);
           },
       .collected = [this](const DeviceInfo&,
                           const auto& collection) { collected_.push_back(collection); },
       .netdevs_collected = {},
       .journal = [this](const std::string& line) { journal_.push_back(line); }}};
};

TEST_F(CollectionLoopTest, DescribesAndReadsWhatIsWantedAndNothingElse) {
  Start(1h, 100ms);
  ASSERT_TRUE(RunUntil([this] { return !collected_.empty(); }));
  EXPECT_THAT(discovered_, ElementsAre(ElementsAre("mlx5_0")));
  EXPECT_EQ(collected_.front().readings.size(), 3U);
  bool found = false;
  for (const auto& latest : collection_.Latest(Clock::now()))
    found |= !latest->readings.empty() && latest->readings.front().device == "mlx5_0";
  EXPECT_TRUE(found);
  collection_.Stop();
}

TEST_F(CollectionLoopTest, BetweenPassesOnlyThePortsThatAreAskedForAndOnlyUntilThen) {
  Start(1h, 100ms);
  ASSERT_TRUE(RunUntil([this] { return !collected_.empty(); }));
  tree_.Write("class/infiniband/mlx5_0/ports/2/hw_counters/out_of_buffer", "22\n");
  const TimePoint until = Clock::now() + 600ms;
  collection_.SampleFast({"mlx5_0", 2}, until);
  collection_.SampleFast({"mlx5_0", 2}, until - 300ms);  // never nearer
  collection_.SampleFast({"nonesuch", 1}, until);
  loop_.run_until(until + 500ms);
  const std::size_t samples = collected_.size() - 1;
  EXPECT_GE(samples, 2U);
  EXPECT_LE(samples, 8U) << "every 100 ms for 600 ms";
  std::size_t readings = 0;
  for (std::size_t i = 1; i < collected_.size(); ++i) {
    for (const collectors::Reading& reading : collected_[i].readings) {
      ++readings;
      EXPECT_EQ(reading.source, collectors::Source::kHwCounters);
      EXPECT_EQ(reading.port, 2U);
      EXPECT_EQ(reading.values.at(0).value, 22U);
    }
  }
  EXPECT_GE(readings, 2U);
  loop_.restart();
  loop_.run_for(300ms);
  EXPECT_EQ(collected_.size() - 1, samples) << "it is over";
  // What was read in between stands in the place of the pass's.
  for (const auto& latest : collection_.Latest(Clock::now())) {
    for (const collectors::Reading& reading : latest->readings) {
      if (reading.device == "mlx5_0" && reading.port == 2U) {
        EXPECT_EQ(reading.values.at(0).value, 22U);
      }
    }
  }
  collection_.Stop();
}

TEST_F(CollectionLoopTest, AHostWithoutDevicesIsSaidToHaveNone) {
  tree_.Remove("class");
  Start(1h, 100ms);
  ASSERT_TRUE(RunUntil([this] { return !discovered_.empty(); }));
  EXPECT_THAT(discovered_.front(), IsEmpty());
  collection_.Stop();
}

TEST_F(CollectionLoopTest, WhatCannotBeReadIsSaidOnceAndHow) {
  tree_.Write("class/infiniband/mlx5_0/ports/1/counters/port_xmit_wait", "garbage\n");
  Start(20ms, 10ms);
  ASSERT_TRUE(RunUntil([this] { return collected_.size() > 3; }));
  ASSERT_EQ(journal_.size(), 1U) << journal_.back();
  EXPECT_THAT(journal_[0],
              ::testing::StartsWith("collecting: left out, as they cannot be read: mlx5_0/1 "
                                    "counters/port_xmit_wait: not a number"));
  collection_.Stop();
}

TEST_F(CollectionLoopTest, ADeviceThatGoesTakesItsValuesAlong) {
  Start(20ms, 10ms);
  ASSERT_TRUE(RunUntil([this] { return !collected_.empty(); }));
  tree_.Remove("class/infiniband/mlx5_0");
  ASSERT_TRUE(RunUntil([this] { return !discovered_.empty() && discovered_.back().empty(); }));
  for (const auto& latest : collection_.Latest(Clock::now()))
    EXPECT_THAT(latest->readings, IsEmpty());
  collection_.Stop();
}

}  // namespace
}  // namespace rdmapulse
