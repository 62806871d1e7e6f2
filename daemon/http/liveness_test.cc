#include "daemon/http/liveness.h"

#include <gtest/gtest.h>

#include <memory>

namespace rdmapulse::http {

void PrintTo(const Liveness& liveness, std::ostream* out) {
  *out << (liveness.good ? "good: " : "bad: ") << liveness.sentence;
}

namespace {

using namespace std::chrono_literals;

constexpr TimePoint kTaken{100s};
const Liveness kGood{true, "ok"};
const Liveness kStarting{false, "the daemon has published no snapshot yet; it is starting"};

Snapshot Taken() {
  Snapshot snapshot;
  snapshot.taken = kTaken;
  return snapshot;
}

TEST(LivenessTest, ASnapshotIsFreshForLessThanFiveSeconds) {
  EXPECT_EQ(Health(Taken(), kTaken + 5s - 1ns), kGood);
  EXPECT_EQ(Health(Taken(), kTaken + 5s),
            (Liveness{false,
                      "the last snapshot is 5.0 s old: the daemon's loop is stuck or this host is "
                      "short of CPU"}));
}

TEST(LivenessTest, BeforeTheFirstSnapshotTheDaemonIsNeitherHealthyNorReady) {
  EXPECT_EQ(Health(Snapshot{}, kTaken), kStarting);
  EXPECT_EQ(Readiness(Snapshot{}), kStarting);
}

TEST(LivenessTest, ReadyOnceEverySubjectWasRead) {
  const Liveness not_yet{false, "the first collection of this host's counters is not over yet"};
  Snapshot snapshot = Taken();
  snapshot.devices.resize(1);
  EXPECT_EQ(Readiness(snapshot), not_yet);
  snapshot.collections = {std::make_shared<const collectors::Collection>(), nullptr};
  EXPECT_EQ(Readiness(snapshot), not_yet);
  snapshot.collections[1] = snapshot.collections[0];
  EXPECT_EQ(Readiness(snapshot), kGood);
}

TEST(LivenessTest, AHostWithoutRdmaIsReadyWithItsFirstSnapshot) {
  EXPECT_EQ(Readiness(Taken()), kGood);
}

}  // namespace
}  // namespace rdmapulse::http
