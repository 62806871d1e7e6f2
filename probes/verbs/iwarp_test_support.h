// Two hosts with one iWARP port each, over a fake connection manager.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "probes/verbs/test_support.h"
#include "tests/fakes/rdma_cm.h"

namespace rdmapulse::verbs {

inline constexpr std::uint64_t kGuidA = 0x5254000000010000;
inline constexpr std::uint64_t kGuidB = 0x5254000000020000;

// Made before the transports that use it.
struct CmHolder {
  fakes::RdmaCm cm_;
};

inline DeviceOptions OptionsWith(CmHost& host, Duration connect_within) {
  DeviceOptions options;
  options.cm_host = &host;
  options.connect_within = connect_within;
  return options;
}

// fake_0 with 10.0.0.1 on eth0 and fake_1 with 10.0.0.2 on eth1.
class IwarpTest : private CmHolder, public VerbsTest {
 protected:
  explicit IwarpTest(Duration connect_within = std::chrono::seconds(10))
      : VerbsTest(OptionsWith(CmHolder::cm_, connect_within)) {
    cm().Attach(verbs_);
    cm().SetAddresses("eth0", "fake_0", kGuidA, {"10.0.0.1"});
    cm().SetAddresses("eth1", "fake_1", kGuidB, {"10.0.0.2"});
    MakeIwarp(a_.info, "eth0", kGuidA);
    MakeIwarp(b_.info, "eth1", kGuidB);
  }
  void TearDown() override {
    VerbsTest::TearDown();
    EXPECT_THAT(cm().LiveObjects(), ::testing::IsEmpty());
    EXPECT_THAT(cm().Misuse(), ::testing::IsEmpty());
  }

  fakes::RdmaCm& cm() { return CmHolder::cm_; }

  // One QP on each host; the one that dials first.
  struct Pairing {
    TestHost* active = nullptr;
    TestQp dials;
    TestHost* passive = nullptr;
    TestQp waits;
  };
  Pairing OpenPair() {
    const Result<TestQp> a = Open(a_, "10.0.0.2");
    const Result<TestQp> b = Open(b_, "10.0.0.1");
    if (!a || !b) {
      ADD_FAILURE() << (a ? b : a).error().Text();
      return {&a_, {}, &b_, {}};
    }
    if (a->endpoint.cm_token > b->endpoint.cm_token) return {&a_, *a, &b_, *b};
    return {&b_, *b, &a_, *a};
  }
  Pairing Connected() {
    Pairing pair = OpenPair();
    EXPECT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
    const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
    EXPECT_TRUE(dialled) << dialled.error().Text();
    return pair;
  }
  // A READ goes out and comes back.
  bool Reads(TestHost& host, const TestQp& qp) {
    const std::size_t before = host.completions.size();
    return host.transport.Post(qp.id, probes::Op::kRead, 7).has_value() &&
           RunUntil([&host, before] { return host.completions.size() > before; }) &&
           host.Completed().back() == std::pair<std::uint64_t, int>(7, 0);
  }

 private:
  static void MakeIwarp(DeviceInfo& info, const std::string& netdev, std::uint64_t guid) {
    info.node_guid = guid;
    info.ports[0].protocol = Protocol::kIwarp;
    info.ports[0].netdev = netdev;
  }
};

}  // namespace rdmapulse::verbs
