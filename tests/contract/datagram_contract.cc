// The contract's part about datagrams.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdint>

#include "tests/contract/transport_contract.h"

namespace rdmapulse::contract {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr probes::QpAttributes kWithDatagrams{
    .traffic_class = 0, .timeout = 14, .retry_cnt = 3, .flow_label = 1, .ud_source_ports = 2};
constexpr probes::QpAttributes kWithoutDatagrams{
    .traffic_class = 0, .timeout = 14, .retry_cnt = 3, .flow_label = 1, .ud_source_ports = 0};

}  // namespace

TEST_P(TransportContractTest, ADatagramIsAnsweredOnceByEveryWayBesideWhatIsOutstanding) {
  if (!harness_->Datagrams()) return;
  const auto [here, there] = ConnectedPair();
  EXPECT_NE(here.endpoint.ud_qpn, 0U);
  EXPECT_NE(here.endpoint.ud_token, 0U);
  for (std::uint32_t way = 0; way < 10; ++way) {
    const Qp& qp = way % 3 != 0 ? here : there;
    const std::uint64_t probe = 0xFEDCBA9800000000U + way;
    ASSERT_TRUE(qp.end.transport->Post(qp.id, ops_.front(), way));
    ASSERT_TRUE(qp.end.transport->PostDatagram(qp.id, way, probe));
    ASSERT_TRUE(harness_->RunUntil([this, way] { return echoed_.size() > way; }));
    EXPECT_EQ(echoed_.back().probe, probe);
    EXPECT_GE(echoed_.back().responder, Duration::zero());
    EXPECT_LT(echoed_.back().responder, std::chrono::seconds(5));
    EXPECT_THAT(Await(1), ElementsAre(Pair(way, 0))) << "the datagram itself does not complete";
  }
  Settle();
  EXPECT_EQ(echoed_.size(), 10U);
  EXPECT_THAT(completed_, IsEmpty());
}

TEST_P(TransportContractTest, AfterCloseNoDatagramIsAnsweredAtEitherEnd) {
  if (!harness_->Datagrams()) return;
  const auto [here, there] = ConnectedPair();
  there.end.transport->Close(there.id);
  ASSERT_TRUE(here.end.transport->PostDatagram(here.id, 0, 1));
  Settle();
  EXPECT_THAT(completed_, IsEmpty()) << "a datagram that nobody answers ends nothing";
  ASSERT_TRUE(here.end.transport->PostDatagram(here.id, 1, 2));
  here.end.transport->Close(here.id);
  EXPECT_FALSE(here.end.transport->PostDatagram(here.id, 0, 3));
  Settle();
  EXPECT_TRUE(echoed_.empty());
  const auto [again, peer] = ConnectedPair();
  ASSERT_TRUE(again.end.transport->PostDatagram(again.id, 0, 4));
  EXPECT_TRUE(harness_->RunUntil([this] { return !echoed_.empty(); }));
}

TEST_P(TransportContractTest, WithoutDatagramsAtOneEndNoneIsSentAndRcIsAsEver) {
  const Result<Qp> here = Open(here_, GidOf(there_), kWithDatagrams);
  const Result<Qp> there = Open(there_, GidOf(here_), kWithoutDatagrams);
  ASSERT_TRUE(here && there);
  EXPECT_EQ(there->endpoint.ud_qpn, 0U);
  ASSERT_TRUE(Connect(*here, there->endpoint));
  ASSERT_TRUE(Connect(*there, here->endpoint));
  EXPECT_FALSE(here_.transport->PostDatagram(here->id, 0, 1));
  EXPECT_FALSE(there_.transport->PostDatagram(there->id, 0, 2));
  ASSERT_TRUE(here_.transport->Post(here->id, ops_.front(), 3));
  EXPECT_THAT(Await(1), ElementsAre(Pair(3, 0)));
}

}  // namespace rdmapulse::contract
