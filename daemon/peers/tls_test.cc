// Control planes that show each other certificates, and callers without good ones.
#include "daemon/peers/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "daemon/peers/control_plane.h"
#include "daemon/peers/test_support.h"
#include "tests/fakes/certificates.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::peers {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TlsTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const auto& [name, node] : nodes_) node->plane.Stop();
    if (io_.stopped()) io_.restart();
    io_.run();
  }

  TlsFiles Files(const std::string& of) const {
    const std::string folder = folder_.Root() + "/" + of;
    return {folder + "/cert", folder + "/key", folder + "/ca"};
  }
  void Write(const std::string& of, const fakes::Certificate& certificate,
             const std::string& ca) const {
    std::filesystem::create_directories(folder_.Root() + "/" + of);
    const TlsFiles files = Files(of);
    std::ofstream(files.cert) << certificate.cert;
    std::ofstream(files.key) << certificate.key;
    std::ofstream(files.ca) << ca;
  }
  void Write(const std::string& of, const std::vector<std::string>& names) const {
    Write(of, ca_.Issue(names, "common"), ca_.Pem());
  }

  // A host with its files, listening on 127.0.0.1.
  Node& Start(const std::string& host, std::uint64_t instance, bool tls = true) {
    Options options = PatientOptions("127.0.0.1:0", host, instance);
    if (tls) options.tls = Files(host);
    return *(nodes_[host] = std::make_unique<Node>(io_, options));
  }
  void Introduce(const std::string& caller, const std::string& called) {
    nodes_[caller]->plane.SetPeers({{called, nodes_[called]->Address("127.0.0.1"), {}}});
  }
  // Each has the other among its peers.
  void Meet() {
    Introduce("h1", "h2");
    Introduce("h2", "h1");
  }
  bool BothUp() {
    return RunUntil(io_, [this] { return nodes_["h1"]->Up("h2") && nodes_["h2"]->Up("h1"); });
  }
  // What h1 says of h2, once it says it.
  bool Says(const std::string& host, const std::string& peer, const std::string& text) {
    return RunUntil(io_, [this, &host, &peer, &text] {
      return nodes_[host]->Status(peer).problem.find(text) != std::string::npos;
    });
  }

  boost::asio::io_context io_{1};
  fakes::Tree folder_{"nothing = 1\n"};
  fakes::CertificateAuthority ca_{"the fabric's CA"};
  std::map<std::string, std::unique_ptr<Node>> nodes_;
};

TEST_F(TlsTest, TwoHostsOfOneCaMeet) {
  Write("h1", {"h1", "h1.example.com"});
  Write("h2", {"H2"});
  Start("h1", 1);
  Start("h2", 2);
  Meet();
  EXPECT_TRUE(BothUp()) << nodes_["h1"]->Status("h2").problem;
  EXPECT_EQ(nodes_["h2"]->plane.inbound().unknown, 0U);
}

TEST_F(TlsTest, ACommonNameDoesWhereThereIsNoOther) {
  Write("h1", ca_.Issue({}, "h1"), ca_.Pem());
  Write("h2", ca_.Issue({}, "h2"), ca_.Pem());
  Start("h1", 1);
  Start("h2", 2);
  Meet();
  EXPECT_TRUE(BothUp()) << nodes_["h1"]->Status("h2").problem;
}

// Its address is not the configured one, as behind a translator of addresses.
TEST_F(TlsTest, ACallerIsWhoItsCertificateSays) {
  Write("h1", {"h1"});
  Write("h2", {"h2"});
  Start("h1", 1);
  Start("h2", 2);
  nodes_["h2"]->plane.SetPeers({{"h1", "127.0.0.99:1", {}}});
  Introduce("h1", "h2");
  EXPECT_TRUE(RunUntil(io_, [this] { return nodes_["h2"]->prober.Saw("h1 up"); }));
}

TEST_F(TlsTest, AnotherCasCertificateIsRefusedAtBothEnds) {
  const fakes::CertificateAuthority other("somebody else's CA");
  Write("h1", {"h1"});
  Write("h2", other.Issue({"h2"}, ""), other.Pem());
  Start("h1", 1);
  Start("h2", 2);
  Meet();
  EXPECT_TRUE(Says("h1", "h2", "its certificate is not accepted: "));
  EXPECT_TRUE(Says("h2", "h1", "its certificate is not accepted: "));
  EXPECT_THAT(nodes_["h1"]->prober.events, IsEmpty());
  EXPECT_THAT(nodes_["h2"]->prober.events, IsEmpty());
}

TEST_F(TlsTest, WhoIsTurnedAwayLearnsWhy) {
  const fakes::CertificateAuthority other("somebody else's CA");
  Write("h1", other.Issue({"h1"}, ""), ca_.Pem());  // it believes h2, which does not believe it
  Write("h2", {"h2"});
  Start("h1", 1);
  Start("h2", 2);
  Introduce("h1", "h2");
  EXPECT_TRUE(Says("h1", "h2", "it does not accept our certificate"))
      << nodes_["h1"]->Status("h2").problem;
}

TEST_F(TlsTest, AnExpiredCertificateIsRefused) {
  Write("h1", {"h1"});
  Write("h2", ca_.Issue({"h2"}, "", std::chrono::seconds(-60)), ca_.Pem());
  Start("h1", 1);
  Start("h2", 2);
  Introduce("h1", "h2");
  EXPECT_TRUE(Says("h1", "h2", "certificate has expired"));
}

TEST_F(TlsTest, AHostWithAnothersCertificateHearsNothing) {
  Write("h1", {"h1"});
  Write("h2", {"h3"});
  Start("h1", 1);
  Start("h2", 2);
  Introduce("h1", "h2");
  EXPECT_TRUE(Says("h1", "h2", "its certificate is of h3 and not of h2"));
  EXPECT_TRUE(RunUntil(io_, [this] { return nodes_["h2"]->plane.inbound().refused > 0; }));
  EXPECT_THAT(nodes_["h2"]->prober.events, IsEmpty());
}

TEST_F(TlsTest, ACallerThatIsNoPeerIsToldSo) {
  Write("h1", {"h1"});
  Write("h2", {"h2"});
  Start("h1", 1);
  Start("h2", 2);
  Introduce("h1", "h2");  // h2 does not know h1
  EXPECT_TRUE(Says("h1", "h2", "it refused us: its certificate is of h1, which is none of our"));
}

TEST_F(TlsTest, OneEndInClearIsToldAtBothEnds) {
  Write("h1", {"h1"});
  Start("h1", 1);
  Start("h2", 2, /*tls=*/false);
  Introduce("h1", "h2");
  EXPECT_TRUE(Says("h1", "h2", "TLS"));
  Introduce("h2", "h1");
  EXPECT_TRUE(Says("h2", "h1", "a TLS record, and we speak none"));
  EXPECT_TRUE(Says("h1", "h2", "it does not speak TLS"));
}

// Neither a byte nor a whole handshake comes of it.
TEST_F(TlsTest, GarbageAndSilenceAreClosed) {
  Write("h1", {"h1"});
  Options options = QuickOptions("127.0.0.1:0", "h1", 1);
  options.tls = Files("h1");
  Node& h1 = *(nodes_["h1"] = std::make_unique<Node>(io_, options));
  RawPeer garbage(io_, "127.0.0.66");
  RawPeer silence(io_, "127.0.0.66");
  ASSERT_TRUE(garbage.Connect("127.0.0.1", h1.plane.listen_port()));
  ASSERT_TRUE(silence.Connect("127.0.0.1", h1.plane.listen_port()));
  garbage.Send(std::string(4096, 'x'));
  EXPECT_TRUE(RunUntil(io_, [&h1] { return h1.plane.inbound().refused == 2; }));
}

TEST_F(TlsTest, AFloodOfStrangersIsCutOff) {
  Write("h1", {"h1"});
  Options options = PatientOptions("127.0.0.1:0", "h1", 1);
  options.tls = Files("h1");
  options.limits.strangers_per_second = 0.001;
  options.limits.stranger_burst = 3;
  Node& h1 = *(nodes_["h1"] = std::make_unique<Node>(io_, options));
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (int i = 0; i < 10; ++i) {
    flood.push_back(std::make_unique<RawPeer>(io_, "127.0.0.66"));
    ASSERT_TRUE(flood.back()->Connect("127.0.0.1", h1.plane.listen_port()));
  }
  EXPECT_TRUE(RunUntil(io_, [&h1] { return h1.plane.inbound().accepted == 10; }));
  EXPECT_EQ(h1.plane.inbound().unknown, 7U);
}

TEST_F(TlsTest, FilesThatCannotBeUsedAreNamedAtTheStart) {
  const auto start = [this](const TlsFiles& files) {
    Options options = QuickOptions("127.0.0.1:0", "h1", 1);
    options.tls = files;
    FakeProber prober;
    ControlPlane plane(io_, options, prober);
    const auto listening = plane.Listen();
    return listening ? std::string() : listening.error().Text();
  };
  Write("h1", {"h1"});
  Write("h2", {"h2"});
  const TlsFiles good = Files("h1");
  EXPECT_EQ(start(good), "");
  EXPECT_THAT(start({good.cert, "/nowhere/key", good.ca}),
              HasSubstr("reading control.tls.key /nowhere/key: "));
  EXPECT_THAT(start({good.ca, good.key, good.ca}), HasSubstr("control.tls.key"));  // of another
  const std::string rsa = folder_.Root() + "/rsa";
  std::ofstream(rsa) << fakes::RsaKey();
  EXPECT_THAT(start({good.cert, rsa, good.ca}), HasSubstr("it is not the key of " + good.cert));
  const std::string fifo = folder_.Root() + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(start({good.cert, good.key, fifo}), HasSubstr("it is no file"));
  EXPECT_THAT(start({good.key, good.key, good.ca}),
              HasSubstr("reading control.tls.cert " + good.key));
  EXPECT_THAT(start({good.cert, good.key, good.key}),
              HasSubstr("reading control.tls.ca " + good.key));
}

TEST_F(TlsTest, ChangedFilesAreReadAnewAndBadOnesLeaveTheOld) {
  Write("h1", {"h1"});
  Credentials credentials(Files("h1"));
  ASSERT_TRUE(credentials.Load().has_value());
  const TimePoint start = Clock::now();
  const auto first = credentials.Current(start);
  EXPECT_EQ(credentials.Current(start + std::chrono::minutes(1)), first);
  const auto ends = credentials.expires();

  Write("h1", ca_.Issue({"h1"}, "", std::chrono::hours(24 * 60)), ca_.Pem());
  EXPECT_EQ(credentials.Current(start + std::chrono::seconds(65)), first) << "not looked at yet";
  const auto second = credentials.Current(start + std::chrono::minutes(2));
  EXPECT_NE(second, first);
  EXPECT_GT(credentials.expires(), ends + std::chrono::hours(24 * 29));

  std::ofstream(Files("h1").cert) << "half of a fi";
  EXPECT_EQ(credentials.Current(start + std::chrono::minutes(3)), second);
  // That a peer would refuse it is as bad.
  Write("h1", ca_.Issue({"h1"}, "", std::chrono::seconds(-60)), ca_.Pem());
  EXPECT_EQ(credentials.Current(start + std::chrono::minutes(4)), second);
  Write("h1", {"h1"});
  EXPECT_NE(credentials.Current(start + std::chrono::minutes(5)), second);
}

TEST_F(TlsTest, FilesThatCannotBeReadForAWhileAreTriedAgain) {
  Write("h1", {"h1"});
  Credentials credentials(Files("h1"));
  ASSERT_TRUE(credentials.Load().has_value());
  const TimePoint start = Clock::now();
  const auto first = credentials.Current(start);
  Write("h1", {"h1"});
  const std::string key = Files("h1").key;
  std::filesystem::rename(key, key + ".away");
  EXPECT_EQ(credentials.Current(start + std::chrono::minutes(1)), first);
  std::filesystem::rename(key + ".away", key);
  EXPECT_NE(credentials.Current(start + std::chrono::minutes(2)), first);
}

// A handshake with the largest group costs a hundred times what ours do.
TEST_F(TlsTest, CostlyGroupsAreNotSpoken) {
  Write("h1", {"h1"});
  Write("h2", {"h2"});
  Node& h1 = Start("h1", 1);
  const TlsFiles files = Files("h2");
  for (const auto& [groups, good] :
       {std::pair{"ffdhe8192:ffdhe2048:P-521", false}, std::pair{"ffdhe8192:P-256", true}}) {
    namespace ssl = boost::asio::ssl;
    ssl::context context(ssl::context::tlsv13_client);
    context.use_certificate_chain_file(files.cert);
    context.use_private_key_file(files.key, ssl::context::pem);
    ASSERT_EQ(SSL_CTX_set1_groups_list(context.native_handle(), groups), 1);
    ssl::stream<boost::asio::ip::tcp::socket> stream(io_, context);
    stream.next_layer().connect(
        {boost::asio::ip::make_address("127.0.0.1"), h1.plane.listen_port()});
    std::optional<boost::system::error_code> shaken;
    stream.async_handshake(ssl::stream_base::client,
                           [&shaken](const boost::system::error_code& error) { shaken = error; });
    ASSERT_TRUE(RunUntil(io_, [&shaken] { return shaken.has_value(); }));
    EXPECT_EQ(!*shaken, good) << groups << ": " << shaken->message();
  }
}

TEST_F(TlsTest, StrangersLeaveRoomForPeers) {
  Write("h1", {"h1"});
  Write("h2", {"h2"});
  Start("h1", 1);
  Start("h2", 2);
  std::vector<std::unique_ptr<RawPeer>> flood;
  for (int i = 0; i < 80; ++i) {
    flood.push_back(std::make_unique<RawPeer>(io_, "127.0.0.66"));
    ASSERT_TRUE(flood.back()->Connect("127.0.0.1", nodes_["h1"]->plane.listen_port()));
  }
  EXPECT_TRUE(RunUntil(io_, [this] { return nodes_["h1"]->plane.inbound().accepted == 80; }));
  EXPECT_EQ(nodes_["h1"]->plane.inbound().full, 0U);
  nodes_["h1"]->plane.SetPeers({{"h2", "127.0.0.1:1", {}}});  // which h1 cannot dial
  Introduce("h2", "h1");
  EXPECT_TRUE(RunUntil(io_, [this] { return nodes_["h2"]->Up("h1"); }));
}

// The common name counts only where there is no DNS name at all.
TEST_F(TlsTest, AnOddNameDoesNotMakeTheCommonNameCount) {
  Write("h1", {"h1"});
  Write("h2", ca_.Issue({"h2 or so"}, "h2"), ca_.Pem());
  Start("h1", 1);
  Start("h2", 2);
  Introduce("h1", "h2");
  EXPECT_TRUE(Says("h1", "h2", "its certificate is of nobody and not of h2"));
}

}  // namespace
}  // namespace rdmapulse::peers
