// Control planes talking to each other over loopback: the agreements between well-behaved ends.
#include "daemon/peers/control_plane.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "daemon/peers/pending_calls.h"
#include "daemon/peers/test_support.h"

namespace rdmapulse::peers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

probes::PeerPort Port(const std::string& device) {
  return {.id = {device, 1},
          .protocol = Protocol::kRoceV2,
          .mtu_bytes = 1024,
          .gid = *ParseGid("10.77.0.1")};
}

// h1 (instance 1, leads) on 127.0.0.1, h2 (instance 2) on 127.0.0.2.
class ControlPlaneTest : public ::testing::Test {
 protected:
  void Introduce() {
    h1_.plane.SetPeers({{"h2", h2_.Address("127.0.0.2"), {{"tor", "t2"}}}});
    h2_.plane.SetPeers({{"h1", h1_.Address("127.0.0.1"), {}}});
  }
  bool BothUp() { return h1_.Up("h2") && h2_.Up("h1"); }
  void TearDown() override {
    h1_.plane.Stop();
    h2_.plane.Stop();
    if (io_.stopped()) io_.restart();
    io_.run();
  }

  boost::asio::io_context io_{1};
  Node h1_{io_, PatientOptions("127.0.0.1:0", "h1", 1)};
  Node h2_{io_, PatientOptions("127.0.0.2:0", "h2", 2)};
};

TEST_F(ControlPlaneTest, TwoDaemonsMeetAndMeasureTheTcpPath) {
  h1_.plane.SetLocalPorts({Port("mlx5_0")});
  Introduce();
  EXPECT_THAT(h1_.Status("h2").problem, "not connected yet");
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  EXPECT_THAT(h1_.prober.events, ElementsAre("h2 up epoch 1002 leads 1 ports"));
  EXPECT_THAT(h2_.prober.events, ElementsAre("h1 up epoch 1001 leads 0 ports mlx5_0/1"));

  const PeerSnapshot status = h1_.Status("h2");
  EXPECT_EQ(status.address, h2_.Address("127.0.0.2"));
  EXPECT_THAT(status.labels, ElementsAre(std::pair("tor", "t2")));
  EXPECT_EQ(status.epoch, 1002U);
  EXPECT_EQ(status.problem, "");
  EXPECT_GE(status.tcp_rtt.count(), 1U);
  ASSERT_TRUE(status.last_tcp_rtt.has_value());
  EXPECT_GT(*status.last_tcp_rtt, Duration{});
}

TEST_F(ControlPlaneTest, OneDirectionOfDiallingIsEnough) {
  h1_.plane.SetPeers({{"h2", h2_.Address("127.0.0.2"), {}}});
  h2_.plane.SetPeers({{"h1", "127.0.0.1:1", {}}});  // nobody listens there
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
}

TEST_F(ControlPlaneTest, ConnectIsAskedAndAnswered) {
  h2_.prober.answer = SomeReply();
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  std::vector<Result<probes::ConnectReply>> replies;
  h1_.plane.RequestConnect("h2", SomeConnect(),
                           [&replies](auto reply) { replies.push_back(std::move(reply)); });
  ASSERT_TRUE(RunUntil(io_, [&replies] { return !replies.empty(); }));
  EXPECT_THAT(h2_.prober.requests, ElementsAre(SomeConnect()));
  ASSERT_TRUE(replies.front().has_value()) << replies.front().error().Text();
  EXPECT_EQ(*replies.front(), SomeReply());

  h1_.plane.TellReady("h2", SomePath());
  h2_.plane.TellLost("h1", SomePath(), "the NIC went away");
  ASSERT_TRUE(RunUntil(io_, [this] {
    return h2_.prober.Saw("h1 ready 42") && h1_.prober.Saw("h2 lost 42 the NIC went away");
  }));
  EXPECT_EQ(replies.size(), 1U);
}

TEST_F(ControlPlaneTest, RefusalCarriesThePeersReason) {
  h2_.prober.answer = Fail(ENODEV, {"opening a QP on rxe0/2"}, "run rdma link");
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  std::string error;
  h1_.plane.RequestConnect("h2", SomeConnect(), [&error](auto reply) {
    error = reply ? "no error" : reply.error().Text();
  });
  ASSERT_TRUE(RunUntil(io_, [&error] { return !error.empty(); }));
  EXPECT_EQ(error,
            "asking h2 to connect its rxe0/2 to our mlx5_0/1: opening a QP on rxe0/2: No such "
            "device; run rdma link");
}

TEST_F(ControlPlaneTest, AnswerThatTheWireCannotCarryIsARefusal) {
  probes::ConnectReply broken = SomeReply();
  broken.follower.mtu_bytes = 1500;
  h2_.prober.answer = broken;
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  std::string error;
  h1_.plane.RequestConnect("h2", SomeConnect(), [&error](auto reply) {
    error = reply ? "no error" : reply.error().Text();
  });
  ASSERT_TRUE(RunUntil(io_, [&error] { return !error.empty(); }));
  EXPECT_THAT(error, HasSubstr("connected: MTU 1500 is none of 256 to 4096"));
  EXPECT_EQ(h1_.prober.Count("h2 gone"), 0U);
}

TEST_F(ControlPlaneTest, RequestThatTheWireCannotCarryFailsLaterAndOnce) {
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  probes::ConnectRequest request = SomeConnect();
  request.leader.psn = 1U << 24;
  std::vector<std::string> errors;
  h1_.plane.RequestConnect("h2", request, [&errors](auto reply) {
    errors.push_back(reply ? "no error" : reply.error().Text());
  });
  EXPECT_THAT(errors, IsEmpty()) << "called from within RequestConnect";
  ASSERT_TRUE(RunUntil(io_, [&errors] { return !errors.empty(); }));
  EXPECT_THAT(errors, ElementsAre(HasSubstr("PSN 16777216 is not between 0 and 16777215")));
}

TEST_F(ControlPlaneTest, UnansweredRequestFailsAndALateAnswerIsForgotten) {
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  std::vector<std::string> errors;
  h1_.plane.RequestConnect("h2", SomeConnect(), [&errors](auto reply) {
    errors.push_back(reply ? "no error" : reply.error().Text());
  });
  ASSERT_TRUE(RunUntil(io_, [&errors] { return !errors.empty(); }));
  EXPECT_THAT(errors, ElementsAre(HasSubstr("it did not answer within 500 ms")));
  ASSERT_EQ(h2_.prober.kept.size(), 1U);
  h2_.prober.kept.front()(SomeReply());
  h2_.plane.TellReady("h1", SomePath());  // comes after it
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.prober.Saw("h2 ready"); }));
  EXPECT_EQ(errors.size(), 1U);
  EXPECT_TRUE(BothUp());
}

TEST_F(ControlPlaneTest, RequestsWithoutASessionSayWhy) {
  std::vector<std::string> errors;
  const auto note = [&errors](auto reply) {
    errors.push_back(reply ? "no error" : reply.error().Text());
  };
  h1_.plane.SetPeers({{"h2", "127.0.0.9:1", {}}});
  h1_.plane.RequestConnect("h2", SomeConnect(), note);
  h1_.plane.RequestConnect("h9", SomeConnect(), note);
  h1_.plane.TellReady("h9", SomePath());
  EXPECT_THAT(errors, IsEmpty()) << "called from within RequestConnect";
  ASSERT_TRUE(RunUntil(io_, [&errors] { return errors.size() == 2; }));
  EXPECT_THAT(errors, ElementsAre(HasSubstr("asking h2 to connect its rxe0/2 to our mlx5_0/1: "
                                            "there is no session with it"),
                                  HasSubstr("no such peer is configured")));
}

TEST_F(ControlPlaneTest, MoreRequestsThanThePeerAnswersAreLimited) {
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  std::vector<std::string> errors;
  for (std::size_t i = 0; i <= PendingCalls::kMax; ++i) {
    h1_.plane.RequestConnect("h2", SomeConnect(), [&errors](auto reply) {
      errors.push_back(reply ? "no error" : reply.error().Text());
    });
  }
  ASSERT_TRUE(RunUntil(io_, [&errors] { return !errors.empty(); }));
  EXPECT_THAT(errors.front(), HasSubstr("256 requests to it are not answered yet"));
  ASSERT_TRUE(RunUntil(io_, [&errors] { return errors.size() == PendingCalls::kMax + 1; }));
}

TEST_F(ControlPlaneTest, ChangedPortsAreToldAndUnchangedOnesAreNot) {
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  h1_.plane.SetLocalPorts({Port("mlx5_0"), Port("mlx5_1")});
  h1_.plane.SetLocalPorts({Port("mlx5_0"), Port("mlx5_1")});
  h1_.plane.SetLocalPorts({Port("mlx5_1")});
  h1_.plane.TellReady("h2", SomePath());  // comes after them
  ASSERT_TRUE(RunUntil(io_, [this] { return h2_.prober.Saw("h1 ready"); }));
  EXPECT_THAT(h2_.prober.events,
              ElementsAre("h1 up epoch 1001 leads 0 ports",
                          "h1 up epoch 1001 leads 0 ports mlx5_0/1 mlx5_1/1",
                          "h1 up epoch 1001 leads 0 ports mlx5_1/1", "h1 ready 42"));
}

TEST_F(ControlPlaneTest, PortsThatTheWireCannotCarryAreLeftOut) {
  Introduce();
  h1_.plane.SetLocalPorts({Port("a b"), Port("mlx5_0")});
  ASSERT_TRUE(RunUntil(io_, [this] { return BothUp(); }));
  EXPECT_THAT(h2_.prober.events, ElementsAre("h1 up epoch 1001 leads 0 ports mlx5_0/1"));
}

TEST_F(ControlPlaneTest, RemovedPeerIsClosedAndTheOtherUndisturbed) {
  Node h3{io_, PatientOptions("127.0.0.3:0", "h3", 3)};
  h3.plane.SetPeers({{"h1", h1_.Address("127.0.0.1"), {}}});
  h2_.plane.SetPeers({{"h1", h1_.Address("127.0.0.1"), {}}});
  const config::Peer to_h2{"h2", h2_.Address("127.0.0.2"), {}};
  const config::Peer to_h3{"h3", h3.Address("127.0.0.3"), {}};
  h1_.plane.SetPeers({to_h2, to_h3});
  ASSERT_TRUE(RunUntil(io_, [this, &h3] { return BothUp() && h1_.Up("h3") && h3.Up("h1"); }));

  std::string error;
  h1_.plane.RequestConnect("h2", SomeConnect(), [&error](auto reply) {
    error = reply ? "no error" : reply.error().Text();
  });
  h1_.plane.SetPeers({{"h3", to_h3.address, {{"tor", "t3"}}}});
  EXPECT_THAT(error, HasSubstr("it is not among our peers any more"));
  EXPECT_EQ(h1_.prober.events.back(), "h2 gone");
  EXPECT_THAT(h1_.Status("h3").labels, ElementsAre(std::pair("tor", "t3")));
  ASSERT_TRUE(RunUntil(io_, [this] { return h2_.prober.Saw("h1 gone"); }));
  // From now on h2 is a stranger.
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.plane.inbound().unknown > 0; }));
  EXPECT_TRUE(h1_.Up("h3"));
  EXPECT_EQ(h1_.prober.Count("h3 gone"), 0U);
  h3.plane.Stop();
}

TEST_F(ControlPlaneTest, RestartedPeerIsKnownByItsNewEpoch) {
  auto first = std::make_unique<Node>(io_, PatientOptions("127.0.0.3:0", "h3", 30));
  const std::string address = first->Address("127.0.0.3");
  const std::string h1_address = h1_.Address("127.0.0.1");
  first->plane.SetPeers({{"h1", h1_address, {}}});
  h1_.plane.SetPeers({{"h3", address, {}}});
  ASSERT_TRUE(RunUntil(io_, [this, &first] { return h1_.Up("h3") && first->Up("h1"); }));
  first->plane.Stop();
  Node second{io_, PatientOptions(address, "h3", 31)};
  second.plane.SetPeers({{"h1", h1_address, {}}});
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.Status("h3").epoch == 1031U; }));
  EXPECT_EQ(h1_.prober.events.front(), "h3 up epoch 1030 leads 1 ports");
  EXPECT_EQ(h1_.prober.events.back(), "h3 up epoch 1031 leads 1 ports");
  second.plane.Stop();
}

TEST_F(ControlPlaneTest, SimultaneousDialsEndInOneSession) {
  // No spread: both dial before either has accepted.
  Options options1 = PatientOptions("127.0.0.3:0", "h3", 3);
  Options options2 = PatientOptions("127.0.0.4:0", "h4", 4);
  options1.timers.first_dial = options2.timers.first_dial = std::chrono::nanoseconds(1);
  Node h3{io_, options1};
  Node h4{io_, options2};
  h3.plane.SetPeers({{"h4", h4.Address("127.0.0.4"), {}}});
  h4.plane.SetPeers({{"h3", h3.Address("127.0.0.3"), {}}});
  ASSERT_TRUE(RunUntil(io_, [&h3, &h4] {
    return h3.plane.inbound().accepted == 1 && h4.plane.inbound().accepted == 1 && h3.Up("h4") &&
           h4.Up("h3");
  }));
  const TimePoint later = Clock::now() + 2 * QuickTimers().liveness.idle_after;
  ASSERT_TRUE(RunUntil(io_, [later] { return Clock::now() >= later; }));
  EXPECT_THAT(h3.prober.events, ElementsAre(StartsWith("h4 up")));
  EXPECT_THAT(h4.prober.events, ElementsAre(StartsWith("h3 up")));
  EXPECT_EQ(h3.plane.inbound().accepted, 1U) << "nobody dialled again";
  h3.plane.Stop();
  h4.plane.Stop();
}

TEST_F(ControlPlaneTest, OneselfIsNamedAndNoSessionKept) {
  h1_.plane.SetPeers({{"me", h1_.Address("127.0.0.1"), {}}});
  ASSERT_TRUE(RunUntil(io_, [this] {
    return h1_.Status("me").problem == "this address is our own daemon; remove it from peers";
  }));
  EXPECT_THAT(h1_.prober.events, IsEmpty());
  EXPECT_FALSE(h1_.Up("me"));
}

std::shared_ptr<const Guests> GuestList(const config::Peer& peer) {
  return std::make_shared<const Guests>(MakeGuests({peer}));
}

TEST_F(ControlPlaneTest, AGuestIsAPeerForAsLongAsItStays) {
  Node h3{io_, PatientOptions("127.0.0.3:0", "h3", 3)};
  h1_.plane.SetGuests(GuestList({"h3", h3.Address("127.0.0.3"), {{"tor", "t3"}}}));
  EXPECT_FALSE(h1_.plane.Has("h3"));
  h3.plane.SetPeers({{"h1", h1_.Address("127.0.0.1"), {}}});
  ASSERT_TRUE(
      RunUntil(io_, [this, &h3] { return h1_.plane.Has("h3") && h1_.Up("h3") && h3.Up("h1"); }));
  EXPECT_THAT(h1_.Status("h3").labels, ElementsAre(std::pair("tor", "t3")));
  h1_.plane.SetPeers({});
  EXPECT_TRUE(h1_.Up("h3")) << "it may still come";
  h3.plane.Stop();
  ASSERT_TRUE(RunUntil(io_, [this] { return !h1_.plane.Has("h3"); }));
  EXPECT_EQ(h1_.prober.events.back(), "h3 gone");
  EXPECT_EQ(h3.plane.inbound().accepted, 0U) << "nobody dials a guest";
}

TEST_F(ControlPlaneTest, AGuestThatIsChosenKeepsItsSessionAndOneThatIsUnwelcomeGoes) {
  Node h3{io_, PatientOptions("127.0.0.3:0", "h3", 3)};
  const config::Peer to_h3{"h3", h3.Address("127.0.0.3"), {}};
  h1_.plane.SetGuests(GuestList(to_h3));
  h3.plane.SetPeers({{"h1", h1_.Address("127.0.0.1"), {}}});
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.plane.Has("h3") && h1_.Up("h3"); }));
  h1_.plane.SetPeers({to_h3});
  EXPECT_TRUE(h1_.Up("h3"));
  EXPECT_EQ(h1_.prober.Count("h3 gone"), 0U);
  h1_.plane.SetGuests(std::make_shared<const Guests>());
  h1_.plane.SetPeers({});
  EXPECT_FALSE(h1_.plane.Has("h3"));
  EXPECT_EQ(h1_.prober.events.back(), "h3 gone");
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.plane.inbound().unknown > 0; }));
  h3.plane.Stop();
}

TEST_F(ControlPlaneTest, PeersOfOneAddressAreToldApartByTheirNames) {
  Node h1{io_, PatientOptions("127.0.0.5:0", "a", 11)};
  Node h2{io_, PatientOptions("127.0.0.5:0", "b", 12)};
  Node h3{io_, PatientOptions("127.0.0.5:0", "c", 13)};
  const std::vector<config::Peer> all = {{"a", h1.Address("127.0.0.5"), {}},
                                         {"b", h2.Address("127.0.0.5"), {}},
                                         {"c", h3.Address("127.0.0.5"), {}}};
  h1.plane.SetPeers({all[1], all[2]});
  h2.plane.SetPeers({all[0], all[2]});
  h3.plane.SetPeers({all[0], all[1]});
  ASSERT_TRUE(RunUntil(io_, [&h1, &h2, &h3] {
    return h1.Up("b") && h1.Up("c") && h2.Up("a") && h2.Up("c") && h3.Up("a") && h3.Up("b");
  }));
  EXPECT_EQ(h3.Status("b").epoch, 1012U);
  EXPECT_EQ(h3.Status("a").epoch, 1011U);
  for (Node* node : {&h1, &h2, &h3}) node->plane.Stop();
}

TEST_F(ControlPlaneTest, AUsedPortIsOneSentence) {
  FakeProber prober;
  ControlPlane second(io_, PatientOptions(h1_.Address("127.0.0.1"), "h9", 9), prober);
  const auto listening = second.Listen();
  ASSERT_FALSE(listening.has_value());
  EXPECT_EQ(listening.error().Text(),
            "listening for peers on " + h1_.Address("127.0.0.1") +
                ": Address already in use; set control.listen to an address of this host and a "
                "port that is free");
}

TEST_F(ControlPlaneTest, AHostNameThatPeersWouldRefuseIsAnErrorAtTheStart) {
  FakeProber prober;
  ControlPlane nameless(io_, PatientOptions("127.0.0.1:0", "no name", 9), prober);
  const auto listening = nameless.Listen();
  ASSERT_FALSE(listening.has_value());
  EXPECT_THAT(listening.error().Text(), HasSubstr("the host name 'no name'"));
}

TEST_F(ControlPlaneTest, ProberMayAskFromWithinItsEvents) {
  h2_.prober.answer = SomeReply();
  std::vector<bool> replies;
  h1_.prober.on_event = [this, &replies](const std::string& peer) {
    h1_.plane.RequestConnect(peer, SomeConnect(),
                             [&replies](auto reply) { replies.push_back(reply.has_value()); });
  };
  Introduce();
  ASSERT_TRUE(RunUntil(io_, [&replies] { return !replies.empty(); }));
  EXPECT_THAT(replies, ElementsAre(true));
}

TEST_F(ControlPlaneTest, NobodyAnswersAtTheAddress) {
  h1_.plane.SetPeers({{"h9", "127.0.0.9:1", {}}});
  ASSERT_TRUE(RunUntil(io_, [this] {
    return h1_.Status("h9").problem == "connecting to 127.0.0.9:1: Connection refused";
  }));
}

TEST_F(ControlPlaneTest, NamesAreResolved) {
  Node h3{io_, PatientOptions(":0", "h3", 3)};
  h3.plane.SetPeers({{"h4", "localhost:1", {}}});
  Node h4{io_, PatientOptions(":0", "h4", 4)};
  h4.plane.SetPeers({{"h3", h3.Address("localhost"), {}}});
  ASSERT_TRUE(RunUntil(io_, [&h3, &h4] { return h3.Up("h4") && h4.Up("h3"); }));
  h3.plane.Stop();
  h4.plane.Stop();
}

}  // namespace
}  // namespace rdmapulse::peers
