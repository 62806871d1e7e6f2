// QPs over iWARP that are refused, reset or too late; whatever fails gives everything back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>

#include "probes/verbs/cm_test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using fakes::RdmaCm;
using probes::Op;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST_F(IwarpTest, APeerThatDoesNotSayWhereToDialIsNamed) {
  OpenDevices();
  const Pairing pair = OpenPair();
  const Result<void> dialled = DialChanged(pair, [](probes::QpEndpoint& old) {
    old.tcp_port = 0;
    old.cm_token = 0;
  });
  ASSERT_FALSE(dialled);
  EXPECT_THAT(dialled.error().Text(), HasSubstr("update rdmapulse there"));
}

TEST_F(IwarpTest, WhereNobodyListensItIsRefused) {
  OpenDevices();
  const Pairing pair = OpenPair();
  const Result<void> dialled = DialChanged(pair, [](auto& elsewhere) { elsewhere.tcp_port = 9; });
  ASSERT_FALSE(dialled);
  EXPECT_EQ(dialled.error().code, std::errc::connection_refused);
  EXPECT_THAT(dialled.error().Text(), HasSubstr("10.0.0."));
}

TEST_F(IwarpTest, WhoeverNamesAnotherTokenIsRejected) {
  OpenDevices();
  const Pairing pair = OpenPair();
  const Result<void> dialled = DialChanged(pair, [](auto& guessed) { guessed.cm_token -= 2; });
  ASSERT_FALSE(dialled);
  EXPECT_THAT(dialled.error().Text(), HasSubstr("iWARP was refused by 10.0.0."));
  EXPECT_EQ(cm().Rejections(), 1);
  EXPECT_FALSE(pair.passive->transport.Post(pair.waits.id, Op::kRead, 1));
}

TEST_F(IwarpTest, ARightTokenFromAnotherThanThePeerIsRejected) {
  OpenDevices();
  const Pairing pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  const CmAddress where{pair.waits.endpoint.gid, pair.waits.endpoint.tcp_port};
  ASSERT_TRUE(cm().DialAs(where, Encode({.to = pair.waits.endpoint.cm_token, .from = ~0ULL})));
  ASSERT_TRUE(RunUntil([this] { return cm().Rejections() == 1; }));
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  EXPECT_TRUE(Reads(*pair.active, pair.dials));
}

TEST_F(IwarpTest, ACrowdThatSaysNothingIsTurnedAwayAndDoesNotKeepThePeerOut) {
  OpenDevices();
  const Pairing pair = OpenPair();
  const CmAddress where{pair.waits.endpoint.gid, pair.waits.endpoint.tcp_port};
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(cm().DialAs(where, {}));
  ASSERT_TRUE(Connect(*pair.active, pair.dials.id, pair.waits.endpoint));
  EXPECT_TRUE(RunUntil([this] { return cm().Rejections() == 100; }));
}

TEST_F(IwarpTest, WhatIsOutstandingWhenThePeerClosesIsFlushed) {
  OpenDevices();
  const Pairing pair = Connected();
  verbs_.WithholdCompletions();
  ASSERT_TRUE(pair.active->transport.Post(pair.dials.id, Op::kRead, 5));
  pair.passive->transport.Close(pair.waits.id);
  ASSERT_TRUE(RunUntil([&pair] { return !pair.active->completions.empty(); }));
  EXPECT_THAT(pair.active->Completed(), Contains(Pair(5, probes::kStatusFlushed)));
  EXPECT_THAT(WhyItEnded(pair), HasSubstr("the iWARP connection ended"));
}

TEST_F(IwarpTest, WhatIsPostedBeforeTheEndIsHeardOfIsFlushedByOurClock) {
  OpenDevices();
  const Pairing pair = Connected();
  const std::string here = pair.active->info.name;
  verbs_.MoveQpsToError(here);
  ASSERT_TRUE(pair.active->transport.Post(pair.dials.id, Op::kRead, 5));
  cm().Disconnect(here);
  ASSERT_TRUE(RunUntil([&pair] { return !pair.active->completions.empty(); }));
  EXPECT_THAT(pair.active->Completed(), ElementsAre(Pair(5, probes::kStatusFlushed)));
}

TEST_F(IwarpTest, WhatIsFlushedByOurClockMayBeAnsweredByClosingIt) {
  OpenDevices();
  const Pairing pair = Connected();
  const std::string here = pair.active->info.name;
  verbs_.MoveQpsToError(here);
  for (std::uint64_t probe = 1; probe <= 2; ++probe) {
    ASSERT_TRUE(pair.active->transport.Post(pair.dials.id, Op::kRead, probe));
  }
  int completed = 0;
  pair.active->transport.SetHandlers({.completed =
                                          [&pair, &completed](const probes::Completion&) {
                                            ++completed;
                                            pair.active->transport.Close(pair.dials.id);
                                          },
                                      .port_changed = [](const PortId&, const std::string&) {}});
  cm().Disconnect(here);
  ASSERT_TRUE(RunUntil([&completed] { return completed > 0; }));
  EXPECT_EQ(completed, 1) << "after Close nothing completes";
}

TEST_F(IwarpTest, AConnectionThatIsResetIsNotPostedOn) {
  OpenDevices();
  const Pairing pair = Connected();
  cm().Disconnect("fake_0");
  cm().Disconnect("fake_1");
  EXPECT_TRUE(RunUntil([&pair] {
    const Result<void> posted = pair.active->transport.Post(pair.dials.id, Op::kRead, 6);
    return !posted && posted.error().Text().find("connection ended") != std::string::npos;
  }));
}

// Whichever command fails, the connection fails or the port is not usable, and at the end of the
// test nothing is left (TearDown).
TEST_F(IwarpTest, WhateverCommandFailsNothingIsLeft) {
  int commands = 0;
  {
    OpenDevices();
    const Pairing pair = Connected();
    EXPECT_TRUE(Reads(*pair.active, pair.dials));
    commands = cm().CommandsSeen();
    ASSERT_GT(commands, 12);
    pair.active->transport.Close(pair.dials.id);
    pair.passive->transport.Close(pair.waits.id);
  }
  for (int n = 1; n <= 7; ++n) {  // create, option, address, route, query, connect, accept
    SCOPED_TRACE(n);
    const Pairing pair = OpenPair();
    ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
    cm().FailCommand(n, EIO);
    cm().SetSilence(RdmaCm::Silence::kNone);
    int answers = 0;
    pair.active->transport.Connect(pair.dials.id, pair.waits.endpoint,
                                   [&answers](const Result<void>& result) {
                                     ++answers;
                                     EXPECT_FALSE(result);
                                   });
    // Who accepts and fails tells nobody: the one that dialled waits for its deadline, or closes.
    ASSERT_TRUE(RunUntil([this, &answers] { return answers > 0 || cm().FaultFired(); }));
    pair.active->transport.Close(pair.dials.id);
    pair.passive->transport.Close(pair.waits.id);
    EXPECT_TRUE(RunUntil([&answers] { return answers == 1; }));
    EXPECT_TRUE(cm().FaultFired());
    cm().FailCommand(0, 0);
  }
}

TEST_F(IwarpTest, WhateverCommandFailsAtOpeningNothingIsLeft) {
  for (int n = 1; n <= 6; ++n) {  // open, addresses, create, bind, listen, query
    SCOPED_TRACE(n);
    cm().FailCommand(n, EIO);
    a_.changes.clear();
    // A device that is still being closed is opened by a later look.
    ASSERT_TRUE(RunUntil([this, n] {
      if (cm().CommandsSeen() == 0) a_.Discover(Clock::now() + n * 11s);
      return !a_.changes.empty();
    }));
    EXPECT_TRUE(cm().FaultFired());
    EXPECT_FALSE(a_.Port().usable);
    EXPECT_THAT(a_.Port().reason, HasSubstr("Input/output error"));
    a_.transport.SetDevices({}, Clock::now());
    ASSERT_TRUE(
        RunUntil([this] { return NothingIsOpenOn("fake_0") && cm().LiveObjects().empty(); }));
  }
}

class ImpatientIwarpTest : public IwarpTest {
 protected:
  ImpatientIwarpTest() : IwarpTest(50ms) {}
};

TEST_F(ImpatientIwarpTest, WhereNobodyAnswersItIsGivenUpByOurOwnClock) {
  OpenDevices();
  for (const auto silence : {RdmaCm::Silence::kAddress, RdmaCm::Silence::kReply}) {
    cm().SetSilence(silence);
    const Pairing pair = OpenPair();
    const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
    ASSERT_FALSE(dialled);
    EXPECT_EQ(dialled.error().code, std::errc::timed_out);
    EXPECT_THAT(dialled.error().Text(), HasSubstr("iWARP: dialling 10.0.0."));
  }
  cm().SetSilence(RdmaCm::Silence::kSyn);
  const Pairing pair = OpenPair();
  const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
  EXPECT_EQ(dialled.error().code, std::errc::timed_out);
}

TEST_F(ImpatientIwarpTest, WhoIsNotDialledInTimeIsDialledNoMore) {
  OpenDevices();
  const Pairing pair = OpenPair();
  ASSERT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
  const auto given_up = [&pair] {
    const Result<void> posted = pair.passive->transport.Post(pair.waits.id, Op::kRead, 1);
    return posted.error().Text().find("waiting to be dialled by 10.0.0.") != std::string::npos;
  };
  ASSERT_TRUE(RunUntil(given_up));
  const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
  ASSERT_FALSE(dialled);
  EXPECT_THAT(dialled.error().Text(), HasSubstr("refused"));
}

}  // namespace
}  // namespace rdmapulse::verbs
