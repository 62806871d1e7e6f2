// A control plane and a peer that breaks every rule: what is closed, what is said about it, and
// that everybody else is served meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <memory>

#include "daemon/peers/control_plane.h"
#include "daemon/peers/test_support.h"

namespace rdmapulse::peers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr const char* kSource = "127.0.0.66";

Options WithTimers(Options options, const Timers& timers) {
  options.timers = timers;
  return options;
}

// h1 listens on 127.0.0.1; the hostile peer h66 connects from 127.0.0.66, where nobody listens.
class HostilePeerTest : public ::testing::Test {
 protected:
  explicit HostilePeerTest(const Timers& timers = QuickTimers())
      : h1_{io_, WithTimers(QuickOptions("127.0.0.1:0", "h1", 1), timers)} {
    h1_.plane.SetPeers({{"h66", std::string(kSource) + ":1", {}}});
  }
  void TearDown() override {
    h1_.plane.Stop();
    if (io_.stopped()) io_.restart();
    io_.run();
  }

  std::unique_ptr<RawPeer> Dial(const std::string& source = kSource) {
    auto peer = std::make_unique<RawPeer>(io_, source);
    EXPECT_TRUE(peer->Connect("127.0.0.1", h1_.plane.listen_port()));
    return peer;
  }
  // Up to and including the hellos.
  std::unique_ptr<RawPeer> Meet(std::uint64_t instance = 66, std::uint64_t epoch = 0) {
    auto peer = Dial();
    Hello hello = SomeHello("h66", instance);
    if (epoch != 0) hello.epoch = epoch;
    peer->Say({0, hello});
    EXPECT_TRUE(RunUntil(io_, [&peer] { return peer->Count<Hello>() == 1 || peer->Closed(); }));
    return peer;
  }
  bool RunUntilClosed(RawPeer& peer) {
    return RunUntil(io_, [&peer] { return peer.Closed(); });
  }
  std::string Problem() { return h1_.Status("h66").problem; }

  boost::asio::io_context io_{1};
  Node h1_;
};

// Where nobody is given up for being slow.
class PatientHostTest : public HostilePeerTest {
 protected:
  PatientHostTest() : HostilePeerTest(PatientTimers()) {}
};

TEST_F(PatientHostTest, OtherVersionIsRefusedWithBothVersionsNamed) {
  const auto peer = Dial();
  peer->Say({0, OtherVersion{7, "9.9"}});
  ASSERT_TRUE(RunUntil(io_, [&peer] { return peer->Count<Refused>() == 1; }));
  const std::string sentence =
      "protocol versions 1 (rdmapulse 0.1.0) and 7 (rdmapulse 9.9) cannot talk; run the same "
      "release on both hosts";
  EXPECT_THAT(peer->Heard(), ElementsAre(Message{0, Refused{1, sentence}}));
  ASSERT_TRUE(RunUntilClosed(*peer));
  ASSERT_TRUE(RunUntil(io_, [this, &sentence] { return Problem() == sentence; }));
  EXPECT_THAT(h1_.prober.events, IsEmpty());
}

TEST_F(PatientHostTest, GarbageIsClosed) {
  const auto peer = Dial();
  peer->Send("GET / HTTP/1.1\r\nHost: h1\r\n\r\n");  // "GET " as a length is 1.2 GB
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_THAT(Problem(), HasSubstr("it sent a frame of 1195725856 bytes, more than the 65536"));
}

TEST_F(PatientHostTest, LengthOf4GbIsClosed) {
  const auto peer = Dial();
  peer->Send("\xff\xff\xff\xff");
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_THAT(Problem(), HasSubstr("it sent a frame of 4294967295 bytes"));
}

TEST_F(PatientHostTest, LengthOf0IsClosed) {
  const auto peer = Dial();
  peer->Send(std::string(4, '\0'));
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_THAT(Problem(), HasSubstr("it sent a frame of 0 bytes"));
}

TEST_F(PatientHostTest, FrameThatIsNoMessageIsClosed) {
  const auto peer = Dial();
  peer->Send(std::string("\0\0\0\x03\xff\xff\xff", 7));
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_THAT(Problem(), HasSubstr("it sent what we cannot read: bytes that are no message"));
}

TEST_F(HostilePeerTest, SilenceBeforeTheHelloIsClosed) {
  const auto peer = Dial();
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it did not say hello within 300 ms");
}

TEST_F(HostilePeerTest, HalfAHelloIsClosed) {
  const auto peer = Dial();
  const auto frame = EncodeFrame({0, SomeHello("h66", 66)});
  peer->Send(frame->substr(0, frame->size() - 1));
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it did not say hello within 300 ms");
}

TEST_F(PatientHostTest, HelloInSingleBytesIsUnderstood) {
  const auto peer = Dial();
  const auto frame = EncodeFrame({0, SomeHello("h66", 66)});
  for (const char byte : *frame) {
    peer->Send(std::string(1, byte));
    io_.run_one_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(RunUntil(io_, [&peer] { return peer->Count<Hello>() == 1; }));
  EXPECT_THAT(h1_.prober.events, ElementsAre("h66 up epoch 1066 leads 1 ports mlx5_0/1"));
}

TEST_F(HostilePeerTest, HalfAMessageAndSilenceIsClosed) {
  const auto peer = Meet();
  peer->Send("\0\0");
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it does not answer");
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up"), "h66 gone"));
  EXPECT_GE(peer->Count<Ping>(), 2U);
}

TEST_F(HostilePeerTest, ChatterWithoutAnswersIsNoAnswer) {
  const auto peer = Meet();
  ASSERT_TRUE(RunUntil(io_, [&peer] {
    if (peer->Count<Ping>() > peer->Count<Pong>()) peer->Say({9, Ping{}});
    return peer->Closed();
  }));
  EXPECT_EQ(Problem(), "it does not answer");
  EXPECT_FALSE(h1_.Up("h66"));
}

TEST_F(HostilePeerTest, AnswersToPingsThatWereNeverSentMeanNothing) {
  const auto peer = Meet();
  peer->Say({1000, Pong{}});
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(h1_.Status("h66").tcp_rtt.count(), 0U);
}

TEST_F(PatientHostTest, FirstMessageMustBeAHello) {
  const auto peer = Dial();
  peer->Say({1, SomeConnect()});
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "its first message was no hello");
  EXPECT_THAT(h1_.prober.events, IsEmpty());
}

TEST_F(PatientHostTest, SecondHelloIsClosed) {
  const auto peer = Meet();
  peer->Say({0, SomeHello("h66", 67)});
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it sent a second hello");
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up epoch 1066"), "h66 gone"));
}

TEST_F(PatientHostTest, FloodIsClosedAfterItsBurst) {
  const auto peer = Meet();
  for (int i = 0; i < 600; ++i) peer->Say({0, Ready{SomePath()}});
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it sent more than 200 messages a second");
  const std::size_t ready = h1_.prober.Count("h66 ready");
  EXPECT_GE(ready, 499U);
  EXPECT_LT(ready, 600U);
}

TEST_F(PatientHostTest, StrangersAreClosedUnread) {
  constexpr std::uint64_t kStrangers = 2000;
  std::uint64_t dialled = 0;
  std::unique_ptr<RawPeer> last;
  ASSERT_TRUE(RunUntil(io_, [this, &dialled, &last] {
    for (int i = 0; i < 50 && dialled < kStrangers; ++i, ++dialled) {
      last = Dial("127.0.0.77");
      last->Say({0, SomeHello("h66", 66)});
    }
    return h1_.plane.inbound().accepted == kStrangers;
  }));
  EXPECT_EQ(
      h1_.plane.inbound(),
      (InboundCounts{.accepted = kStrangers, .unknown = kStrangers, .full = 0, .refused = 0}));
  ASSERT_TRUE(RunUntilClosed(*last));
  EXPECT_THAT(last->Heard(), IsEmpty());
  Meet();
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up")));
}

TEST_F(PatientHostTest, ConnectionsThatWaitForTheirHelloAreLimited) {
  std::vector<std::unique_ptr<RawPeer>> silent;
  silent.reserve(80);
  for (int i = 0; i < 80; ++i) silent.push_back(Dial());
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.plane.inbound().accepted == 80; }));
  EXPECT_EQ(h1_.plane.inbound().full, 16U);
  silent.clear();
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.plane.inbound().refused == 64; }));
  Meet();
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up")));
}

TEST_F(PatientHostTest, PeerThatDoesNotReadLosesItsSession) {
  const auto peer = Meet();
  ASSERT_TRUE(RunUntil(io_, [this] {
    for (int i = 0; i < 100; ++i) h1_.plane.TellLost("h66", SomePath(), std::string(256, 'x'));
    return h1_.prober.Saw("h66 gone");
  }));
  EXPECT_EQ(Problem(), "it does not take what we send");
}

TEST_F(PatientHostTest, OldestSessionMakesRoomForTheFifth) {
  std::vector<std::unique_ptr<RawPeer>> peers;
  peers.reserve(5);
  for (int i = 0; i < 5; ++i) peers.push_back(Meet());
  ASSERT_TRUE(RunUntilClosed(*peers[0]));
  for (std::size_t i = 1; i < 5; ++i) EXPECT_FALSE(peers[i]->Closed()) << i;
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up")));
}

TEST_F(PatientHostTest, NewInstanceReplacesEverySessionOfTheOld) {
  const auto first = Meet(66);
  const auto second = Meet(66);
  const auto restarted = Meet(67);
  ASSERT_TRUE(RunUntilClosed(*first));
  ASSERT_TRUE(RunUntilClosed(*second));
  EXPECT_FALSE(restarted->Closed());
  EXPECT_THAT(h1_.prober.events,
              ElementsAre(StartsWith("h66 up epoch 1066"), StartsWith("h66 up epoch 1067")));
}

// Two daemons on one host must not throw each other out in turn.
TEST_F(PatientHostTest, EarlierInstanceIsRefusedWhileTheLaterOneAnswers) {
  const auto later = Meet(66, 2000);
  ASSERT_TRUE(RunUntil(io_, [this, &later] {
    for (const Message& heard : later->Heard()) {
      if (std::holds_alternative<Ping>(heard.body)) later->Say({heard.id, Pong{}});
    }
    return h1_.Up("h66");
  }));
  const auto earlier = Dial();
  Hello hello = SomeHello("h66", 65);
  hello.epoch = 1999;
  earlier->Say({0, hello});
  ASSERT_TRUE(RunUntilClosed(*earlier));
  ASSERT_EQ(earlier->Count<Refused>(), 1U);
  EXPECT_THAT(std::get<Refused>(earlier->Heard().front().body).reason,
              HasSubstr("another daemon of h66, which started later"));
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up epoch 2000")));
}

TEST_F(PatientHostTest, EarlierInstanceIsTakenWhenTheLaterOneIsSilent) {
  const auto later = Meet(66, 2000);
  const auto earlier = Meet(65, 1999);  // a clock that was set back, and a restart
  ASSERT_TRUE(RunUntilClosed(*later));
  EXPECT_EQ(h1_.prober.events.back(), "h66 up epoch 1999 leads 1 ports mlx5_0/1");
}

TEST_F(PatientHostTest, SharedAddressNeedsAKnownName) {
  h1_.plane.SetPeers(
      {{"a", std::string(kSource) + ":1", {}}, {"b", std::string(kSource) + ":2", {}}});
  const auto peer = Dial();
  peer->Say({0, SomeHello("c", 66)});
  ASSERT_TRUE(RunUntilClosed(*peer));
  ASSERT_EQ(peer->Count<Refused>(), 1U);
  EXPECT_EQ(std::get<Refused>(peer->Heard().front().body).reason,
            "2 of our peers have the address 127.0.0.66 and none of them is named c; give the "
            "peers the names that their daemons have");
}

TEST_F(PatientHostTest, PeerMayCallItselfWhatItLikesWhenItsAddressIsItsOwn) {
  const auto peer = Dial();
  peer->Say({0, SomeHello("localhost.localdomain", 66)});
  ASSERT_TRUE(RunUntil(io_, [&peer] { return peer->Count<Hello>() == 1; }));
  EXPECT_THAT(h1_.prober.events, ElementsAre(StartsWith("h66 up")));
}

// The other direction: we dial, and what listens there is not what it should be.
class HostileListenerTest : public HostilePeerTest {
 protected:
  HostileListenerTest() {
    h1_.plane.SetPeers(
        {{"h66",
          std::string(kSource) + ":" + std::to_string(acceptor_.local_endpoint().port()),
          {}}});
    acceptor_.non_blocking(true);
  }
  std::unique_ptr<RawPeer> Accept() {
    auto peer = std::make_unique<RawPeer>(io_, kSource);
    EXPECT_TRUE(RunUntil(io_, [this, &peer] {
      boost::system::error_code error;
      auto socket = acceptor_.accept(error);
      if (!error) peer->Adopt(std::move(socket));
      return !error;
    }));
    return peer;
  }

  boost::asio::ip::tcp::acceptor acceptor_{io_, {boost::asio::ip::make_address(kSource), 0}};
};

TEST_F(HostileListenerTest, HelloIsSaidFirstAndOnlyOnce) {
  const auto peer = Accept();
  ASSERT_TRUE(RunUntil(io_, [&peer] { return !peer->Heard().empty(); }));
  ASSERT_TRUE(RunUntilClosed(*peer));
  ASSERT_EQ(peer->Heard().size(), 1U);
  EXPECT_EQ(peer->Heard().front(), (Message{0, Hello{.agent_version = "0.1.0",
                                                     .host = "h1",
                                                     .epoch = 1001,
                                                     .instance = 1,
                                                     .dial = 1,
                                                     .revision = 1,
                                                     .ports = {}}}));
  EXPECT_EQ(Problem(), "it did not say hello within 300 ms");
}

TEST_F(HostileListenerTest, RefusalIsTheProblem) {
  const auto peer = Accept();
  peer->Say({0, Refused{1, "no room"}});
  ASSERT_TRUE(RunUntilClosed(*peer));
  EXPECT_EQ(Problem(), "it refused us: no room");
}

TEST_F(HostileListenerTest, ClosedBeforeTheHelloSaysWhereToLook) {
  Accept()->Close();
  ASSERT_TRUE(RunUntil(io_, [this] {
    return Problem().starts_with("it closed the connection before its hello; see that it has");
  }));
}

TEST_F(HostileListenerTest, RedialsUntilSomebodyAnswers) {
  Accept()->Close();
  Accept()->Close();
  const auto peer = Accept();
  peer->Say({0, SomeHello("h66", 66)});
  ASSERT_TRUE(RunUntil(io_, [this] { return h1_.prober.Saw("h66 up"); }));
}

TEST_F(HostileListenerTest, StopsInEveryState) {
  // Dialling (SYN answered by the backlog), hello said, up with requests open: three planes, one
  // stop each.
  for (int state = 0; state < 4; ++state) {
    Node node{io_, PatientOptions("127.0.0.1:0", "h1", 1)};
    const auto endpoint = acceptor_.local_endpoint();
    node.plane.SetPeers(
        {{"h66", std::string(kSource) + ":" + std::to_string(endpoint.port()), {}}});
    int answers = 0;
    std::unique_ptr<RawPeer> peer;
    if (state >= 1) h1_.plane.Stop();
    if (state >= 1) peer = Accept();
    if (state >= 2) {
      peer->Say({0, SomeHello("h66", 66)});
      ASSERT_TRUE(RunUntil(io_, [&node] { return node.prober.Saw("h66 up"); }));
    }
    if (state >= 3) {
      node.plane.RequestConnect("h66", SomeConnect(), [&answers](const auto&) { ++answers; });
      node.plane.RequestConnect("h66", SomeConnect(), [&answers](const auto&) { ++answers; });
    }
    node.plane.Stop();
    node.plane.Stop();
    EXPECT_EQ(answers, state >= 3 ? 2 : 0);
    node.plane.RequestConnect("h66", SomeConnect(), [&answers](const auto&) { ++answers; });
    ASSERT_TRUE(RunUntil(io_, [&answers, state] { return answers == (state >= 3 ? 3 : 1); }));
    EXPECT_EQ(node.prober.events.size(), state >= 2 ? 2U : 0U);
    if (state == 0) h1_.plane.Stop();
    if (io_.stopped()) io_.restart();
    io_.run();  // returns by itself: nothing is left that waits
  }
}

}  // namespace
}  // namespace rdmapulse::peers
