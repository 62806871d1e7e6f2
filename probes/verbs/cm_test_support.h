// Two hosts with one port each, over a fake connection manager.
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

class CmTest : private CmHolder, public VerbsTest {
 protected:
  CmTest(Duration connect_within, bool by_cm)
      : VerbsTest(OptionsWith(CmHolder::cm_, connect_within, by_cm)) {
    cm().Attach(verbs_);
    a_.info.node_guid = kGuidA;
    b_.info.node_guid = kGuidB;
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
  Pairing OpenPair(const probes::QpAttributes& attributes = {}) {
    const Result<TestQp> a = Open(a_, "10.0.0.2", attributes);
    const Result<TestQp> b = Open(b_, "10.0.0.1", attributes);
    if (!a || !b) {
      ADD_FAILURE() << (a ? b : a).error().Text();
      return {&a_, {}, &b_, {}};
    }
    if (a->endpoint.cm_token > b->endpoint.cm_token) return {&a_, *a, &b_, *b};
    return {&b_, *b, &a_, *a};
  }
  Pairing ConnectedPairWith(const probes::QpAttributes& attributes) {
    Pairing pair = OpenPair(attributes);
    EXPECT_TRUE(Connect(*pair.passive, pair.waits.id, pair.dials.endpoint));
    const Result<void> dialled = Connect(*pair.active, pair.dials.id, pair.waits.endpoint);
    EXPECT_TRUE(dialled) << dialled.error().Text();
    return pair;
  }
  Pairing Connected() { return ConnectedPairWith({}); }
  // The end that dials takes the other's endpoint for what `change` makes of it.
  template <typename Change>
  Result<void> DialChanged(const Pairing& pair, Change change) {
    probes::QpEndpoint told = pair.waits.endpoint;
    change(told);
    return Connect(*pair.active, pair.dials.id, told);
  }
  // Why the end that dialled takes no more work, once it does not.
  std::string WhyItEnded(const Pairing& pair) {
    Result<void> posted;
    EXPECT_TRUE(RunUntil([&pair, &posted] {
      posted = pair.active->transport.Post(pair.dials.id, probes::Op::kRead, 6);
      return !posted.has_value();
    }));
    return posted ? "" : posted.error().Text();
  }
  // A probe goes out and comes back.
  bool Sends(TestHost& host, const TestQp& qp, probes::Op op) {
    const std::size_t before = host.completions.size();
    return host.transport.Post(qp.id, op, 7).has_value() &&
           RunUntil([&host, before] { return host.completions.size() > before; }) &&
           host.Completed().back() == std::pair<std::uint64_t, int>(7, 0);
  }

 private:
  static DeviceOptions OptionsWith(CmHost& host, Duration connect_within, bool by_cm) {
    DeviceOptions options;
    options.cm_host = &host;
    options.connect_within = connect_within;
    options.by_cm = by_cm;
    return options;
  }
};

// fake_0 with 10.0.0.1 on eth0 and fake_1 with 10.0.0.2 on eth1.
class IwarpTest : public CmTest {
 protected:
  explicit IwarpTest(Duration connect_within = std::chrono::seconds(10))
      : CmTest(connect_within, false) {
    cm().SetAddresses("eth0", "fake_0", kGuidA, {"10.0.0.1"});
    cm().SetAddresses("eth1", "fake_1", kGuidB, {"10.0.0.2"});
    MakeIwarp(a_.info, "eth0");
    MakeIwarp(b_.info, "eth1");
  }
  bool Reads(TestHost& host, const TestQp& qp) { return Sends(host, qp, probes::Op::kRead); }

 private:
  static void MakeIwarp(DeviceInfo& info, const std::string& netdev) {
    info.ports[0].protocol = Protocol::kIwarp;
    info.ports[0].netdev = netdev;
  }
};

// The same addresses, as GIDs too.
class RoceByCmTest : public CmTest {
 protected:
  explicit RoceByCmTest(Duration connect_within = std::chrono::seconds(10))
      : CmTest(connect_within, true) {
    cm().SetAddresses("eth0", "fake_0", kGuidA, {"10.0.0.1"}, fakes::RdmaCm::Manner::kRoce);
    cm().SetAddresses("eth1", "fake_1", kGuidB, {"10.0.0.2"}, fakes::RdmaCm::Manner::kRoce);
  }
};

// fake_0 with LID 7 and 10.0.0.1 on ib0 and fake_1 with LID 8 and 10.0.0.2 on ib1.
class InfinibandByCmTest : public CmTest {
 protected:
  InfinibandByCmTest() : CmTest(std::chrono::seconds(10), true) {
    MakeInfiniband(a_.info, 7, "fe80::1");
    MakeInfiniband(b_.info, 8, "fe80::2");
    constexpr auto kManner = fakes::RdmaCm::Manner::kInfiniband;
    cm().SetAddresses("ib0", "fake_0", kGuidA, {"10.0.0.1"}, kManner);
    cm().SetAddresses("ib1", "fake_1", kGuidB, {"10.0.0.2"}, kManner);
  }

 private:
  void MakeInfiniband(DeviceInfo& info, std::uint16_t lid, const std::string& gid) {
    info.ports[0].protocol = Protocol::kInfiniband;
    info.ports[0].link_layer = LinkLayer::kInfiniband;
    fakes::FakePort port;
    port.link_layer = LinkLayer::kInfiniband;
    port.lid = lid;
    port.gids = {{.index = 0, .gid = *ParseGid(gid)}};
    verbs_.SetPort(info.name, port);
  }
};

}  // namespace rdmapulse::verbs
