// What the tests of whole probers share.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "probes/path_snapshot.h"
#include "probes/probe.h"
#include "probes/prober.h"
#include "tests/fakes/fabric.h"

namespace rdmapulse::probes {

inline std::uint64_t Count(const ProbeSeries& series, Outcome outcome) {
  return series.outcomes[static_cast<std::size_t>(outcome)];
}

inline constexpr std::uint8_t kLosslessTos = 26 << 2;
inline const PortId kPort{"mlx5_0", 1};

// h1 and h2, one port each, that probe each other over a fabric whose clock the test moves.
class TwoProbersTest : public ::testing::Test {
 protected:
  TwoProbersTest() {
    for (const std::string name : {"h1", "h2"}) {
      fakes::Fabric::Host& host = fabric_.AddHost(name);
      host.SetPort(fakes::RocePort(name == "h1" ? "10.0.0.1" : "10.0.0.2"));
    }
    h1().StartProber(fakes::DefaultSettings({"h2"}));
    h2().StartProber(fakes::DefaultSettings({"h1"}));
  }

  fakes::Fabric::Host& h1() { return fabric_.host("h1"); }
  fakes::Fabric::Host& h2() { return fabric_.host("h2"); }

  PathSnapshot PathOf(fakes::Fabric::Host& host, Class traffic_class) {
    for (PathSnapshot& path : host.prober().Paths(fabric_.now())) {
      if (path.key.traffic_class == traffic_class) return path;
    }
    ADD_FAILURE() << "no such path";
    return {};
  }
  ProbeSeries Series(fakes::Fabric::Host& host, Class traffic_class, Op op = Op::kWrite0) {
    for (const ProbeSeries& series : PathOf(host, traffic_class).series) {
      if (series.op == op) return series;
    }
    ADD_FAILURE() << "no such series";
    return {};
  }
  void ConnectAndSettle() {
    fabric_.ConnectSession("h1", "h2");
    fabric_.Advance(std::chrono::seconds(1));
    ASSERT_EQ(PathOf(h1(), Class::kLossless).qp_state, "rts");
    ASSERT_EQ(PathOf(h2(), Class::kLossless).qp_state, "rts");
  }
  void BlackHoleLossless() {
    fabric_.fate = [](const fakes::Fabric::Message& message) {
      return message.traffic_class == kLosslessTos ? fakes::Fate::kLost : fakes::Fate::kDelivered;
    };
  }
  void Heal() {
    fabric_.fate = [](const fakes::Fabric::Message&) { return fakes::Fate::kDelivered; };
  }
  // As the collectors do every second.
  void ReadCounters(fakes::Fabric::Host& host) {
    host.prober().OnRetransmits(kPort, fabric_.now(), fabric_.now(), host.retransmits(kPort));
  }
  void AdvanceReading(Duration duration) {
    constexpr Duration kStep = std::chrono::milliseconds(500);
    for (Duration past{}; past < duration; past += kStep) {
      fabric_.Advance(kStep);
      ReadCounters(h1());
      ReadCounters(h2());
    }
  }

  fakes::Fabric fabric_;
};

}  // namespace rdmapulse::probes
