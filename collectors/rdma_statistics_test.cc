#include "collectors/rdma_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "collectors/netlink_message.h"
#include "collectors/rdma_netlink_attributes.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out);  // rdma_netlink_test.cc
void PrintTo(const Problem& p, std::ostream* out) { *out << p.name << ": " << p.reason; }

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

void AddCounter(MessageBuilder& to, const char* name, std::uint64_t value) {
  to.Nest(nldev::kCounterEntry, [&](MessageBuilder& entry) {
    entry.Text(nldev::kCounterName, name).U64(nldev::kCounterValue, value);
  });
}

// A host with one device, mlx5_0, whose number can change.
class FakeRdma final : public Netlink {
 public:
  FakeRdma() {
    answers[nldev::kGetStatistics] =
        MessageBuilder()
            .Nest(nldev::kCounters,
                  [](MessageBuilder& counters) {
                    AddCounter(counters, "np_cnp_sent", 1);
                    AddCounter(counters, "cc_rx_ce_pkts", 2);
                  })
            .Nest(nldev::kCounterSets,
                  [](MessageBuilder& sets) {
                    sets.Nest(nldev::kCounterSet, [](MessageBuilder& set) {
                      set.Nest(nldev::kCounters, [](MessageBuilder& counters) {
                        AddCounter(counters, "out_of_buffer", 9);
                      });
                    });
                  })
            .Bytes();
    SetQps(2);
    answers[nldev::kGetSystem] = MessageBuilder().U8(nldev::kNamespacesShared, 1).Bytes();
    answers[nldev::kGetQps] = MessageBuilder()
                                  .Nest(nldev::kQps,
                                        [](MessageBuilder& qps) {
                                          qps.Nest(nldev::kQp, [](MessageBuilder& qp) {
                                            qp.U8(nldev::kResourceState, 3);
                                          });
                                        })
                                  .Bytes();
  }

  void SetQps(std::uint64_t count) {
    answers[nldev::kGetResources] =
        MessageBuilder()
            .Nest(nldev::kSummary,
                  [count](MessageBuilder& summary) {
                    summary.Nest(nldev::kSummaryEntry, [count](MessageBuilder& entry) {
                      entry.Text(nldev::kSummaryName, "qp").U64(nldev::kSummaryCurrent, count);
                    });
                  })
            .Bytes();
  }

  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override {
    ++asked[request.Type()];
    if (request.Type() == nldev::kGetDevice) {
      return NetlinkAnswer{MessageBuilder()
                               .U32(nldev::kDeviceIndex, index)
                               .Text(nldev::kDeviceName, "mlx5_0")
                               .Bytes()};
    }
    // It is asked of no device.
    if (request.Type() == nldev::kGetSystem) return NetlinkAnswer{answers.at(request.Type())};
    const auto wanted =
        NetlinkNumber<std::uint32_t>(FindAttribute(request.Payload(), nldev::kDeviceIndex));
    const int fails = wanted == index ? error : ENODEV;
    if (fails != 0) return Fail(fails, {"reading ", request.What(), " by netlink"});
    return NetlinkAnswer{answers.at(request.Type())};
  }

  std::uint32_t index = 4;
  int error = 0;
  std::map<std::uint16_t, std::vector<std::byte>> answers;
  std::map<std::uint16_t, int> asked;
};

TEST(RdmaStatisticsTest, OfAPortOnlyWhatSysfsDoesNotHave) {
  FakeRdma rdma;
  RdmaStatistics statistics(rdma, "mlx5_0", false);
  Reading reading;
  const SourceRead read = statistics.ReadPort({}, 1, {"np_cnp_sent"}, reading);
  EXPECT_TRUE(read.exists);
  EXPECT_THAT(reading.values, ElementsAre(Value{"cc_rx_ce_pkts", 2}));
  Reading nothing;
  EXPECT_FALSE(statistics.ReadPort({}, 1, {"cc_rx_ce_pkts", "np_cnp_sent"}, nothing).exists);
  Reading all;
  statistics.ReadPort({}, 1, {}, all);
  EXPECT_EQ(all.values.size(), 2U) << "in a network namespace that hides sysfs' folder";
}

TEST(RdmaStatisticsTest, ResourcesAndQpsByState) {
  FakeRdma rdma;
  RdmaStatistics statistics(rdma, "mlx5_0", false);
  Reading reading;
  EXPECT_TRUE(statistics.ReadDevice({}, reading).exists);
  EXPECT_THAT(reading.values, ElementsAre(Value{"resource/qp", 2, ValueKind::kGauge},
                                          Value{"resource/qp/rts", 1, ValueKind::kGauge},
                                          Value{"system/netns-shared", 1, ValueKind::kGauge}));
}

TEST(RdmaStatisticsTest, TooManyQpsAreNotListed) {
  FakeRdma rdma;
  RdmaStatistics statistics(rdma, "mlx5_0", false);
  for (const std::uint64_t count : {kMaxQpsByState, kMaxQpsByState + 1}) {
    rdma.SetQps(count);
    Reading reading;
    statistics.ReadDevice({}, reading);
    EXPECT_EQ(rdma.asked[nldev::kGetQps], 1) << count;
  }
}

TEST(RdmaStatisticsTest, SetsOfQpsOnlyWhenWanted) {
  FakeRdma rdma;
  Reading reading;
  RdmaStatistics(rdma, "mlx5_0", true).ReadDevice({}, reading);
  EXPECT_THAT(reading.values, ::testing::Contains(Value{"qp/out_of_buffer", 9}));
}

TEST(RdmaStatisticsTest, ADeviceThatTheKernelDoesNotListIsNoSource) {
  FakeRdma rdma;
  RdmaStatistics statistics(rdma, "mlx5_1", false);
  Reading reading;
  EXPECT_FALSE(statistics.ReadDevice({}, reading).exists);
  EXPECT_THAT(reading.problems, IsEmpty());
}

TEST(RdmaStatisticsTest, ADeviceThatCameBackIsFoundUnderItsNewNumber) {
  FakeRdma rdma;
  RdmaStatistics statistics(rdma, "mlx5_0", false);
  Reading reading;
  statistics.ReadPort({}, 1, {}, reading);
  rdma.index = 5;
  Reading gone;
  EXPECT_FALSE(statistics.ReadPort({}, 1, {}, gone).success);
  EXPECT_THAT(gone.problems, ElementsAre(ProblemOf("the port's counters", ENODEV)));
  Reading back;
  EXPECT_TRUE(statistics.ReadPort({}, 1, {}, back).success);
  EXPECT_EQ(back.values.size(), 2U);
}

TEST(RdmaStatisticsTest, ARefusalIsRememberedForAWhile) {
  for (const int refusal : {EOPNOTSUPP, EINVAL, EMSGSIZE}) {
    FakeRdma rdma;
    rdma.error = refusal;
    RdmaStatistics statistics(rdma, "mlx5_0", false);
    Reading reading;
    const TimePoint start{};
    for (const Duration later : {Duration(0), kRefusedFor - Duration(1), kRefusedFor}) {
      const SourceRead read = statistics.ReadPort(start + later, 1, {}, reading);
      EXPECT_FALSE(read.exists);
      EXPECT_TRUE(read.success);
    }
    EXPECT_EQ(rdma.asked[nldev::kGetStatistics], 2) << refusal;
    EXPECT_THAT(reading.problems, IsEmpty());
  }
}

}  // namespace
}  // namespace rdmapulse::collectors
