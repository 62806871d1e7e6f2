// A device is let go whole, whatever it was doing: asked to, or vanished.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <tuple>

#include "probes/verbs/test_support.h"

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr auto kWrite0 = probes::Op::kWrite0;

// Leads a device through its whole life, step by step, until something holds it up.
class ClosingTest : public VerbsTest {
 protected:
  // One step that is begun, and waited for unless something is held first.
  bool Step(const std::function<void()>& begin, const std::function<bool()>& done) {
    begin();
    EXPECT_TRUE(RunUntil([this, &done] { return held_() || done(); }));
    return held_();
  }
  // True once a call of the verb waits.
  bool LiveUntilIn(const std::string& verb) {
    b_.Discover();
    EXPECT_TRUE(RunUntil([this] { return b_.Port().usable; }));
    const Result<TestQp> peer = Open(b_, "10.0.0.1");
    verbs_.Hold(verb, verb == "ibv_get_device_list" ? "" : "fake_0");
    held_ = [this, verb] { return verbs_.Waiting(verb) > 0; };
    return Step([this] { a_.Discover(); }, [this] { return a_.Port().usable; }) ||
           Step([this] { OpenOne(); }, [this] { return opened_ == 1; }) ||
           Step([this, &peer] { ConnectOne(peer->endpoint); },
                [this] { return connected_ == 1; }) ||
           Step([this] { verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE); },
                [this] { return QpsOf("fake_0").empty(); }) ||
           Step([this] { a_.transport.SetDevices({}, Clock::now()); },
                [this] { return NothingIsOpenOn("fake_0"); });
  }
  void OpenOne() {
    ++asked_;
    a_.transport.Open({"fake_0", 1}, *ParseGid("10.0.0.2"), {}, [this](auto result) {
      ++opened_;
      if (result) qp_ = {result->first, result->second};
    });
  }
  void ConnectOne(const probes::QpEndpoint& remote) {
    ++asked_;
    a_.transport.Connect(qp_.id, remote, [this](const Result<void>&) { ++connected_; });
  }

  std::function<bool()> held_;
  TestQp qp_;
  int asked_ = 0;
  int opened_ = 0;
  int connected_ = 0;
};

using Ask = void (*)(TestHost&);
struct Way {
  const char* name;
  Ask ask;
};
void PrintTo(const Way& way, std::ostream* out) { *out << way.name; }

constexpr Way kWays[] = {
    {"Stop", [](TestHost& host) { host.transport.Stop(); }},
    {"Removed", [](TestHost& host) { host.transport.SetDevices({}, Clock::now()); }},
    {"BeingRemoved",
     [](TestHost& host) {
       host.info.present = false;
       host.Discover();
     }},
};

class HeldTest : public ClosingTest,
                 public ::testing::WithParamInterface<std::tuple<const char*, Way>> {};

TEST_P(HeldTest, ClosesWhenTheCallComesHomeAndEveryHandlerIsAnsweredOnce) {
  const auto& [verb, way] = GetParam();
  ASSERT_TRUE(LiveUntilIn(verb)) << "the life of a device has no " << verb;
  b_.transport.Stop();
  ASSERT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_1"); }));
  way.ask(a_);
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, Not(IsEmpty()));
  loop_.restart();
  loop_.poll();
  EXPECT_FALSE(loop_.stopped()) << "the loop must not end before the call does";
  EXPECT_EQ(verbs_.Waiting(verb), 1);
  verbs_.ReleaseAll();
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_TRUE(StopAll());
  EXPECT_EQ(opened_ + connected_, asked_);
  EXPECT_LE(opened_, 1);
  EXPECT_LE(connected_, 1);
}

std::string NameOf(const ::testing::TestParamInfo<HeldTest::ParamType>& tested) {
  std::string name =
      std::string(std::get<1>(tested.param).name) + "In_" + std::get<0>(tested.param);
  for (char& c : name) c = c == ' ' ? '_' : c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    EachCall, HeldTest,
    ::testing::Combine(::testing::Values("ibv_get_device_list", "ibv_open_device",
                                         "ibv_query_device", "ibv_alloc_pd",
                                         "ibv_create_comp_channel", "ibv_reg_mr", "ibv_create_cq",
                                         "ibv_query_port", "ibv_query_gid_table", "ibv_create_qp",
                                         "ibv_modify_qp to INIT", "ibv_modify_qp to RTR",
                                         "ibv_modify_qp to RTS", "ibv_destroy_qp", "ibv_destroy_cq",
                                         "ibv_close_device"),
                       ::testing::ValuesIn(kWays)),
    NameOf);

TEST_F(ClosingTest, AReadOfThePortThatIsUnderWayIsWaitedFor) {
  OpenDevices();
  verbs_.Hold("ibv_query_port");
  verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
  ASSERT_TRUE(RunUntil([this] { return verbs_.Waiting("ibv_query_port") == 1; }));
  a_.transport.SetDevices({}, Clock::now());
  loop_.restart();
  loop_.poll();
  EXPECT_FALSE(NothingIsOpenOn("fake_0"));
  verbs_.ReleaseAll();
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
}

// Moving towards a dead address takes a second. All that a NIC may rebuild in a second are under
// way at once, so that the living do not queue behind the dead, nor the closing behind both.
TEST_F(ClosingTest, ADeviceThatIsBeingRemovedIsLetGoAlthoughQpsConnect) {
  constexpr int kQps = 10;  // probes/connection.cc: rebuilds of a device in a second
  OpenDevices();
  std::vector<TestQp> here;
  std::vector<TestQp> there;
  for (int i = 0; i < kQps; ++i) {
    here.push_back(*Open(a_, "10.0.0.2"));
    there.push_back(*Open(b_, "10.0.0.1"));
  }
  int failed = 0;
  verbs_.Hold("ibv_modify_qp to RTR");
  for (int i = 0; i < kQps; ++i) {
    const auto n = static_cast<std::size_t>(i);
    a_.transport.Connect(here[n].id, there[n].endpoint,
                         [&failed](const Result<void>& result) { failed += result ? 0 : 1; });
  }
  ASSERT_TRUE(RunUntil([this] { return verbs_.Waiting("ibv_modify_qp to RTR") == kQps; }));
  a_.info.present = false;
  a_.Discover();
  EXPECT_EQ(a_.Port().reason, "the device is being removed");
  verbs_.ReleaseAll();
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_EQ(failed, kQps);
}

TEST_F(ClosingTest, ADeviceThatCameBackWhileItWasClosedIsOpenedAnew) {
  OpenDevices();
  verbs_.Hold("ibv_close_device");
  a_.transport.SetDevices({}, Clock::now());
  ASSERT_TRUE(RunUntil([this] { return verbs_.Waiting("ibv_close_device") == 1; }));
  a_.Discover();  // too early
  EXPECT_FALSE(a_.Port().usable);
  verbs_.ReleaseAll();
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover();
    return a_.Port().usable;
  }));
}

// --- vanishing

class VanishingTest : public VerbsTest {
 protected:
  // The life of fake_0 as far as it gets; each step may fail, and says so once.
  void Live(TimePoint now) {
    ASSERT_TRUE(RunUntil([this, now] {
      if (a_.changes.empty()) a_.Discover(now);  // it may still be closing from last time
      return !a_.changes.empty();
    }));
    const Result<TestQp> a = Open(a_, "10.0.0.2");
    const Result<TestQp> b = Open(b_, "10.0.0.1");
    ASSERT_TRUE(b);
    if (!a || !Connect(a_, a->id, b->endpoint)) return;
    (void)Connect(b_, b->id, a->endpoint);
    a_.completions.clear();
    if (a_.transport.Post(a->id, kWrite0, 1)) {
      EXPECT_TRUE(RunUntil([this] { return !a_.completions.empty() || !a_.Port().usable; }));
    }
    a_.transport.Close(a->id);
    b_.transport.Close(b->id);
    a_.changes.clear();
    verbs_.RaisePort("fake_0", 1, IBV_EVENT_GID_CHANGE);
    EXPECT_TRUE(RunUntil([this] { return !a_.changes.empty() || !a_.Port().usable; }));
  }
};

TEST_F(VanishingTest, InsideAnyCallThePortBecomesUnusableAndNothingLeaks) {
  b_.Discover();
  ASSERT_TRUE(RunUntil([this] { return b_.Port().usable; }));
  int calls = 0;
  for (;; ++calls) {
    verbs_.Return("fake_0");
    verbs_.VanishInCall(calls + 1, "fake_0");
    a_.changes.clear();
    Live(Clock::now() + calls * 1h);  // past every back-off
    SCOPED_TRACE(std::to_string(calls + 1) + ": " + verbs_.FaultyVerb());
    if (verbs_.FaultFired()) {
      EXPECT_TRUE(RunUntil([this] { return !a_.Port().usable; }));
      EXPECT_THAT(a_.Port().reason, Not(IsEmpty()));
    }
    a_.transport.SetDevices({}, Clock::now());
    ASSERT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
    if (!verbs_.FaultFired() || HasFailure()) break;
  }
  // Some 30; events and completions that come together are fetched together, so not always as many.
  EXPECT_GE(calls, 25) << "opening 8, a QP 4, a probe 5, events, reading again, giving back";
}

// Its descriptors stay readable for ever: the loop must not spin on them.
TEST_F(VanishingTest, AnIdleDeviceIsClosedAtOnce) {
  OpenDevices();
  verbs_.Vanish("fake_0");
  EXPECT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  EXPECT_FALSE(a_.Port().usable);
  EXPECT_THAT(a_.Port().reason, Not(IsEmpty()));
  EXPECT_TRUE(b_.Port().usable);
}

TEST_F(VanishingTest, ADeviceThatReturnsIsOpenedAfterTheBackOff) {
  OpenDevices();
  verbs_.Vanish("fake_0");
  ASSERT_TRUE(RunUntil([this] { return NothingIsOpenOn("fake_0"); }));
  verbs_.Return("fake_0");
  EXPECT_TRUE(RunUntil([this] {
    a_.Discover(Clock::now() + 1h);
    return a_.Port().usable;
  }));
}

}  // namespace
}  // namespace rdmapulse::verbs
