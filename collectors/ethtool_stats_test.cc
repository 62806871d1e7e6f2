#include "collectors/ethtool_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <cerrno>
#include <cstring>
#include <functional>

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Answers as the kernel's ethtool does; the set may change between any two calls.
class FakeNic final : public EthtoolIoctl {
 public:
  int Call(const std::string& netdev, void* request) override {
    EXPECT_EQ(netdev, "eth0");
    ++calls;
    if (before_call) before_call();
    if (error != 0) return error;
    std::uint32_t command = 0;
    std::memcpy(&command, request, sizeof(command));
    switch (command) {
      case ETHTOOL_GSSET_INFO: return Count(request);
      case ETHTOOL_GSTRINGS: return Strings(request);
      case ETHTOOL_GSTATS: return Values(request);
      default: return EOPNOTSUPP;
    }
  }

  std::vector<std::pair<std::string, std::uint64_t>> stats;
  std::uint32_t announced = 0;  // when not 0: what GSSET_INFO claims
  bool fixed_kernel = true;     // answers nothing unless the request's count is exact
  bool no_set = false;
  int error = 0;
  int calls = 0;
  int namings = 0;
  std::function<void()> before_call;

 private:
  std::uint32_t Size() const {
    return announced != 0 ? announced : static_cast<std::uint32_t>(stats.size());
  }
  int Count(void* request) {
    auto* info = static_cast<ethtool_sset_info*>(request);
    EXPECT_EQ(info->sset_mask, 1ULL << ETH_SS_STATS);
    if (no_set) info->sset_mask = 0;
    const std::uint32_t count = Size();
    std::memcpy(info->data, &count, sizeof(count));
    return 0;
  }
  int Strings(void* request) {
    ++namings;
    auto* strings = static_cast<ethtool_gstrings*>(request);
    EXPECT_EQ(strings->string_set, std::uint32_t{ETH_SS_STATS});
    if (fixed_kernel && strings->len != stats.size()) {
      strings->len = 0;
      return 0;
    }
    strings->len = static_cast<std::uint32_t>(stats.size());
    for (std::size_t i = 0; i < stats.size(); ++i) {
      std::memcpy(strings->data + i * ETH_GSTRING_LEN, stats[i].first.data(),
                  std::min<std::size_t>(stats[i].first.size(), ETH_GSTRING_LEN));
    }
    return 0;
  }
  int Values(void* request) {
    auto* values = static_cast<ethtool_stats*>(request);
    if (fixed_kernel && values->n_stats != stats.size()) {
      values->n_stats = 0;
      return 0;
    }
    values->n_stats = static_cast<std::uint32_t>(stats.size());
    for (std::size_t i = 0; i < stats.size(); ++i) values->data[i] = stats[i].second;
    return 0;
  }
};

class EthtoolStatsTest : public ::testing::Test {
 protected:
  Reading Pass() {
    Reading reading{.source = Source::kEthtool, .netdev = "eth0"};
    read = stats.ReadInto(reading);
    return reading;
  }

  FakeNic nic;
  EthtoolStats stats{nic};
  SourceRead read;
};

TEST_F(EthtoolStatsTest, NamesAreResolvedOnceAndValuesEachTime) {
  nic.stats = {{"rx_prio3_pause", 7}, {"tx_prio3_pause", 18446744073709551615U}};
  EXPECT_THAT(Pass().values, ElementsAre(Value{"rx_prio3_pause", 7},
                                         Value{"tx_prio3_pause", 18446744073709551615U}));
  EXPECT_TRUE(read.exists && read.success);
  EXPECT_EQ(nic.calls, 3);
  nic.stats[0].second = 8;
  EXPECT_EQ(Pass().values.front(), (Value{"rx_prio3_pause", 8}));
  EXPECT_EQ(nic.calls, 4);
}

// PFC switched on for one more priority between two passes, on either kind of kernel.
TEST_F(EthtoolStatsTest, NamesAreResolvedAgainWhenTheSetGrows) {
  for (const bool fixed : {true, false}) {
    nic.fixed_kernel = fixed;
    nic.stats = {{"a", 1}};
    Pass();
    nic.stats = {{"new", 9}, {"a", 1}};
    EXPECT_THAT(Pass().values, ElementsAre(Value{"new", 9}, Value{"a", 1})) << fixed;
    EXPECT_TRUE(read.success);
  }
}

TEST_F(EthtoolStatsTest, NamesAreResolvedAgainWhenTheSetShrinks) {
  nic.stats = {{"a", 1}, {"b", 2}};
  Pass();
  nic.stats = {{"b", 2}};
  EXPECT_THAT(Pass().values, ElementsAre(Value{"b", 2}));
}

TEST_F(EthtoolStatsTest, SetThatChangesBetweenTwoCallsIsAskedForAgain) {
  nic.stats = {{"a", 1}};
  nic.before_call = [this] {
    if (nic.calls == 2) nic.stats = {{"b", 2}, {"c", 3}};  // after the count, before the names
  };
  EXPECT_THAT(Pass().values, ElementsAre(Value{"b", 2}, Value{"c", 3}));
  EXPECT_TRUE(read.success);
}

TEST_F(EthtoolStatsTest, SetThatChangesAllTheTimeIsAProblem) {
  nic.stats = {{"a", 1}};
  nic.before_call = [this] { nic.stats.push_back({"n" + std::to_string(nic.calls), 1}); };
  const Reading reading = Pass();
  EXPECT_THAT(reading.values, IsEmpty());
  EXPECT_THAT(reading.problems,
              ElementsAre(Problem{"eth0", "the set of statistics keeps changing"}));
  EXPECT_TRUE(read.exists);
  EXPECT_FALSE(read.success);
}

// Such a kernel writes as many entries as the driver has by now, into whatever room there is.
TEST_F(EthtoolStatsTest, ThereIsRoomForWhatAnUnfixedKernelWritesTooMuch) {
  nic.fixed_kernel = false;
  nic.stats = {{"a", 1}};
  Pass();
  for (std::uint32_t i = 0; i < kSpareStatistics; ++i) nic.stats.push_back({"x", i});
  EXPECT_EQ(Pass().values.size(), 2U) << "a, and the first of the equal names";
}

TEST_F(EthtoolStatsTest, ExchangeOfEqualSizeIsNoticedInTheEnd) {
  nic.stats = {{"rx_prio3_pause", 7}};
  Pass();
  nic.stats = {{"rx_prio4_pause", 0}};
  unsigned passes = 1;
  while (Pass().values.front().name != "rx_prio4_pause" && passes <= kReadsPerNaming) ++passes;
  EXPECT_EQ(passes, kReadsPerNaming);
}

TEST_F(EthtoolStatsTest, NicWithoutStatisticsIsNoSource) {
  nic.no_set = true;
  EXPECT_EQ(Pass(), (Reading{.source = Source::kEthtool, .netdev = "eth0"}));
  EXPECT_FALSE(read.exists);
  nic.no_set = false;  // a set without entries
  Pass();
  EXPECT_FALSE(read.exists);
  nic.error = EOPNOTSUPP;
  Pass();
  EXPECT_FALSE(read.exists);
}

TEST_F(EthtoolStatsTest, NetdevThatWentAwayIsAProblemAndIsReadAfreshWhenItIsBack) {
  nic.stats = {{"a", 1}};
  Pass();
  nic.error = ENODEV;
  EXPECT_THAT(Pass().problems, ElementsAre(ProblemOf("eth0", ENODEV)));
  EXPECT_TRUE(read.exists);
  EXPECT_FALSE(read.success);
  nic.error = 0;
  nic.stats = {{"b", 2}};
  EXPECT_THAT(Pass().values, ElementsAre(Value{"b", 2}));
}

TEST_F(EthtoolStatsTest, AbsurdCountIsRefused) {
  nic.stats = {{"a", 1}};
  nic.announced = kMaxStatistics + 1;
  EXPECT_THAT(Pass().problems, ElementsAre(ProblemOf("eth0", E2BIG)));
  EXPECT_EQ(nic.namings, 0);
}

TEST_F(EthtoolStatsTest, ForgottenNetdevIsAskedForItsNamesAgain) {
  nic.stats = {{"a", 1}};
  Pass();
  stats.KeepOnly({"eth0"});
  Pass();
  EXPECT_EQ(nic.namings, 1);
  stats.KeepOnly({"eth1"});
  Pass();
  EXPECT_EQ(nic.namings, 2);
}

TEST(StatisticNamesTest, PaddingRepeatsAndBytesThatNoLabelMayHold) {
  std::vector<std::string> names = {"rx_ppp3_frames         ",           // cxgb4 pads with blanks
                                    "[0]: rx_discards",                  // bnxt
                                    "exactly_thirty_two_characters_xx",  // no NUL
                                    "tx_vport\xff\n",
                                    "[0]: rx_discards",  // mana repeats names
                                    ""};
  std::string blocks;
  for (std::string& name : names) {
    name.resize(ETH_GSTRING_LEN);
    blocks += name;
  }
  EXPECT_THAT(StatisticNames(blocks.data(), 6),
              ElementsAre("rx_ppp3_frames", "[0]: rx_discards", "exactly_thirty_two_characters_xx",
                          "tx_vport?", "", ""));
}

TEST(KernelEthtoolTest, LoopbackHasNoStatistics) {
  auto kernel = KernelEthtool::Open();
  ASSERT_TRUE(kernel.has_value()) << kernel.error().Text();
  EthtoolStats stats(*kernel);
  Reading reading{.source = Source::kEthtool, .netdev = "lo"};
  const SourceRead read = stats.ReadInto(reading);
  EXPECT_FALSE(read.exists) << ::testing::PrintToString(reading.problems.size());
  reading.netdev = "nosuchnetdev";
  EXPECT_FALSE(stats.ReadInto(reading).success);
  EXPECT_THAT(reading.problems, ElementsAre(ProblemOf("nosuchnetdev", ENODEV)));
}

}  // namespace
}  // namespace rdmapulse::collectors
