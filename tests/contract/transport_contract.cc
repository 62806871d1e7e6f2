#include "tests/contract/transport_contract.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>

namespace rdmapulse::contract {
namespace {

using probes::Op;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr std::uint64_t kSentinel = 0x5E4714E1;
// A dead peer is noticed within half a second on rxe (soft-roce.md, question 8).
constexpr probes::QpAttributes kImpatient{
    .traffic_class = 0, .timeout = 14, .retry_cnt = 3, .flow_label = 1, .ud_source_ports = 2};

}  // namespace

void PrintTo(const Implementation& implementation, std::ostream* out) {
  *out << implementation.name;
}

void TransportContractTest::SetUp() {
  harness_ = GetParam().make();
  if (const std::string why = harness_->Skip(); !why.empty()) GTEST_SKIP() << why;
  ops_ = harness_->Ops();
  here_ = harness_->Here();
  there_ = harness_->There();
  for (const End& end : {here_, there_}) {
    end.transport->SetHandlers(
        {.completed =
             [this](const probes::Completion& completion) {
               completed_.emplace_back(completion.probe, completion.status.code);
             },
         .port_changed = [this](const PortId& port,
                                const std::string& /*why*/) { changed_.push_back(port); },
         .echoed = [this](const probes::EchoReply& reply) { echoed_.push_back(reply); }});
  }
}

void TransportContractTest::TearDown() {
  if (here_.transport != nullptr) {
    here_.transport->SetHandlers({});
    there_.transport->SetHandlers({});
  }
  harness_->Stop();
  harness_.reset();
  EXPECT_EQ(answers_due_, 0) << "every Open and Connect is answered once";
}

Gid TransportContractTest::GidOf(const End& end) const {
  for (const probes::TransportPort& port : end.transport->Ports()) {
    if (port.id == end.port) return port.gid;
  }
  return {};
}

Result<TransportContractTest::Qp> TransportContractTest::Open(
    const End& end, const Gid& towards, const probes::QpAttributes& attributes) {
  Result<Qp> answer = Fail({"Open was not answered"});
  bool answered = false;
  ++answers_due_;
  end.transport->Open(end.port, towards, attributes, [this, &answer, &answered, end](auto result) {
    --answers_due_;
    answered = true;
    if (result) {
      answer = Qp{end, result->first, result->second};
    } else {
      answer = tl::unexpected(result.error());
    }
  });
  EXPECT_TRUE(harness_->RunUntil([&answered] { return answered; }));
  return answer;
}

Result<void> TransportContractTest::Connect(const Qp& qp, const probes::QpEndpoint& remote) {
  Result<void> answer = Fail({"Connect was not answered"});
  bool answered = false;
  ++answers_due_;
  qp.end.transport->Connect(qp.id, remote, [this, &answer, &answered](Result<void> result) {
    --answers_due_;
    answered = true;
    answer = std::move(result);
  });
  EXPECT_TRUE(harness_->RunUntil([&answered] { return answered; }));
  return answer;
}

std::pair<TransportContractTest::Qp, TransportContractTest::Qp>
TransportContractTest::ConnectedPair() {
  const Result<Qp> here = Open(here_, GidOf(there_), kImpatient);
  const Result<Qp> there = Open(there_, GidOf(here_), kImpatient);
  if (!here || !there) {
    ADD_FAILURE() << (here ? there : here).error().Text();
    return {};
  }
  const Result<void> here_connected = Connect(*here, there->endpoint);
  const Result<void> there_connected = Connect(*there, here->endpoint);
  EXPECT_TRUE(here_connected) << here_connected.error().Text();
  EXPECT_TRUE(there_connected) << there_connected.error().Text();
  return {*here, *there};
}

TransportContractTest::Completions TransportContractTest::Await(std::size_t count) {
  EXPECT_TRUE(harness_->RunUntil([this, count] { return completed_.size() >= count; }));
  return std::exchange(completed_, {});
}

void TransportContractTest::Settle() {
  const auto [a, b] = ConnectedPair();
  EXPECT_TRUE(a.end.transport->Post(a.id, ops_.front(), kSentinel));
  const auto arrived = [this] {
    const auto found = std::find(completed_.begin(), completed_.end(), std::pair(kSentinel, 0));
    if (found == completed_.end()) return false;
    completed_.erase(found);
    return true;
  };
  EXPECT_TRUE(harness_->RunUntil(arrived));
  a.end.transport->Close(a.id);
  b.end.transport->Close(b.id);
}

TEST_P(TransportContractTest, AProbeOfEveryOpCompletesWithItsNumber) {
  const auto [here, there] = ConnectedPair();
  for (const Op op : ops_) {
    SCOPED_TRACE(Name(op));
    const std::uint64_t probe = 0xFEDCBA9876543210U + static_cast<std::uint64_t>(op);
    ASSERT_TRUE(here.end.transport->Post(here.id, op, probe));
    EXPECT_THAT(Await(1), ElementsAre(Pair(probe, 0)));
  }
}

TEST_P(TransportContractTest, AnEchoIsAnsweredOnceAndSaysWhatThePeerTook) {
  if (std::find(ops_.begin(), ops_.end(), Op::kEcho) == ops_.end()) return;
  const auto [here, there] = ConnectedPair();
  for (std::uint64_t probe = 1; probe <= 10; ++probe) {
    const bool from_here = probe % 3 != 0;
    const Qp& qp = from_here ? here : there;
    ASSERT_TRUE(qp.end.transport->Post(qp.id, Op::kEcho, probe));
    EXPECT_THAT(Await(1), ElementsAre(Pair(probe, 0)));
    ASSERT_TRUE(harness_->RunUntil([this, probe] { return echoed_.size() >= probe; }));
    EXPECT_EQ(echoed_.back().probe, probe);
    EXPECT_GE(echoed_.back().responder, Duration::zero());
    EXPECT_LT(echoed_.back().responder, std::chrono::seconds(5));
  }
  Settle();
  EXPECT_EQ(echoed_.size(), 10U);
}

TEST_P(TransportContractTest, BothEndsMayAskAtOnce) {
  if (std::find(ops_.begin(), ops_.end(), Op::kEcho) == ops_.end()) return;
  const auto [here, there] = ConnectedPair();
  ASSERT_TRUE(here.end.transport->Post(here.id, Op::kEcho, 1));
  ASSERT_TRUE(there.end.transport->Post(there.id, Op::kEcho, 2));
  EXPECT_THAT(Await(2), UnorderedElementsAre(Pair(1, 0), Pair(2, 0)));
  EXPECT_TRUE(harness_->RunUntil([this] { return echoed_.size() >= 2; }));
}

TEST_P(TransportContractTest, AfterCloseNoEchoIsAnswered) {
  if (std::find(ops_.begin(), ops_.end(), Op::kEcho) == ops_.end()) return;
  const auto [here, there] = ConnectedPair();
  ASSERT_TRUE(here.end.transport->Post(here.id, Op::kEcho, 1));
  here.end.transport->Close(here.id);
  Settle();
  EXPECT_THAT(completed_, IsEmpty());
  EXPECT_TRUE(echoed_.empty());
}

TEST_P(TransportContractTest, AnEndpointSaysWhatThePeerNeeds) {
  const Result<Qp> here = Open(here_, GidOf(there_));
  ASSERT_TRUE(here) << here.error().Text();
  EXPECT_NE(here->id, 0U);
  EXPECT_EQ(here->endpoint.port, here_.port);
  EXPECT_EQ(here->endpoint.gid, GidOf(here_));
  EXPECT_FALSE(here->endpoint.gid.IsZero());
  EXPECT_NE(here->endpoint.qpn, 0U);
  EXPECT_LE(here->endpoint.psn, 0xFFFFFFU);
  EXPECT_GE(here->endpoint.mtu_bytes, 256U);
  EXPECT_LE(here->endpoint.mtu_bytes, 4096U);
}

TEST_P(TransportContractTest, BothEndsProbeOverTheSamePair) {
  const auto [here, there] = ConnectedPair();
  ASSERT_TRUE(here.end.transport->Post(here.id, ops_.front(), 1));
  ASSERT_TRUE(there.end.transport->Post(there.id, ops_.back(), 2));
  EXPECT_THAT(Await(2), UnorderedElementsAre(Pair(1, 0), Pair(2, 0)));
}

TEST_P(TransportContractTest, ProbesOneAfterAnotherKeepTheirOrderAndComeOnce) {
  const auto [here, there] = ConnectedPair();
  Completions all;
  for (std::uint64_t probe = 1; probe <= 10; ++probe) {
    ASSERT_TRUE(here.end.transport->Post(here.id, ops_.back(), probe));
    for (const auto& completion : Await(1)) all.push_back(completion);
  }
  Settle();
  EXPECT_THAT(completed_, IsEmpty());
  EXPECT_THAT(all, ElementsAre(Pair(1, 0), Pair(2, 0), Pair(3, 0), Pair(4, 0), Pair(5, 0),
                               Pair(6, 0), Pair(7, 0), Pair(8, 0), Pair(9, 0), Pair(10, 0)));
}

TEST_P(TransportContractTest, QpsOfOnePortDoNotDisturbEachOther) {
  const auto [first, first_peer] = ConnectedPair();
  const auto [second, second_peer] = ConnectedPair();
  EXPECT_NE(first.id, second.id);
  EXPECT_NE(first.endpoint.qpn, second.endpoint.qpn);
  ASSERT_TRUE(first.end.transport->Post(first.id, ops_.front(), 1));
  ASSERT_TRUE(second.end.transport->Post(second.id, ops_.front(), 2));
  EXPECT_THAT(Await(2), UnorderedElementsAre(Pair(1, 0), Pair(2, 0)));
  first.end.transport->Close(first.id);
  ASSERT_TRUE(second.end.transport->Post(second.id, ops_.front(), 3));
  EXPECT_THAT(Await(1), ElementsAre(Pair(3, 0)));
}

TEST_P(TransportContractTest, APortThatIsNotThereOpensNothing) {
  const Result<Qp> opened = Open({here_.transport, {"no_such_device", 1}}, GidOf(there_));
  ASSERT_FALSE(opened);
  EXPECT_FALSE(opened.error().Text().empty());
}

TEST_P(TransportContractTest, NothingIsPostedBeforeTheConnect) {
  const Result<Qp> here = Open(here_, GidOf(there_));
  ASSERT_TRUE(here) << here.error().Text();
  EXPECT_FALSE(here_.transport->Post(here->id, ops_.front(), 1));
}

TEST_P(TransportContractTest, AfterCloseNothingCompletesAndNothingIsPosted) {
  const auto [here, there] = ConnectedPair();
  ASSERT_TRUE(here.end.transport->Post(here.id, ops_.front(), 1));
  here.end.transport->Close(here.id);
  EXPECT_FALSE(here.end.transport->Post(here.id, ops_.front(), 2));
  EXPECT_FALSE(Connect(here, there.endpoint));
  Settle();
  EXPECT_THAT(completed_, IsEmpty());
}

TEST_P(TransportContractTest, ClosingTwiceOrWhatNeverWasDoesNothing) {
  const auto [here, there] = ConnectedPair();
  const auto [other, other_peer] = ConnectedPair();
  here.end.transport->Close(here.id);
  here.end.transport->Close(here.id);
  here.end.transport->Close(0);
  here.end.transport->Close(1'000'000);
  ASSERT_TRUE(other.end.transport->Post(other.id, ops_.front(), 1));
  EXPECT_THAT(Await(1), ElementsAre(Pair(1, 0)));
}

TEST_P(TransportContractTest, AQpThatIsClosedWhileItConnectsIsAnsweredAndGone) {
  const Result<Qp> here = Open(here_, GidOf(there_));
  const Result<Qp> there = Open(there_, GidOf(here_));
  ASSERT_TRUE(here && there);
  int answers = 0;
  bool closed = false;
  // An end that only waits to be dialled has succeeded before.
  here_.transport->Connect(here->id, there->endpoint,
                           [&answers, &closed](const Result<void>& result) {
                             ++answers;
                             EXPECT_TRUE(!closed || !result);
                           });
  closed = true;
  here_.transport->Close(here->id);
  EXPECT_TRUE(harness_->RunUntil([&answers] { return answers > 0; }));
  Settle();
  EXPECT_EQ(answers, 1);
  EXPECT_FALSE(here_.transport->Post(here->id, ops_.front(), 1));
}

TEST_P(TransportContractTest, TowardsNobodyNothingSucceeds) {
  const Result<Qp> here = Open(here_, harness_->Nobody(), kImpatient);
  ASSERT_TRUE(here) << here.error().Text();
  probes::QpEndpoint nobody = here->endpoint;
  nobody.gid = harness_->Nobody();
  nobody.cm_token = std::min<std::uint64_t>(nobody.cm_token, 1);  // so that we are to dial
  // Nobody answers ARP, or the first probe finds nobody.
  if (!Connect(*here, nobody)) return;
  ASSERT_TRUE(here_.transport->Post(here->id, ops_.front(), 1));
  EXPECT_THAT(Await(1), ElementsAre(Pair(1, ::testing::Ne(0))));
}

TEST_P(TransportContractTest, AProbeToAPeerThatClosedFailsAndTheQpStaysDead) {
  const auto [here, there] = ConnectedPair();
  there.end.transport->Close(there.id);
  Settle();
  const bool told = harness_->TellsOfTheEnd();
  // A QP is destroyed off the loop: on a busy machine some probes still find it.
  if (told) {
    EXPECT_TRUE(harness_->RunUntil([this, &qp = here] {
      if (!qp.end.transport->Post(qp.id, ops_.front(), 100)) return true;
      const Completions ended = Await(1);
      return ended.empty() || ended.front().second != 0;
    }));
  }
  if (here.end.transport->Post(here.id, ops_.front(), 1)) {
    EXPECT_THAT(Await(1), ElementsAre(Pair(1, told ? ::testing::Matcher<int>(::testing::Ne(0))
                                                   : ::testing::Matcher<int>(12))))
        << "transport retry exceeded";
  } else {
    EXPECT_TRUE(told) << "RC cannot know";
  }
  if (here.end.transport->Post(here.id, ops_.front(), 2)) {
    EXPECT_THAT(Await(1), ElementsAre(Pair(2, ::testing::Ne(0))));
  }
}

TEST_P(TransportContractTest, APortThatChangedTakesItsQpsAlong) {
  const auto [here, there] = ConnectedPair();
  changed_.clear();
  harness_->DisturbHere();
  EXPECT_TRUE(harness_->RunUntil([this] { return !changed_.empty(); }));
  EXPECT_THAT(changed_, Contains(here_.port));
  EXPECT_FALSE(here.end.transport->Post(here.id, ops_.front(), 1));
  EXPECT_FALSE(Connect(here, there.endpoint));
  const auto usable = [this] {
    const auto ports = here_.transport->Ports();
    return std::any_of(ports.begin(), ports.end(), [this](const probes::TransportPort& port) {
      return port.id == here_.port && port.usable;
    });
  };
  EXPECT_TRUE(harness_->RunUntil(usable));
  const auto [again, peer] = ConnectedPair();
  ASSERT_TRUE(again.end.transport->Post(again.id, ops_.front(), 2));
  EXPECT_THAT(Await(1), ElementsAre(Pair(2, 0)));
}

TEST_P(TransportContractTest, WithoutHandlersNobodyIsCalled) {
  const auto [here, there] = ConnectedPair();
  ASSERT_TRUE(here.end.transport->Post(here.id, ops_.front(), 1));
  here_.transport->SetHandlers({});
  there_.transport->SetHandlers({});
  const Result<Qp> later = Open(here_, GidOf(there_));
  EXPECT_TRUE(later);
  EXPECT_THAT(completed_, IsEmpty());
}

}  // namespace rdmapulse::contract
