#include "probes/verbs/test_support.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace rdmapulse::verbs {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

constexpr Duration kPatience = 10s;

}  // namespace

probes::GidEntry RoceGid(std::uint32_t index, const std::string& address) {
  return {.index = index, .gid = *ParseGid(address), .type = GidType::kRoceV2};
}

fakes::FakePort RocePort(const std::string& address) {
  fakes::FakePort port;
  port.gids = {RoceGid(1, address)};
  return port;
}

DeviceInfo Discovered(const std::string& name, const std::vector<std::uint32_t>& ports) {
  DeviceInfo info;
  info.name = name;
  for (const std::uint32_t number : ports) {
    info.ports.push_back({.port = number,
                          .link_layer = LinkLayer::kEthernet,
                          .protocol = Protocol::kRoceV2,
                          .state = PortState::kActive});
  }
  return info;
}

bool RunUntil(boost::asio::io_context& loop, const std::function<bool()>& condition) {
  const TimePoint deadline = Clock::now() + kPatience;
  while (!condition()) {
    if (Clock::now() >= deadline) return false;
    loop.restart();
    loop.run_one_for(20ms);
  }
  return true;
}

TestHost::TestHost(boost::asio::io_context& loop, const std::string& device, DeviceOptions options)
    : info(Discovered(device)),
      transport(loop, {.device = std::move(options),
                       .ignored = [](const PortId&) { return false; },
                       .journal = [this](const std::string& line) { journal.push_back(line); }}) {
  transport.SetHandlers(
      {.completed =
           [this](const probes::Completion& completion) { completions.push_back(completion); },
       .port_changed = [this](
                           const PortId& port,
                           const std::string& why) { changes.push_back(port.Text() + ": " + why); },
       .echoed = [this](const probes::EchoReply& reply) { echoes.push_back(reply); }});
}

probes::TransportPort TestHost::Port() const {
  const std::vector<probes::TransportPort> ports = transport.Ports();
  return ports.empty() ? probes::TransportPort{} : ports.front();
}

std::vector<std::pair<std::uint64_t, int>> TestHost::Completed() const {
  std::vector<std::pair<std::uint64_t, int>> completed;
  for (const probes::Completion& completion : completions) {
    completed.emplace_back(completion.probe, completion.status.code);
  }
  return completed;
}

VerbsTest::VerbsTest(const DeviceOptions& options)
    : a_(loop_, "fake_0", options), b_(loop_, "fake_1", options) {
  verbs_.AddDevice("fake_0", {RocePort("10.0.0.1")});
  verbs_.AddDevice("fake_1", {RocePort("10.0.0.2")});
}

void VerbsTest::TearDown() {
  verbs_.ReleaseAll();
  EXPECT_TRUE(StopAll()) << "the loop did not end by itself";
  EXPECT_THAT(verbs_.LiveObjects(), IsEmpty());
  EXPECT_THAT(verbs_.Misuse(), IsEmpty());
}

void VerbsTest::OpenDevices() {
  a_.Discover();
  b_.Discover();
  ASSERT_TRUE(RunUntil([this] { return a_.Port().usable && b_.Port().usable; }))
      << a_.Port().reason << ", " << b_.Port().reason;
}

Result<TestQp> VerbsTest::Open(TestHost& host, const std::string& towards,
                               const probes::QpAttributes& attributes) {
  int answers = 0;
  Result<TestQp> answer = Fail({"Open was never answered"});
  host.transport.Open({host.info.name, 1}, *ParseGid(towards), attributes,
                      [&answers, &answer](auto result) {
                        ++answers;
                        if (result) {
                          answer = TestQp{result->first, result->second};
                        } else {
                          answer = tl::unexpected(result.error());
                        }
                      });
  EXPECT_TRUE(RunUntil([&answers] { return answers > 0; }));
  EXPECT_LE(answers, 1);
  return answer;
}

Result<void> VerbsTest::Connect(TestHost& host, probes::QpId qp, const probes::QpEndpoint& remote) {
  int answers = 0;
  Result<void> answer = Fail({"Connect was never answered"});
  host.transport.Connect(qp, remote, [&answers, &answer](Result<void> result) {
    ++answers;
    answer = std::move(result);
  });
  EXPECT_TRUE(RunUntil([&answers] { return answers > 0; }));
  EXPECT_LE(answers, 1);
  return answer;
}

std::pair<TestQp, TestQp> VerbsTest::ConnectedPair() {
  const Result<TestQp> a = Open(a_, "10.0.0.2");
  const Result<TestQp> b = Open(b_, "10.0.0.1");
  if (!a || !b) {
    ADD_FAILURE() << (a ? b : a).error().Text();
    return {};
  }
  const Result<void> a_connected = Connect(a_, a->id, b->endpoint);
  const Result<void> b_connected = Connect(b_, b->id, a->endpoint);
  EXPECT_TRUE(a_connected) << a_connected.error().Text();
  EXPECT_TRUE(b_connected) << b_connected.error().Text();
  return {*a, *b};
}

bool VerbsTest::Changed(const TestHost& host, const std::string& change) {
  return RunUntil([&host, &change] {
    return std::find(host.changes.begin(), host.changes.end(), change) != host.changes.end();
  });
}

std::vector<fakes::FakeQp> VerbsTest::QpsOf(const std::string& device) const {
  std::vector<fakes::FakeQp> qps = verbs_.Qps();
  std::erase_if(qps, [&device](const fakes::FakeQp& qp) { return qp.device != device; });
  return qps;
}

bool VerbsTest::IsAlive(TestHost& host, const TestQp& qp) {
  constexpr std::uint64_t kProbe = 0xA11FE;
  const std::size_t before = host.completions.size();
  return host.transport.Post(qp.id, probes::Op::kWrite0, kProbe).has_value() &&
         RunUntil([&host, before] { return host.completions.size() > before; }) &&
         host.Completed().back() == std::pair(kProbe, 0);
}

bool VerbsTest::NothingIsOpenOn(const std::string& device) const {
  const std::vector<std::string> live = verbs_.LiveObjects();
  return std::none_of(live.begin(), live.end(), [&device](const std::string& object) {
    return object.ends_with(" of " + device);
  });
}

bool VerbsTest::StopAll() {
  a_.transport.Stop();
  b_.transport.Stop();
  loop_.restart();
  loop_.run_for(kPatience);
  return loop_.stopped();
}

}  // namespace rdmapulse::verbs
