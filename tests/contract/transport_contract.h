// What every probes::Transport owes its prober, written once. Each implementation brings a harness
// and instantiates TransportContractTest with it; a fake that drifts from the real thing fails
// there.
//
// - transport_contract_test: tests/fakes/fabric, and probes/verbs over tests/fakes/ibverbs: as
// RoCE,
//   as iWARP, and as RoCE and InfiniBand through the connection manager;
// - transport_contract_rxe: probes/verbs on the first RDMA device of the host that runs it, rxe or
//   siw; of rxe also through the connection manager.
//
// The second is for a lab's guest (or a host with a NIC whose addresses may be changed). The guest
// has the libraries of the daemon that it was booted with:
//
//   bazel build --config=release //daemon:rdmapulsed //daemon/cli:rdmapulse //tests/lab:programs
//   bazel build --config=release //tests/contract:transport_contract_rxe
//   tests/lab/lab up --hosts 1
//   tests/lab/lab daemon h1 stop
//   tests/lab/lab put h1 bazel-bin/tests/contract/transport_contract_rxe /contract
//   tests/lab/lab exec h1 -- /contract
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "probes/transport.h"

namespace rdmapulse::contract {

// Two ports that reach each other: of two hosts, or twice the same one.
struct End {
  probes::Transport* transport = nullptr;
  PortId port;
};

class TransportHarness {
 public:
  virtual ~TransportHarness() = default;
  // Ends the transport and checks that it has given everything back.
  virtual void Stop() {}

  // Why the suite cannot run here; empty: it can.
  virtual std::string Skip() { return {}; }
  // Usable once the constructor is through.
  virtual End Here() = 0;
  virtual End There() = 0;
  // Lets time pass until the condition holds; false when it has not within some seconds.
  virtual bool RunUntil(const std::function<bool()>& condition) = 0;
  // An address of the ports' family that nobody has.
  virtual Gid Nobody() = 0;
  // An address of Here's port comes or goes, so that its QPs are dead; it is usable soon again.
  virtual void DisturbHere() = 0;
  // What can be posted; not empty.
  virtual std::vector<probes::Op> Ops() const {
    return {probes::Op::kWrite0, probes::Op::kWrite, probes::Op::kWriteMtu,
            probes::Op::kRead,   probes::Op::kEcho,  probes::Op::kAtomic};
  }
  // Whether there are datagrams beside them.
  virtual bool Datagrams() const { return true; }
  // Whether an end learns that the other has closed; over RC alone it cannot.
  virtual bool TellsOfTheEnd() const { return false; }
};

struct Implementation {
  std::string name;  // of letters and digits
  std::unique_ptr<TransportHarness> (*make)();
};

class TransportContractTest : public ::testing::TestWithParam<Implementation> {
 protected:
  struct Qp {
    End end;
    probes::QpId id = 0;
    probes::QpEndpoint endpoint;
  };
  using Completions = std::vector<std::pair<std::uint64_t, int>>;  // probe, status code

  void SetUp() override;
  void TearDown() override;

  // The answer; it must come, and once.
  Result<Qp> Open(const End& end, const Gid& towards, const probes::QpAttributes& attributes = {});
  Result<void> Connect(const Qp& qp, const probes::QpEndpoint& remote);
  // A QP at Here and one at There, connected to each other.
  std::pair<Qp, Qp> ConnectedPair();
  // What completed on both ends since the last call, once `count` have.
  Completions Await(std::size_t count);
  // Returns when whatever was under way has come: later work has completed.
  void Settle();
  Gid GidOf(const End& end) const;

  std::unique_ptr<TransportHarness> harness_;
  End here_;
  End there_;
  std::vector<probes::Op> ops_;
  Completions completed_;
  std::vector<probes::EchoReply> echoed_;
  std::vector<PortId> changed_;
  int answers_due_ = 0;
};

void PrintTo(const Implementation& implementation, std::ostream* out);

}  // namespace rdmapulse::contract
