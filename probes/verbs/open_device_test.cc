#include "probes/verbs/open_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "probes/verbs/test_support.h"
#include "tests/fakes/ibverbs.h"

namespace rdmapulse::verbs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNoDevRoot[] = "/nowhere";  // not looked at while uverbs is unknown
constexpr std::uint32_t kQpsMax = 16;

class OpenDeviceTest : public ::testing::Test {
 protected:
  OpenDeviceTest() {
    fakes::FakePort second = RocePort("10.0.1.1");
    second.number = 2;
    second.mtu = IBV_MTU_1024;
    second.active = false;
    second.gids.push_back({.index = 7, .gid = *ParseGid("fe80::1"), .type = GidType::kRoceV1});
    verbs_.AddDevice("fake_0", {RocePort("10.0.0.1"), second});
  }
  void TearDown() override {
    EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());
    EXPECT_THAT(verbs_.Misuse(), IsEmpty());
  }
  Result<OpenedDevice> OpenIt() {
    return OpenForProbing(info_, kNoDevRoot, kQpsMax, KernelCmHost(), false);
  }

  fakes::Ibverbs verbs_;
  DeviceInfo info_ = Discovered("fake_0", {1, 2});
};

TEST_F(OpenDeviceTest, ReadsWhatTheDriverSaysOfEachPort) {
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_TRUE(opened) << opened.error().Text();
  const PortFacts first{.port = 1,
                        .link_layer = LinkLayer::kEthernet,
                        .active = true,
                        .mtu_bytes = 4096,
                        .lid = 0,
                        .gids = {RoceGid(1, "10.0.0.1")}};
  const PortFacts second{
      .port = 2,
      .link_layer = LinkLayer::kEthernet,
      .active = false,
      .mtu_bytes = 1024,
      .lid = 0,
      .gids = {RoceGid(1, "10.0.1.1"),
               {.index = 7, .gid = *ParseGid("fe80::1"), .type = GidType::kRoceV1}}};
  EXPECT_THAT(opened->facts, ElementsAre(first, second));
}

TEST_F(OpenDeviceTest, APeerCanReachOnePageAPortAndNoMore) {
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_TRUE(opened) << opened.error().Text();
  for (const OpenPort& port : opened->device.ports) {
    EXPECT_EQ(port.mr->length, kBufferBytes);
    EXPECT_EQ(port.mr->addr, port.buffer.get());
  }
  EXPECT_NE(opened->device.ports[0].mr->rkey, opened->device.ports[1].mr->rkey);
}

TEST_F(OpenDeviceTest, ADeviceThatLibibverbsDoesNotKnowNeedsItsProvider) {
  const Result<OpenedDevice> opened =
      OpenForProbing(Discovered("mlx9_0"), kNoDevRoot, kQpsMax, KernelCmHost(), false);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().Text(),
            "libibverbs does not know mlx9_0; install its provider (Debian: ibverbs-providers)");
}

TEST_F(OpenDeviceTest, AMissingNodeIsSaidBeforeLibibverbsIsAsked) {
  info_.uverbs = "uverbs0";
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().Text(),
            "opening /nowhere/uverbs0 for fake_0: No such file or directory; load ib_uverbs and "
            "see that udev makes the node");
  EXPECT_EQ(verbs_.VerbsSeen(), 0);
}

// As a user whom the node's mode keeps out, also where tests run as root.
void DropCapabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2] = {};
  if (syscall(SYS_capset, &header, none) != 0) std::abort();
}

TEST_F(OpenDeviceTest, ANodeThatIsClosedToUsSaysWhatOpensIt) {
  const std::string folder = ::testing::TempDir();
  const std::string node = folder + "/uverbs7";
  std::ofstream(node).put('\n');
  ASSERT_EQ(chmod(node.c_str(), 0), 0);
  info_.uverbs = "uverbs7";
  EXPECT_EXIT(
      {
        DropCapabilities();
        const Result<OpenedDevice> opened =
            OpenForProbing(info_, folder, kQpsMax, KernelCmHost(), false);
        std::fputs(opened ? "it opened" : opened.error().Text().c_str(), stderr);
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(0),
      "opening .*/uverbs7 for fake_0: Permission denied; run rdmapulsed as a user that may read "
      "and write it .the shipped unit does, by DeviceAllow.");
  std::remove(node.c_str());
}

// What opening two ports asks of libibverbs that can fail: the list, the device, what it is, a PD,
// a channel, and for each port an MR, a CQ and its arming.
constexpr int kCreatingVerbs = 11;

TEST_F(OpenDeviceTest, EveryCreatingVerbIsTriedBelow) {
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_TRUE(opened) << opened.error().Text();
  EXPECT_EQ(verbs_.VerbsSeen(), kCreatingVerbs);
}

class FailingVerbTest : public OpenDeviceTest, public ::testing::WithParamInterface<int> {};

TEST_P(FailingVerbTest, IsNamedAndWhatCameBeforeIsGivenBack) {
  verbs_.FailVerb(GetParam(), ENODEV);
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_TRUE(verbs_.FaultFired());
  ASSERT_FALSE(opened);
  EXPECT_EQ(verbs_.VerbsSeen(), GetParam()) << "nothing is asked of a device that said no";
  EXPECT_EQ(opened.error().code, std::errc::no_such_device);
  EXPECT_THAT(opened.error().doing, HasSubstr(verbs_.FaultyVerb()));
  EXPECT_THAT(opened.error().doing, HasSubstr("fake_0"));
  EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EachStep, FailingVerbTest, ::testing::Range(1, kCreatingVerbs + 1));

// ENOMEM under a low limit, EPERM under a limit of 0 (soft-roce.md 11).
TEST_F(OpenDeviceTest, TooLittleLockedMemorySaysWhichLimitToRaise) {
  for (const int code : {ENOMEM, EPERM}) {
    verbs_.FailVerb("ibv_reg_mr", 1, code);
    const Result<OpenedDevice> opened = OpenIt();
    ASSERT_TRUE(verbs_.FaultFired());
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().advice,
              "the locked-memory limit is too low: raise LimitMEMLOCK in the unit, or ulimit -l");
  }
  verbs_.FailVerb("ibv_reg_mr", 1, EINVAL);
  const Result<OpenedDevice> opened = OpenIt();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().advice, "") << "EINVAL has another reason";
}

TEST_F(OpenDeviceTest, ADeviceThatVanishesInsideAnyCallLeavesNothingBehind) {
  int calls = 0;
  for (;; ++calls) {
    verbs_.Return("fake_0");
    verbs_.VanishInCall(calls + 1, "fake_0");
    Result<OpenedDevice> opened = OpenIt();
    if (!verbs_.FaultFired()) break;
    SCOPED_TRACE(verbs_.FaultyVerb());
    if (opened) {  // gone while the ports were read, or later
      EXPECT_THAT(opened->facts[0].gids, IsEmpty());
      opened = Fail({"closed"});
    }
    EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());
  }
  // The creating ones but the list, which is of no device; two ports' queries and the GID table.
  EXPECT_GE(calls, kCreatingVerbs - 1 + 3);
}

}  // namespace
}  // namespace rdmapulse::verbs
