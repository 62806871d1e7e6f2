#include "collectors/tcp_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectors/collectors.h"
#include "collectors/signals.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Linux 6.1; other protocols and most names of the second file left out.
constexpr char kSnmp[] =
    "Ip: Forwarding DefaultTTL InReceives\n"
    "Ip: 2 64 5120\n"
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets "
    "CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors\n"
    "Tcp: 1 200 120000 -1 5 6 1 2 4 4711 4700 17 3 9 1\n"
    "Udp: InDatagrams NoPorts\n"
    "Udp: 0 0\n";

constexpr char kNetstat[] =
    "TcpExt: SyncookiesSent TCPLossProbes TCPLossProbeRecovery TCPDSACKRecv\n"
    "TcpExt: 0 9 1 8\n"
    "IpExt: InNoRoutes\n"
    "IpExt: 0\n";

TEST(TcpStatisticsTest, CountersAreReadAndSettingsAreNot) {
  const auto values = ParseTcpStatistics(kSnmp, "Tcp");
  ASSERT_TRUE(values);
  EXPECT_THAT(*values, ElementsAre(Value{"Tcp/EstabResets", 2}, Value{"Tcp/InSegs", 4711},
                                   Value{"Tcp/OutSegs", 4700}, Value{"Tcp/RetransSegs", 17},
                                   Value{"Tcp/InErrs", 3}, Value{"Tcp/InCsumErrors", 1}));
}

TEST(TcpStatisticsTest, WhatDoesNotFitIsRefusedWithAReason) {
  EXPECT_EQ(ParseTcpStatistics("Udp: A\nUdp: 1\n", "Tcp").error().doing,
            "there are not two lines of Tcp in it");
  EXPECT_EQ(ParseTcpStatistics("Tcp: InSegs OutSegs\nTcp: 1\n", "Tcp").error().doing,
            "it has 2 names and 1 numbers for Tcp");
  EXPECT_FALSE(ParseTcpStatistics("Tcp: InSegs\nTcp: many\n", "Tcp"));
  EXPECT_FALSE(ParseTcpStatistics("", "Tcp"));
}

TEST(TcpStatisticsTest, WhatWasSentAgainWithoutNeedIsInAnotherFile) {
  const auto values = ParseTcpStatistics(kNetstat, "TcpExt");
  ASSERT_TRUE(values);
  EXPECT_THAT(*values,
              ElementsAre(Value{"TcpExt/TCPLossProbes", 9}, Value{"TcpExt/TCPDSACKRecv", 8}));
}

class TcpOfDeviceTest : public ::testing::Test {
 protected:
  Collection Collect(const std::string& driver, const std::string& snmp) {
    const fakes::Tree sysfs_tree("class/infiniband/siw0/node_type = 4: RNIC\n");
    const KernelFiles sysfs(sysfs_tree.Root());
    const fakes::Tree proc_tree(snmp);
    const KernelFiles procfs(proc_tree.Root());
    DeviceCollector::Options options;
    options.procfs = &procfs;
    return DeviceCollector(sysfs, {.name = "siw0", .driver = driver, .ports = {{.port = 1}}},
                           std::move(options))
        .Collect();
  }
};

TEST_F(TcpOfDeviceTest, AreTheSignalsOfSiwAlone) {
  const std::string files =
      "self/net/snmp <<\n|Tcp: OutSegs RetransSegs\n|Tcp: 4700 17\n"
      "self/net/netstat <<\n|TcpExt: TCPDSACKRecv" +
      std::string(5000, ' ') + "\n|TcpExt: 5\n";
  const Collection collection = Collect("siw", files);
  ASSERT_EQ(collection.readings.size(), 1U);
  std::vector<std::pair<std::string, std::uint64_t>> signals;
  for (const SignalValue& value : Signals(collection.readings[0], "siw")) {
    signals.emplace_back(value.signal, value.value);
  }
  EXPECT_THAT(signals, UnorderedElementsAre(std::pair("iwarp_retransmitted_segments", 17U),
                                            std::pair("iwarp_sent_segments", 4700U),
                                            std::pair("iwarp_needless_segments", 5U)));
  EXPECT_THAT(Collect("rxe", files).readings, IsEmpty());
}

TEST_F(TcpOfDeviceTest, AFileThatIsNotThereIsNoSample) {
  EXPECT_THAT(Collect("siw", "self/net/other = 1\n").readings, IsEmpty());
}

TEST_F(TcpOfDeviceTest, AFileThatSaysNothingIsAProblem) {
  const Collection collection = Collect("siw", "self/net/snmp = nothing\n");
  ASSERT_EQ(collection.readings.size(), 1U);
  EXPECT_THAT(collection.readings[0].values, IsEmpty());
  EXPECT_THAT(collection.readings[0].problems,
              ElementsAre(Problem{"self/net/snmp", "there are not two lines of Tcp in it"}));
}

}  // namespace
}  // namespace rdmapulse::collectors
