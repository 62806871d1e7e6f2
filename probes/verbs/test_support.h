// What the tests of this package share: hosts with one fake device each, on one real loop.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/device_info.h"
#include "daemon/base/time.h"
#include "probes/transport.h"
#include "probes/verbs/transport.h"
#include "tests/fakes/ibverbs.h"

namespace rdmapulse::verbs {

probes::GidEntry RoceGid(std::uint32_t index, const std::string& address);
// A port that is up, with one RoCE v2 GID at index 1.
fakes::FakePort RocePort(const std::string& address);
// As discovery would tell of a device with these ports.
DeviceInfo Discovered(const std::string& name, const std::vector<std::uint32_t>& ports = {1});

// Runs the loop until the condition holds; false when it does not within ten seconds.
bool RunUntil(boost::asio::io_context& loop, const std::function<bool()>& condition);

// A transport with one device, and all that it said.
class TestHost {
 public:
  TestHost(boost::asio::io_context& loop, const std::string& device, DeviceOptions options);

  void Discover(TimePoint now = Clock::now()) { transport.SetDevices({info}, now); }
  probes::TransportPort Port() const;
  // The probes that completed, each as {probe, status code}.
  std::vector<std::pair<std::uint64_t, int>> Completed() const;

  DeviceInfo info;
  std::vector<probes::Completion> completions;
  std::vector<probes::EchoReply> echoes;
  std::vector<std::string> changes;  // "fake_0/1: opened"
  std::vector<std::string> journal;
  VerbsTransport transport;
};

struct TestQp {
  probes::QpId id = 0;
  probes::QpEndpoint endpoint;
};

// fake_0 with 10.0.0.1 and fake_1 with 10.0.0.2, known to a fake libibverbs and not opened yet. At
// the end of every test everything must be given back, in the order that verbs asks for.
class VerbsTest : public ::testing::Test {
 protected:
  explicit VerbsTest(const DeviceOptions& options = {});
  void TearDown() override;

  bool RunUntil(const std::function<bool()>& condition) {
    return verbs::RunUntil(loop_, condition);
  }
  void OpenDevices();  // both
  // The answer to Open and Connect; an error "never answered" after ten seconds.
  Result<TestQp> Open(TestHost& host, const std::string& towards = "10.0.0.9",
                      const probes::QpAttributes& attributes = {});
  Result<void> Connect(TestHost& host, probes::QpId qp, const probes::QpEndpoint& remote);
  // Whether the host heard this of a port within ten seconds: "fake_0/1: opened".
  bool Changed(const TestHost& host, const std::string& change);
  std::vector<fakes::FakeQp> QpsOf(const std::string& device) const;
  // A probe goes out on the QP and comes back well.
  bool IsAlive(TestHost& host, const TestQp& qp);
  bool NothingIsOpenOn(const std::string& device) const;
  // A QP of each, connected to each other.
  std::pair<TestQp, TestQp> ConnectedPair();
  // Closes all; false when the loop does not end by itself.
  bool StopAll();

  fakes::Ibverbs verbs_;
  boost::asio::io_context loop_{1};
  TestHost a_;
  TestHost b_;
};

}  // namespace rdmapulse::verbs
