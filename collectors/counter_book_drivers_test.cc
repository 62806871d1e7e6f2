// What single drivers give in place of a count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "collectors/counter_book.h"
#include "collectors/counter_book_test_host.h"

namespace rdmapulse::collectors {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(CounterBookTest, WhatTheDriverCouldNotDecodeIsNoCountAndNoReset) {
  constexpr std::uint64_t kNone = ~0ULL;
  devices_ = Devices("ionic");
  const auto take = [this](Duration after, std::uint64_t unicast, std::uint64_t other) {
    Take({Of(Source::kHwCounters, after,
             {{"tx_rdma_mcast_bytes", 1}, {"tx_rdma_ucast_bytes", unicast}, {"unheard", other}})},
         after);
  };
  take(0s, 100, 5);
  EXPECT_THAT(Signals(At(0s)), ElementsAre("rdma_tx_bytes=101 of hw_counters"));
  take(1s, kNone, kNone);
  EXPECT_THAT(Signals(At(1s)), IsEmpty()) << "half a sum is none";
  EXPECT_THAT(
      counted_->qualities,
      ElementsAre(
          QualityNote{"d", 1, "", Source::kHwCounters, "tx_rdma_ucast_bytes", Quality::kUnreadable},
          QualityNote{"d", 1, "", Source::kHwCounters, "unheard", Quality::kUnreadable}));
  for (const RawPlan& plan : *counted_->raw.front().plan) EXPECT_EQ(plan.absent, kNone);
  take(2s, 110, 6);
  EXPECT_THAT(Signals(At(2s)), ElementsAre("rdma_tx_bytes=111 of hw_counters"));
  EXPECT_THAT(counted_->qualities, IsEmpty());
}

TEST_F(CounterBookTest, AVirtualFunctionsZerosOfThePhysicalPortAreNotMeasured) {
  const auto take = [this](Duration after) {
    Reading reading = Of(Source::kEthtool, after,
                         {{"rx_discards_phy", 0},
                          {"rx_out_of_buffer", 4},
                          {"rx_prio3_bytes", 0},
                          {"rx_prio3_pause", 0}});
    reading.netdev = "eth0";
    Take({reading}, after);
  };
  take(0s);
  EXPECT_EQ(At(0s).signals.front().values.size(), 4U);
  devices_.front().physical_function = "0000:3b:00.0";
  take(1s);
  EXPECT_THAT(Signals(At(1s)), ElementsAre("eth_rx_out_of_buffer=4 of ethtool"));
  EXPECT_THAT(counted_->pfc, IsEmpty());
  const auto frozen = [](const char* name) {
    return QualityNote{"d", 1, "eth0", Source::kEthtool, name, Quality::kFrozen};
  };
  EXPECT_THAT(counted_->qualities, ElementsAre(frozen("rx_discards_phy"), frozen("rx_prio3_bytes"),
                                               frozen("rx_prio3_pause")));
}

TEST_F(CounterBookTest, ZerosOfADriverThatMayNotCountAreNotMeasuredUntilItCounts) {
  devices_ = Devices("irdma_gen3");
  const auto take = [this](Duration after, std::uint64_t timeouts) {
    Take({Of(Source::kHwCounters, after,
             {{"RTO", timeouts}, {"cnpSent", 0}, {"ip4OutPkts", 0}, {"unheard", 0}})},
         after);
  };
  const auto signals = [](const char* timeouts) {
    return ElementsAre("cnp_sent=0 of hw_counters", "rdma_tx_packets=0 of hw_counters", timeouts);
  };
  take(0s, 0);
  EXPECT_THAT(Signals(At(0s)), IsEmpty());
  const auto frozen = [](const char* name) {
    return QualityNote{"d", 1, "", Source::kHwCounters, name, Quality::kFrozen};
  };
  EXPECT_THAT(counted_->qualities, ElementsAre(frozen("RTO"), frozen("cnpSent"),
                                               frozen("ip4OutPkts"), frozen("unheard")));
  EXPECT_EQ(Raw(*counted_).size(), 4U);
  take(1s, 1);
  EXPECT_THAT(Signals(At(1s)), signals("retransmit_timeout=1 of hw_counters"));
  EXPECT_THAT(counted_->qualities, IsEmpty());
  // Loaded anew: it has shown that it counts.
  take(2s, 0);
  take(2s + kZeroGrace, 0);
  EXPECT_THAT(Signals(At(2s + kZeroGrace)),
              signals("retransmit_timeout=0 of hw_counters, restarts 1"));
}

TEST_F(CounterBookTest, ZerosOfOtherDriversAreMeasured) {
  devices_ = Devices("irdma_gen2");
  Take({Of(Source::kHwCounters, 0s, {{"RxECNMrkd", 0}, {"cnpSent", 0}, {"ip4OutPkts", 0}})}, 0s);
  EXPECT_EQ(At(0s).signals.front().values.size(), 3U);
}

}  // namespace
}  // namespace rdmapulse::collectors
