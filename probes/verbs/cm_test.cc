#include "probes/verbs/cm.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::verbs {
namespace {

std::string Hex(const std::vector<std::byte>& bytes) {
  std::string hex;
  for (const std::byte byte : bytes) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4U];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15U];
  }
  return hex;
}

constexpr CmGreeting kGreeting{.to = 0x0123456789abcdef, .from = 0xfedcba9876543210};

TEST(CmGreetingTest, HasItsBytes) {
  EXPECT_EQ(Hex(Encode(kGreeting)),
            "72647031"
            "0123456789abcdef"
            "fedcba9876543210");
  EXPECT_EQ(DecodeGreeting(Encode(kGreeting)), kGreeting);
}

TEST(CmGreetingTest, ZerosMayFollow) {
  std::vector<std::byte> bytes = Encode(kGreeting);
  bytes.resize(56);  // as from RoCE
  EXPECT_EQ(DecodeGreeting(bytes), kGreeting);
  bytes.back() = std::byte{1};
  EXPECT_FALSE(DecodeGreeting(bytes));
}

TEST(CmGreetingTest, AShorterOneOrAnotherBeginningIsNone) {
  std::vector<std::byte> bytes = Encode(kGreeting);
  bytes.resize(19);
  EXPECT_FALSE(DecodeGreeting(bytes));
  EXPECT_FALSE(DecodeGreeting({}));
  bytes = Encode(kGreeting);
  bytes[3] = std::byte{'2'};
  EXPECT_FALSE(DecodeGreeting(bytes));
}

TEST(CmGreetingTest, ATokenIsNeverZero) {
  EXPECT_FALSE(DecodeGreeting(Encode({.to = 0, .from = 1})));
  EXPECT_FALSE(DecodeGreeting(Encode({.to = 1, .from = 0})));
  EXPECT_TRUE(DecodeGreeting(Encode({.to = 1, .from = 1})));
}

TEST(CmAddressTest, IsWrittenAsUsual) {
  EXPECT_EQ((CmAddress{*ParseGid("10.0.0.1"), 4791}).Text(), "10.0.0.1:4791");
  EXPECT_EQ((CmAddress{*ParseGid("fd77::1"), 1}).Text(), "[fd77::1]:1");
}

TEST(KernelCmHostTest, ANodeThatIsNotThereSaysWhatToDo) {
  const Result<UniqueFd> opened = KernelCmHost().Open("/nowhere/rdma_cm");
  ASSERT_FALSE(opened);
  EXPECT_EQ(
      opened.error().Text(),
      "opening /nowhere/rdma_cm, by which QPs are to be connected: No such file or directory; load "
      "rdma_ucm and see that udev makes the node");
}

TEST(KernelCmHostTest, TheAddressesAreThoseOfTheInterfaceAlone) {
  const Result<std::vector<Gid>> addresses = KernelCmHost().Addresses("lo");
  ASSERT_TRUE(addresses);
  EXPECT_NE(std::find(addresses->begin(), addresses->end(), *ParseGid("127.0.0.1")),
            addresses->end());
  EXPECT_TRUE(KernelCmHost().Addresses("no_such_if")->empty());
}

}  // namespace
}  // namespace rdmapulse::verbs
