#include "daemon/cli/record/moment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "collectors/kernel_files.h"
#include "collectors/recorded/recording.h"
#include "daemon/cli/record/host_yaml.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::cli {
namespace {

using namespace std::chrono_literals;
using collectors::Collection;
using collectors::Reading;
using collectors::Source;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

Reading Of(Source source, std::vector<collectors::Value> values) {
  Reading reading;
  reading.source = source;
  reading.netdev = "eth0";
  reading.values = std::move(values);
  return reading;
}

Reading Refused(Source source, int error) {
  Reading reading = Of(source, {});
  reading.problems = {{"eth0", std::generic_category().message(error)}};
  return reading;
}

HostMoment MomentOf(std::vector<Reading> readings) {
  Collection collection;
  collection.readings = std::move(readings);
  HostMoment moment;
  moment.collections.push_back(std::move(collection));
  return moment;
}

TEST(MomentTest, EveryToolIsAFileAndOneThatHasNothingToSayIsNone) {
  HostMoment moment = MomentOf(
      {Of(Source::kEthtool, {{"rx_prio3_pause", 12}}), Of(Source::kEthtoolNl, {{"tx-frames", 7}})});
  collectors::PortQos qos{.netdev = "eth0"};
  qos.pause_rx = true;
  qos.pfc_priorities = 8;
  moment.collections.front().qos.push_back(qos);
  moment.drivers["eth0"].driver = "mlx5_core";
  const ToolTexts texts = TextsOf(moment);
  EXPECT_THAT(
      texts.files,
      ElementsAre(
          Pair("dcb/pfc-eth0.txt", "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:off 7:off \n"),
          Pair("ethtool-I-a/eth0.txt",
               "Pause parameters for eth0:\nRX:\t\ton\nStatistics:\n  tx_pause_frames: 7\n"),
          Pair("ethtool-S/eth0.txt", "NIC statistics:\n     rx_prio3_pause: 12\n"),
          Pair("ethtool-a/eth0.txt", "Pause parameters for eth0:\nRX:\t\ton\n"),
          Pair("ethtool-i/eth0.txt", "driver: mlx5_core\nfirmware-version: \nbus-info: \n")));
  EXPECT_THAT(texts.errors, IsEmpty());
}

TEST(MomentTest, WhatTheKernelRefusedIsAnErrorAndAnInterfaceThatHasGoneIsNone) {
  const ToolTexts texts =
      TextsOf(MomentOf({Refused(Source::kEthtool, EPERM), Refused(Source::kEthtoolNl, ETIMEDOUT),
                        Refused(Source::kDcb, ENODEV), Refused(Source::kHwCounters, EINVAL)}));
  EXPECT_THAT(texts.errors, ElementsAre(Pair("ethtool-I-a/eth0.txt", ETIMEDOUT),
                                        Pair("ethtool-S/eth0.txt", EPERM)));
  EXPECT_THAT(texts.files,
              ElementsAre(Pair("ethtool-I-a/eth0.txt", ""), Pair("ethtool-S/eth0.txt", "")));
}

class WrittenMomentTest : public ::testing::Test {
 protected:
  WrittenMomentTest() : top_(std::filesystem::path(::testing::TempDir()) / "moment") {
    std::filesystem::remove_all(top_);
  }
  ~WrittenMomentTest() override { std::filesystem::remove_all(top_); }

  // What the moment is read back as.
  collectors::recorded::Recording Written(const HostMoment& moment, Anonymiser* anonymiser) {
    auto folder = RecordingFolder::Make(top_, anonymiser);
    EXPECT_TRUE(folder) << folder.error().Text();
    const fakes::Tree sysfs(
        "class/infiniband/mlx5_0/ports/1/link_layer = Ethernet\n"
        "class/infiniband/mlx5_0/ports/1/state = 4: ACTIVE\n"
        "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0 = eth0\n"
        "class/net/eth0/mtu = 9000\n");
    PatientFiles files(std::make_shared<const collectors::KernelFiles>(sysfs.Root()), 10s);
    const auto errors = WriteMoment(
        moment, files, [](const std::string& /*device*/) { return true; }, "t0", *folder);
    EXPECT_TRUE(errors) << errors.error().Text();
    errors_ = errors.value_or(99);
    return collectors::recorded::ReadRecording(top_ + "/t0", {{{"ethtool-S/eth0.txt", EPERM}}},
                                               TimePoint{});
  }

  std::string top_;
  std::size_t errors_ = 0;
};

TEST_F(WrittenMomentTest, ARefusalComesBackAsItsErrno) {
  const auto recording = Written(MomentOf({Refused(Source::kEthtool, EPERM)}), nullptr);
  EXPECT_EQ(errors_, 1U);
  EXPECT_THAT(recording.problems,
              ElementsAre(collectors::Problem{"ethtool-S/eth0.txt", "Operation not permitted"}));
  ASSERT_EQ(recording.devices.size(), 1U);
  EXPECT_EQ(recording.devices[0].ports[0].netdev, "eth0");
}

}  // namespace
}  // namespace rdmapulse::cli
