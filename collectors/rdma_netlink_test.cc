#include "collectors/rdma_netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <deque>

#include "collectors/netlink_message.h"
#include "collectors/rdma_netlink_attributes.h"

namespace rdmapulse::collectors {

void PrintTo(const Value& v, std::ostream* out) { *out << v.name << " = " << v.value; }
void PrintTo(const NetlinkDevice& d, std::ostream* out) {
  *out << d.index << " " << d.name << " with " << d.ports << " ports";
}

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::byte> Device(std::uint32_t index, const char* name, std::uint32_t ports = 1) {
  return MessageBuilder()
      .U32(nldev::kDeviceIndex, index)
      .Text(nldev::kDeviceName, name)
      .U32(nldev::kPortIndex, ports)
      .Bytes();
}

void AddCounter(MessageBuilder& to, const char* name, std::uint64_t value) {
  to.Nest(nldev::kCounterEntry, [&](MessageBuilder& entry) {
    entry.Text(nldev::kCounterName, name).U64(nldev::kCounterValue, value);
  });
}

// Answers each question with what was prepared for it, and keeps the questions.
class FakeRdma final : public Netlink {
 public:
  Result<NetlinkAnswer> Ask(NetlinkRequest& request) override {
    asked.push_back(request.Type());
    if (answers.empty()) return Fail(ENODEV, {"reading ", request.What(), " by netlink"});
    NetlinkAnswer answer = std::move(answers.front());
    answers.pop_front();
    return answer;
  }

  std::deque<NetlinkAnswer> answers;
  std::vector<std::uint16_t> asked;
};

TEST(ListDevicesTest, InTheKernelsOrder) {
  FakeRdma rdma;
  rdma.answers = {{Device(0, "mlx5_0"), Device(3, "rxe0", 2)}};
  EXPECT_THAT(*ListDevices(rdma),
              ElementsAre(NetlinkDevice{0, "mlx5_0", 1}, NetlinkDevice{3, "rxe0", 2}));
  EXPECT_THAT(rdma.asked, ElementsAre(nldev::kGetDevice));
}

TEST(ListDevicesTest, HostWithoutDevicesHasAnEmptyList) {
  FakeRdma rdma;
  rdma.answers = {NetlinkAnswer{}};
  EXPECT_THAT(*ListDevices(rdma), IsEmpty());
}

TEST(DeviceIndexTest, IsFoundByName) {
  FakeRdma rdma;
  rdma.answers = {{Device(0, "mlx5_0"), Device(3, "rxe0")}, {Device(0, "mlx5_0")}};
  EXPECT_EQ(DeviceIndex(rdma, "rxe0"), 3U);
  EXPECT_EQ(DeviceIndex(rdma, "rxe0"), std::nullopt);
  EXPECT_EQ(DeviceIndex(rdma, "rxe0"), std::nullopt) << "and so it is when it cannot be asked";
}

TEST(ParseDeviceTest, BrokenBytesAreRefusedWithAReason) {
  const auto why = [](Bytes bytes) {
    const auto device = ParseDevice(bytes);
    return device ? "accepted" : device.error().doing;
  };
  const std::string prefix = "reading an answer of RDMA netlink: ";
  const std::vector<std::byte> device = Device(1, "mlx5_0");
  EXPECT_EQ(why({}), prefix + "a device without an index");
  EXPECT_EQ(why(Bytes(device).first(device.size() - 1)), prefix + "an attribute is cut short");
  EXPECT_EQ(why(MessageBuilder().U32(nldev::kDeviceIndex, 1).Bytes()),
            prefix + "a device without a name");
  EXPECT_EQ(
      why(MessageBuilder().U32(nldev::kDeviceIndex, 1).Put(nldev::kDeviceName, "abc", 3).Bytes()),
      prefix + "a name is no string");
}

TEST(ParsePortStatisticsTest, EveryCounterThatHasANameAndANumber) {
  std::vector<Value> values;
  const auto message = MessageBuilder()
                           .U32(nldev::kDeviceIndex, 1)
                           .Nest(nldev::kCounters,
                                 [](MessageBuilder& counters) {
                                   AddCounter(counters, "cc_rx_ce_pkts", 17);
                                   AddCounter(counters, "Nak Sequence Error", UINT64_MAX);
                                   counters.Nest(nldev::kCounterEntry, [](MessageBuilder& entry) {
                                     entry.Text(nldev::kCounterName, "without a value");
                                   });
                                 })
                           .Bytes();
  EXPECT_TRUE(ParsePortStatistics(message, values).has_value());
  EXPECT_THAT(values,
              ElementsAre(Value{"cc_rx_ce_pkts", 17}, Value{"Nak Sequence Error", UINT64_MAX}));
}

TEST(ParsePortStatisticsTest, NoMoreThanTheLimit) {
  const auto message = [](std::size_t count) {
    return MessageBuilder()
        .Nest(nldev::kCounters,
              [count](MessageBuilder& counters) {
                for (std::size_t i = 0; i < count; ++i) AddCounter(counters, "c", i);
              })
        .Bytes();
  };
  std::vector<Value> values(kMaxNetlinkValues - 3);
  EXPECT_TRUE(ParsePortStatistics(message(3), values).has_value());
  EXPECT_FALSE(ParsePortStatistics(message(1), values).has_value());
  EXPECT_EQ(values.size(), kMaxNetlinkValues);
}

TEST(ParseCounterSetsTest, SetsAddUpByName) {
  std::map<std::string, std::uint64_t> totals = {{"out_of_buffer", 1}};
  const auto message =
      MessageBuilder()
          .Nest(nldev::kCounterSets,
                [](MessageBuilder& sets) {
                  for (const std::uint64_t value : {10U, 20U}) {
                    sets.Nest(nldev::kCounterSet, [value](MessageBuilder& set) {
                      set.Nest(nldev::kCounters, [value](MessageBuilder& counters) {
                        AddCounter(counters, "out_of_buffer", value);
                        AddCounter(counters, "out_of_sequence", 2);
                      });
                    });
                  }
                })
          .Bytes();
  EXPECT_TRUE(ParseCounterSets(message, totals).has_value());
  EXPECT_THAT(totals, ElementsAre(Pair("out_of_buffer", 31), Pair("out_of_sequence", 4)));
}

TEST(ParseResourceSummaryTest, AreGauges) {
  std::vector<Value> values;
  const auto message =
      MessageBuilder()
          .Nest(nldev::kSummary,
                [](MessageBuilder& summary) {
                  for (const char* name : {"pd", "qp"}) {
                    summary.Nest(nldev::kSummaryEntry, [name](MessageBuilder& entry) {
                      entry.Text(nldev::kSummaryName, name).U64(nldev::kSummaryCurrent, 4);
                    });
                  }
                })
          .Bytes();
  EXPECT_TRUE(ParseResourceSummary(message, values).has_value());
  EXPECT_THAT(values, ElementsAre(Value{"resource/pd", 4, ValueKind::kGauge},
                                  Value{"resource/qp", 4, ValueKind::kGauge}));
}

TEST(ParseQpStatesTest, CountsByStateAndKnowsWhichThereAre) {
  std::map<std::string, std::uint64_t> states;
  const auto message = MessageBuilder()
                           .Nest(nldev::kQps,
                                 [](MessageBuilder& qps) {
                                   for (const std::uint8_t state :
                                        std::initializer_list<std::uint8_t>{0, 3, 3, 6, 7}) {
                                     qps.Nest(nldev::kQp, [state](MessageBuilder& qp) {
                                       qp.U8(nldev::kResourceState, state);
                                     });
                                   }
                                 })
                           .Bytes();
  EXPECT_TRUE(ParseQpStates(message, states).has_value());
  EXPECT_THAT(states, ElementsAre(Pair("err", 1), Pair("reset", 1), Pair("rts", 2)));
}

TEST(RdmaNetlinkTest, SmallQuestions) {
  FakeRdma rdma;
  rdma.answers = {{MessageBuilder().Text(nldev::kNetdevName, "eth0").Bytes()},
                  {MessageBuilder().Bytes()},
                  {MessageBuilder().Text(nldev::kCharacterDeviceName, "uverbs2").Bytes()},
                  {MessageBuilder().U8(nldev::kNamespacesShared, 1).Bytes()},
                  {MessageBuilder().U8(nldev::kNamespacesShared, 0).Bytes()},
                  {MessageBuilder().Bytes()}};
  EXPECT_EQ(*PortNetdev(rdma, 1, 1), "eth0");
  EXPECT_EQ(*PortNetdev(rdma, 1, 2), "") << "in another network namespace";
  EXPECT_EQ(*UverbsNode(rdma, 1), "uverbs2");
  EXPECT_EQ(*NamespacesShared(rdma), true);
  EXPECT_EQ(*NamespacesShared(rdma), false);
  EXPECT_EQ(*NamespacesShared(rdma), std::nullopt);
  EXPECT_EQ(UverbsNode(rdma, 9).error().Text(),
            "reading a device's uverbs node by netlink: No such device");
}

TEST(RdmaNetlinkTest, KernelWithoutItIsNoError) {
  const auto names = ListNetlinkDevices();
  EXPECT_TRUE(names.has_value()) << names.error().Text();
}

}  // namespace
}  // namespace rdmapulse::collectors
