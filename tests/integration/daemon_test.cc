// The built daemon as an operator meets it, on loopback and without RDMA hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "daemon/discovery/test_servers.h"
#include "tests/fakes/certificates.h"
#include "tests/integration/process.h"
#include "tests/integration/scrape.h"

namespace rdmapulse::tests {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

// One daemon's files and ports, on an address of its own.
class Host {
 public:
  Host(const fs::path& folder, std::string own_address)
      : address(std::move(own_address)), folder_(folder / address) {
    fs::create_directories(folder_);
    http = FreePort(address);
    control = FreePort(address);
    Write("");
  }

  // The configuration that every case needs, and what this one adds.
  void Write(const std::string& more) const {
    std::ofstream(Config()) << "host: {name: '" << address << "'}\nhttp: {listen: '" << address
                            << ":" << http << "', socket: '" << (folder_ / "s").string()
                            << "'}\ncontrol: {listen: '" << address << ":" << control << "'" << tls_
                            << "}\n"
                            << more;
  }
  // The next Write() has sessions under TLS, with this certificate.
  void Certify(const fakes::CertificateAuthority& ca, const std::vector<std::string>& names) {
    const fakes::Certificate certificate = ca.Issue(names, "");
    std::ofstream(folder_ / "cert") << certificate.cert;
    std::ofstream(folder_ / "key") << certificate.key;
    std::ofstream(folder_ / "ca") << ca.Pem();
    const std::string folder = folder_.string();
    tls_ =
        ", tls: {cert: '" + folder + "/cert', key: '" + folder + "/key', ca: '" + folder + "/ca'}";
  }
  std::string Config() const { return folder_ / "c.yaml"; }
  std::string Metrics() const { return Get(address, http, "/metrics"); }
  std::string PeerLine(const Host& peer) const {
    return "  - {name: '" + peer.address + "', address: '" + peer.address + ":" +
           std::to_string(peer.control) + "'}\n";
  }
  std::unique_ptr<Process> Start() const {
    return std::make_unique<Process>(
        std::vector<std::string>{"daemon/rdmapulsed", "--config", Config()});
  }

  const std::string address;
  std::uint16_t http = 0;
  std::uint16_t control = 0;

 private:
  fs::path folder_;
  std::string tls_;
};

class DaemonTest : public ::testing::Test {
 protected:
  DaemonTest() {
    // Short, since a Unix socket's path has 107 bytes at most.
    std::string name = "/tmp/rdmapulse-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~DaemonTest() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(DaemonTest, AHostWithoutRdmaIsAStateThatItReports) {
  const Host host(folder_, "127.0.0.1");
  const auto daemon = host.Start();
  ASSERT_TRUE(daemon->WaitFor("started on 127.0.0.1")) << daemon->output();
  ASSERT_TRUE(daemon->WaitFor("no RDMA device here")) << daemon->output();
  EXPECT_TRUE(Eventually([&host] {
    return host.Metrics().find("\nrdmapulse_rdma_devices 0\n") != std::string::npos;
  }));
  EXPECT_THAT(Get(host.address, host.http, "/healthz"), HasSubstr("200"));
  EXPECT_THAT(Get(host.address, host.http, "/readyz"), HasSubstr("200"));
  EXPECT_THAT(Get(host.address, host.http, "/api/v1/findings/trace?id=x"),
              HasSubstr("there is no finding of this id now"))
      << "for which its loop was asked";
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
  const std::string& said = daemon->output();
  EXPECT_EQ(said.find("no RDMA device"), said.rfind("no RDMA device")) << "once";
}

TEST_F(DaemonTest, CheckPrintsEveryProblemWithItsPlaceAndExitsWith2) {
  const Host host(folder_, "127.0.0.1");
  host.Write("classes: {lossless: {dscp: 70, timout: 17}}\n");
  Process check({"daemon/rdmapulsed", "--check", "--config", host.Config()});
  EXPECT_EQ(check.Wait(), 2);
  EXPECT_THAT(check.output(), HasSubstr("c.yaml:4:"));
  EXPECT_THAT(check.output(), HasSubstr("classes.lossless.dscp"));
  EXPECT_THAT(check.output(), HasSubstr("timeout"));
  EXPECT_EQ(host.Start()->Wait(), 2) << "nor does it start";
}

TEST_F(DaemonTest, CheckOfAGoodFileExitsWith0) {
  const Host host(folder_, "127.0.0.1");
  Process check({"daemon/rdmapulsed", "--check", "--config", host.Config()});
  EXPECT_EQ(check.Wait(), 0);
}

TEST_F(DaemonTest, AMissingFileOrAnUnknownOptionIsASentenceAnd2) {
  Process missing({"daemon/rdmapulsed", "--config", (folder_ / "none.yaml").string()});
  EXPECT_EQ(missing.Wait(), 2);
  EXPECT_THAT(missing.output(), HasSubstr("none.yaml: No such file"));
  Process unknown({"daemon/rdmapulsed", "--frobnicate"});
  EXPECT_EQ(unknown.Wait(), 2);
}

TEST_F(DaemonTest, APortInUseIsOneSentenceAnd1) {
  Host host(folder_, "127.0.0.1");
  const BoundPort taken = Bind("127.0.0.1");
  for (std::uint16_t* port : {&host.http, &host.control}) {
    const std::uint16_t before = std::exchange(*port, taken.port);
    host.Write("");
    const auto daemon = host.Start();
    EXPECT_EQ(daemon->Wait(), 1);
    EXPECT_THAT(daemon->output(), HasSubstr("Address already in use"));
    EXPECT_THAT(daemon->output(), HasSubstr(std::to_string(taken.port)));
    *port = before;
  }
}

TEST_F(DaemonTest, ABadFileIsRefusedOnReloadAndTheOldOneStays) {
  const Host host(folder_, "127.0.0.1");
  const Host other(folder_, "127.0.0.2");
  host.Write("peers:\n" + host.PeerLine(other));
  const auto daemon = host.Start();
  ASSERT_TRUE(daemon->WaitFor("started on")) << daemon->output();
  host.Write("peers: [{nam: x}]\n");
  daemon->Signal(SIGHUP);
  ASSERT_TRUE(daemon->WaitFor("reload refused, the old configuration stays")) << daemon->output();
  EXPECT_THAT(host.Metrics(), HasSubstr("rdmapulse_peer_up{peer=\"127.0.0.2\"} 0"));
  host.Write("");
  daemon->Signal(SIGHUP);
  ASSERT_TRUE(daemon->WaitFor("reloaded: 0 peers, 0 added, 1 removed")) << daemon->output();
  EXPECT_TRUE(Eventually([&host] {
    return host.Metrics().find("rdmapulse_peer_up{peer=\"127.0.0.2\"}") == std::string::npos;
  }));
}

bool Sees(const Host& host, const Host& peer, bool up) {
  const std::string line =
      "rdmapulse_peer_up{peer=\"" + peer.address + "\"} " + (up ? "1" : "0") + "\n";
  return host.Metrics().find(line) != std::string::npos;
}

TEST_F(DaemonTest, UnderTlsWhoHasNoGoodCertificateIsNoPeer) {
  const fakes::CertificateAuthority ca("the fabric's CA");
  Host one(folder_, "127.0.0.1");
  Host two(folder_, "127.0.0.2");
  one.Certify(ca, {one.address});
  two.Certify(ca, {two.address});
  one.Write("peers:\n" + one.PeerLine(two));
  two.Write("peers:\n" + two.PeerLine(one));
  const auto first = one.Start();
  auto second = two.Start();
  ASSERT_TRUE(Eventually([&] { return Sees(one, two, true) && Sees(two, one, true); }))
      << first->output() << second->output();
  EXPECT_THAT(one.Metrics(),
              HasSubstr("\nrdmapulse_control_certificate_expiry_timestamp_seconds "));

  second->Signal(SIGTERM);
  second->Wait();
  two.Certify(fakes::CertificateAuthority("somebody else's CA"), {two.address});
  second = two.Start();
  ASSERT_TRUE(first->WaitFor("its certificate is not accepted")) << first->output();
  EXPECT_TRUE(Eventually([&] { return Sees(one, two, false); }));
}

TEST_F(DaemonTest, ACertificateThatCannotBeReadIsOneSentenceAnd1) {
  Host host(folder_, "127.0.0.1");
  host.Certify(fakes::CertificateAuthority("ca"), {host.address});
  host.Write("");
  fs::remove(folder_ / host.address / "key");
  const auto daemon = host.Start();
  EXPECT_EQ(daemon->Wait(), 1);
  EXPECT_THAT(daemon->output(), HasSubstr("reading control.tls.key "));
  EXPECT_THAT(daemon->output(), HasSubstr("No such file"));
  Process check({"daemon/rdmapulsed", "--check", "--config", host.Config()});
  EXPECT_EQ(check.Wait(), 2);
  EXPECT_THAT(check.output(), HasSubstr("c.yaml: reading control.tls.key "));
}

TEST_F(DaemonTest, TwoDaemonsSeeEachOtherDieAndComeBack) {
  const Host one(folder_, "127.0.0.1");
  const Host two(folder_, "127.0.0.2");
  one.Write("peers:\n" + one.PeerLine(two));
  two.Write("peers:\n" + two.PeerLine(one));
  const auto first = one.Start();
  auto second = two.Start();
  ASSERT_TRUE(Eventually([&] { return Sees(one, two, true) && Sees(two, one, true); }))
      << first->output() << second->output();
  EXPECT_THAT(one.Metrics(), HasSubstr("rdmapulse_peer_tcp_rtt_seconds_count"));
  second->Signal(SIGKILL);
  EXPECT_EQ(second->Wait(), -SIGKILL);
  EXPECT_TRUE(Eventually([&] { return Sees(one, two, false); })) << first->output();
  second = two.Start();
  EXPECT_TRUE(Eventually([&] { return Sees(one, two, true) && Sees(two, one, true); }))
      << first->output() << second->output();
}

bool Says(const Host& host, const std::string& line) {
  return host.Metrics().find("\n" + line) != std::string::npos;
}

// Both hosts use one list, as all hosts of a fabric do: each knows itself in it.
TEST_F(DaemonTest, PeersOfAChangedFileComeAndGoWithoutARestart) {
  const Host one(folder_, "127.0.0.1");
  const Host two(folder_, "127.0.0.2");
  const std::string list = folder_ / "peers.json";
  const auto write = [&list](const std::string& text) {
    std::ofstream(list + ".new") << text;
    fs::rename(list + ".new", list);
  };
  const auto target = [](const Host& host) {
    return "{\"targets\": [\"" + host.address + ":" + std::to_string(host.control) +
           "\"], \"labels\": {\"tor\": \"t7\"}}";
  };
  write("[" + target(one) + "]");
  for (const Host* host : {&one, &two}) {
    host->Write("discovery: {file: ['" + list + "'], refresh: 1s}\n");
  }
  const auto first = one.Start();
  const auto second = two.Start();
  ASSERT_TRUE(Eventually([&one] { return Says(one, "rdmapulse_known_peers 0\n"); }));
  write("[" + target(one) + "," + target(two) + "]");
  ASSERT_TRUE(Eventually([&one, &two] {
    return Says(one, "rdmapulse_peer_up{peer=\"127.0.0.2\"} 1") &&
           Says(two, "rdmapulse_peer_up{peer=\"127.0.0.1\"} 1");
  })) << first->output()
      << second->output();
  EXPECT_TRUE(Says(one, "rdmapulse_peer_info{peer=\"127.0.0.2\",tor=\"t7\"} 1\n"));
  EXPECT_TRUE(Says(one, "rdmapulse_selected_peers{reason=\"tor\"} 1\n")) << one.Metrics();
  // Neither a damaged file nor none ends what is there.
  const std::string success = "rdmapulse_discovery_success{kind=\"file\",source=\"" + list + "\"} ";
  write("[" + target(one) + ",");
  ASSERT_TRUE(Eventually([&] { return Says(one, success + "0\n"); })) << first->output();
  EXPECT_TRUE(first->WaitFor("is not used: it is not JSON"));
  fs::remove(list);
  ASSERT_TRUE(first->WaitFor("No such file")) << first->output();
  EXPECT_TRUE(Says(one, "rdmapulse_peer_up{peer=\"127.0.0.2\"} 1"));
  write("[" + target(one) + "]");
  EXPECT_TRUE(Eventually([&one] {
    return one.Metrics().find("rdmapulse_peer_up{peer=\"127.0.0.2\"}") == std::string::npos;
  })) << first->output();
  EXPECT_TRUE(Says(one, success + "1\n"));
}

TEST_F(DaemonTest, AnHttpSourceThatIsDownKeepsItsListAndShowsItsAge) {
  const Host host(folder_, "127.0.0.1");
  auto server = std::make_unique<discovery::TestHttp>();
  server->SayList(R"([{"targets": ["127.0.0.9:1"], "labels": {"name": "h9"}}])");
  const std::string url = server->Url("/rdma");
  host.Write("discovery: {http: ['" + url + "'], refresh: 1s}\n");
  const auto daemon = host.Start();
  const std::string labels = "{kind=\"http\",source=\"" + url + "\"}";
  ASSERT_TRUE(Eventually([&] {
    return Says(host, "rdmapulse_discovery_success" + labels + " 1\n") &&
           Says(host, "rdmapulse_peer_up{peer=\"h9\"} 0\n");
  })) << daemon->output();
  server.reset();
  ASSERT_TRUE(Eventually([&] {
    const std::string metrics = host.Metrics();
    const std::string name = "\nrdmapulse_discovery_age_seconds" + labels + " ";
    const std::size_t at = metrics.find(name);
    return metrics.find("rdmapulse_discovery_success" + labels + " 0\n") != std::string::npos &&
           at != std::string::npos && std::stod(metrics.substr(at + name.size())) > 3;
  })) << daemon->output();
  EXPECT_TRUE(Says(host, "rdmapulse_peer_up{peer=\"h9\"} 0\n"));
  EXPECT_THAT(host.Metrics(), HasSubstr("rdmapulse_discovery_peers" + labels + " 1\n"));
  // Another configuration: the source goes, and its peers with it.
  host.Write("selection: {sampled: 0}\n");
  daemon->Signal(SIGHUP);
  EXPECT_TRUE(Eventually([&host] {
    return Says(host, "rdmapulse_known_peers 0\n") &&
           host.Metrics().find("peer=\"h9\"") == std::string::npos;
  })) << daemon->output();
}

// Whoever opens a FIFO that nobody writes may wait for ever.
TEST_F(DaemonTest, AFifoInACountersPlaceHoldsUpNeitherScrapesNorTheEnd) {
  const Host host(folder_, "127.0.0.1");
  const fs::path port = folder_ / "sys/class/infiniband/fake_0/ports/1";
  fs::create_directories(port / "counters");
  std::ofstream(port / "state") << "4: ACTIVE\n";
  std::ofstream(port / "link_layer") << "Ethernet\n";
  std::ofstream(port / "counters/port_rcv_data") << "25\n";
  ASSERT_EQ(mkfifo((port / "counters/port_xmit_data").c_str(), 0600), 0);
  host.Write("sysfs_root: " + (folder_ / "sys").string() + "\n");
  const auto daemon = host.Start();
  ASSERT_TRUE(daemon->WaitFor("started on")) << daemon->output();
  EXPECT_TRUE(Eventually([&host] {
    return host.Metrics().find(
               "rdmapulse_port_receive_bytes_total{device=\"fake_0\",port=\"1\"} "
               "100\n") != std::string::npos;
  })) << host.Metrics();
  EXPECT_THAT(Get(host.address, host.http, "/healthz"), HasSubstr("200"));
  daemon->Signal(SIGTERM);
  EXPECT_EQ(daemon->Wait(), 0);
}

TEST_F(DaemonTest, AnUnwritableSocketDirectoryIsOneSentenceAnd1) {
  const Host host(folder_, "127.0.0.1");
  std::ofstream(host.Config()) << "http: {listen: '127.0.0.1:" << host.http
                               << "', socket: /nonexistent/s}\ncontrol: {listen: '127.0.0.1:"
                               << host.control << "'}\n";
  const auto daemon = host.Start();
  EXPECT_EQ(daemon->Wait(), 1);
  EXPECT_THAT(daemon->output(), HasSubstr("/nonexistent/s"));
}

}  // namespace
}  // namespace rdmapulse::tests
