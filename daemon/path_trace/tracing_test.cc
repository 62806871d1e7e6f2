// Real packets over real routers: three network namespaces of this kernel in a row.
//
//   this process 10.77.0.1 ─ 10.77.0.254 router 10.78.0.254 ─ 10.78.0.2 far (and fd77::, fd78::)
#include "daemon/path_trace/tracing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::path_trace {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A process that does nothing but keep a namespace.
class Namespace {
 public:
  Namespace() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) return;
    const UniqueFd reader(ends[0]);
    UniqueFd writer(ends[1]);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (unshare(CLONE_NEWNET) == 0 && write(writer.get(), "x", 1) == 1) pause();
      _exit(1);
    }
    writer = UniqueFd();
    char made = 0;
    ready = read(reader.get(), &made, 1) == 1;
  }
  Namespace(const Namespace&) = delete;
  Namespace& operator=(const Namespace&) = delete;
  ~Namespace() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  std::string Pid() const { return std::to_string(pid_); }
  void Do(const std::string& command) const {
    Shell("nsenter -t " + Pid() + " -n sh -c '" + command + "'");
  }
  static void Shell(const std::string& command) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;  // NOLINT(cert-env33-c)
  }

  bool ready = false;

 private:
  pid_t pid_ = -1;
};

class TracingTest : public ::testing::Test {
 protected:
  // The process stays in a namespace of its own from the first case on.
  static void SetUpTestSuite() {
    if (geteuid() != 0) return;
    ASSERT_EQ(unshare(CLONE_NEWNET), 0) << "no network namespace can be made here";
    router = new Namespace;
    far_end = new Namespace;
    ASSERT_TRUE(router->ready && far_end->ready) << "no network namespace can be made here";
    Namespace::Shell("ip link add v0 type veth peer name v1 netns " + router->Pid());
    router->Do("ip link add w0 type veth peer name w1 netns " + far_end->Pid());
    Namespace::Shell(Up("v0", "77", "1"));
    router->Do(Up("v1", "77", "254") + " && " + Up("w0", "78", "254"));
    router->Do("echo 1 >/proc/sys/net/ipv4/ip_forward");
    router->Do("echo 1 >/proc/sys/net/ipv6/conf/all/forwarding");
    far_end->Do(Up("w1", "78", "2"));
    Namespace::Shell("ip route add 10.78.0.0/24 via 10.77.0.254");
    Namespace::Shell("ip route add fd78::/64 via fd77::254");
    far_end->Do(
        "ip route add 10.77.0.0/24 via 10.78.0.254 && ip route add fd77::/64 via fd78::254");
  }
  static void TearDownTestSuite() {
    delete router;
    delete far_end;
  }
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "making network namespaces takes root";
  }
  static std::string Up(const std::string& name, const std::string& net, const std::string& host) {
    return "ip link set lo up && ip address add 10." + net + ".0." + host + "/24 dev " + name +
           " && ip address add fd" + net + "::" + host + "/64 dev " + name +
           " nodad && ip link set " + name + " up";
  }

  static probes::PathSnapshot PathTo(const std::string& peer, const std::string& source,
                                     const std::string& destination) {
    probes::PathSnapshot path;
    path.key = {peer, {"rxe0", 1}, {"rxe0", 1}, probes::Class::kLossless};
    path.ends = {Protocol::kRoceV2, *ParseGid(source), *ParseGid(destination)};
    path.sport = 50216;
    path.qp_state = "rts";
    return path;
  }
  // The addresses of the hops, and how it ended.
  std::vector<std::string> Traced(const probes::PathSnapshot& path) {
    Tracing tracing(loop_, {}, [](const std::string&) {});
    tracing.OnPaths({path});
    std::vector<std::string> said;
    bool over = false;
    tracing.Ask(path.key.peer, path.key.traffic_class, [&said, &over](const News& news) {
      if (const auto* hop = std::get_if<Hop>(&news)) {
        said.push_back((hop->address.empty() ? "*" : hop->address) + hop->refusal);
        EXPECT_GT(hop->rtt.value_or(1ns), 0ns);
      }
      if (const auto* ended = std::get_if<Ended>(&news)) {
        said.push_back(ended->ending ? std::string(Name(*ended->ending)) : ended->error);
        over = true;
      }
    });
    loop_.restart();
    while (!over && loop_.run_one_for(10s) == 1) continue;
    tracing.Stop();
    loop_.run_for(10s);
    return said;
  }

  static Namespace* router;
  static Namespace* far_end;
  boost::asio::io_context loop_;
};
Namespace* TracingTest::router = nullptr;
Namespace* TracingTest::far_end = nullptr;

TEST_F(TracingTest, NamesTheRouterAndThePeerBehindIt) {
  EXPECT_THAT(Traced(PathTo("far", "10.77.0.1", "10.78.0.2")),
              ElementsAre("10.77.0.254", "10.78.0.2", "peer"));
}

TEST_F(TracingTest, OverIpv6Too) {
  EXPECT_THAT(Traced(PathTo("far", "fd77::1", "fd78::2")),
              ElementsAre("fd77::254", "fd78::2", "peer"));
}

TEST_F(TracingTest, ANeighbourIsTheOnlyHop) {
  EXPECT_THAT(Traced(PathTo("router", "10.77.0.1", "10.77.0.254")),
              ElementsAre("10.77.0.254", "peer"));
}

TEST_F(TracingTest, APeerThatSaysNothingEndsItByItsSilence) {
  far_end->Do("ip address del 10.78.0.2/24 dev w1 && ip address add 10.78.0.3/24 dev w1");
  router->Do("ip neigh replace 10.78.0.2 lladdr 02:00:00:00:00:01 dev w0");
  EXPECT_THAT(Traced(PathTo("far", "10.77.0.1", "10.78.0.2")),
              ElementsAre("10.77.0.254", "*", "*", "*", "*", "silent"));
  router->Do("ip neigh del 10.78.0.2 dev w0");
  far_end->Do("ip address del 10.78.0.3/24 dev w1 && ip address add 10.78.0.2/24 dev w1");
  far_end->Do("ip route replace 10.77.0.0/24 via 10.78.0.254");
}

TEST_F(TracingTest, ARouterWithoutARouteSaysSo) {
  Namespace::Shell("ip route add 10.79.0.0/24 via 10.77.0.254");
  EXPECT_THAT(Traced(PathTo("far", "10.77.0.1", "10.79.0.2")),
              ElementsAre("10.77.0.254no route to the network", "refused"));
}

TEST_F(TracingTest, AnAddressThatIsNoLongerHereIsASentence) {
  EXPECT_THAT(Traced(PathTo("far", "10.77.0.9", "10.78.0.2")),
              ElementsAre("tracing a path from 10.77.0.9: no interface has this address any more"));
}

TEST_F(TracingTest, WithoutTheCapabilityItSaysWhatToDo) {
  // Of this thread alone: in the others nothing is done.
  ASSERT_EQ(seteuid(65534), 0);
  const std::vector<std::string> said = Traced(PathTo("far", "10.77.0.1", "10.78.0.2"));
  ASSERT_EQ(seteuid(0), 0);
  ASSERT_EQ(said.size(), 1U);
  EXPECT_THAT(said[0],
              HasSubstr("opening a raw socket to trace paths: Operation not permitted; give "
                        "rdmapulsed the capability CAP_NET_RAW"));
}

}  // namespace
}  // namespace rdmapulse::path_trace
