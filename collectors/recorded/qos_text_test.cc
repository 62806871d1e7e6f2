#include "collectors/recorded/qos_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::collectors::recorded {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

struct Read {
  PortQos qos;
  QosText text;
  bool operator==(const Read&) const = default;
};

Read Dcb(DcbPart part, std::string_view text) {
  Read read;
  read.text = ParseDcb(part, text, read.qos);
  return read;
}

Read Mlnx(std::string_view text) {
  Read read;
  read.text = ParseMlnxQos(text, read.qos);
  return read;
}

constexpr std::string_view kPfc =
    "pfc-cap 8 macsec-bypass off delay 4096 \n"
    "prio-pfc 0:off 1:off 2:off 3:on 4:off 5:off 6:on 7:off \n"
    "requests 0:0 1:0 2:0 3:217 4:0 5:0 6:18446744073709551615 7:0 \n"
    "indications 0:0 1:0 2:0 3:179 4:0 5:0 6:0 7:0 \n";

TEST(DcbTest, ReadsPfcAsTextAndAsJson) {
  const Read read = Dcb(DcbPart::kPfc, kPfc);
  EXPECT_EQ(read.qos, (PortQos{.pfc_priorities = std::bitset<8>(0b01001000),
                               .pfc_capability = 8,
                               .pfc_delay = 4096}));
  ASSERT_THAT(read.text.statistics, SizeIs(16));
  EXPECT_EQ(read.text.statistics[3], (Value{"requests[3]", 217}));
  EXPECT_EQ(read.text.statistics[6], (Value{"requests[6]", 18446744073709551615U}));
  EXPECT_EQ(read.text.statistics[11], (Value{"indications[3]", 179}));
  EXPECT_EQ(Dcb(DcbPart::kPfc, R"({"pfc_cap":8,"macsec_bypass":false,"delay":4096,
      "prio_pfc":[false,false,false,true,false,false,true,false],
      "requests":[0,0,0,217,0,0,18446744073709551615,0],
      "indications":[0,0,0,179,0,0,0,0]})"),
            read);
  std::string windows(kPfc);
  for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2)
    windows.insert(at, "\r");
  EXPECT_EQ(Dcb(DcbPart::kPfc, windows), read);
}

TEST(DcbTest, ReadsDscpByNumberAndByName) {
  const Read read = Dcb(DcbPart::kApp,
                        "default-prio 0 \nethtype-prio 88b6:4 \n"
                        "dscp-prio AF31:3 0:0 cs6:6 EF:5 VA:5 63:7 CS1:1 CS1:2 \n"
                        "stream-port-prio 80:2 \n");
  EXPECT_EQ(read.text, QosText{});
  EXPECT_THAT(*read.qos.dscp_priority, ElementsAre(Pair(0, 0), Pair(8, 2), Pair(26, 3), Pair(44, 5),
                                                   Pair(46, 5), Pair(48, 6), Pair(63, 7)));
  EXPECT_EQ(Dcb(DcbPart::kApp, R"({"default_prio":[0],"dscp_prio":[["AF31",3],[0,0],["CS6",6],
      ["EF",5],["VA",5],[63,7],["CS1",1],["CS1",2]]})"),
            read);
}

TEST(DcbTest, AnEmptyTableIsEmptyAndNotUnknown) {
  EXPECT_EQ(Dcb(DcbPart::kApp, "").qos.dscp_priority->size(), 0U);
  EXPECT_EQ(Dcb(DcbPart::kApp, "{}").qos.dscp_priority->size(), 0U);
  EXPECT_EQ(Dcb(DcbPart::kPfc, ""), Read{});
  EXPECT_EQ(Dcb(DcbPart::kEts, "[]"), Read{});
}

TEST(DcbTest, ReadsEts) {
  const Read read = Dcb(DcbPart::kEts,
                        "willing off ets-cap 8 cbs off \n"
                        "tc-bw 0:50 1:0 2:0 3:50 4:0 5:0 6:0 7:0 \n"
                        "pg-bw 0:9 1:0 2:0 3:0 4:0 5:0 6:0 7:0 \n"
                        "tc-tsa 0:ets 1:strict 2:strict 3:ets 4:strict 5:cbs 6:strict 7:vendor \n"
                        "prio-tc 0:0 1:1 2:2 3:3 4:4 5:5 6:6 7:6 \n"
                        "reco-tc-bw 0:1 1:0 2:0 3:0 4:0 5:0 6:0 7:0 \n");
  using S = Selection;
  const PortQos expected{.priority_tc = {{0, 1, 2, 3, 4, 5, 6, 6}},
                         .tc_selection = {{S::kEnhanced, S::kStrict, S::kStrict, S::kEnhanced,
                                           S::kStrict, S::kCreditBased, S::kStrict, S::kVendor}},
                         .tc_bandwidth_percent = {{50, 0, 0, 50, 0, 0, 0, 0}}};
  EXPECT_EQ(read, (Read{expected, {}}));
  EXPECT_EQ(Dcb(DcbPart::kEts, R"({"willing":false,"ets_cap":8,"cbs":false,
      "tc_bw":[50,0,0,50,0,0,0,0],"pg_bw":[9,0,0,0,0,0,0,0],
      "tc_tsa":["ets","strict","strict","ets","strict","cbs","strict","vendor"],
      "prio_tc":[0,1,2,3,4,5,6,6],"reco_tc_bw":[1,0,0,0,0,0,0,0]})"),
            read);
}

TEST(DcbTest, WhatIsNotUnderstoodIsAProblem) {
  EXPECT_EQ(Dcb(DcbPart::kPfc, "prio-pfc 0:perhaps 8:on 7:on \n"),
            (Read{{.pfc_priorities = std::bitset<8>(0b10000000)},
                  {.problems = {{"prio-pfc", "not understood: '0:perhaps'"},
                                {"prio-pfc", "not understood: '8:on'"}}}}));
  EXPECT_EQ(Dcb(DcbPart::kApp, "dscp-prio 64:1 AF51:2 CS8:1 26:8 \n").text.problems.size(), 4U);
  EXPECT_EQ(Dcb(DcbPart::kEts, "tc-bw 0:101 \n").text.problems.size(), 1U);
  EXPECT_EQ(Dcb(DcbPart::kPfc, "requests 0:-1 1:1,000 \n").text.problems,
            (std::vector<Problem>{{"requests[0]", "negative: '-1'"},
                                  {"requests[1]", "not a number: '1,000'"}}));
  EXPECT_EQ(Dcb(DcbPart::kPfc, "prio-pfc 0:on 1:o"),
            (Read{{.pfc_priorities = std::bitset<8>(1)},
                  {.problems = {{"1:o", "the file ends within this word"}}}}));
  EXPECT_EQ(Dcb(DcbPart::kPfc, "Error: not supported\n").text.problems,
            (std::vector<Problem>{{"", "nothing that dcb prints"}}));
  EXPECT_EQ(Dcb(DcbPart::kPfc, "{\"prio_pfc\":[").text.problems,
            (std::vector<Problem>{{"", "not JSON: incomplete JSON near byte 13"}}));
  EXPECT_EQ(Dcb(DcbPart::kPfc, "[1,2]").text.problems,
            (std::vector<Problem>{{"", "not what dcb prints as JSON"}}));
  EXPECT_EQ(Dcb(DcbPart::kApp, std::string_view("dscp-prio\0 1:1\n", 15)),
            (Read{{}, {.problems = {{"", "not what dcb prints"}}}}));
}

constexpr std::string_view kMlnx =
    "DCBX mode: OS controlled\n"
    "Priority trust state: dscp\n"
    "dscp2prio mapping:\n"
    "\tprio:0 dscp:07,00,\n"
    "\tprio:3 dscp:26,\n"
    "\tprio:6 dscp:30,55,\n"
    "\tprio:6 dscp:48,\n"
    "Receive buffer size (bytes): 80256,80256,896,0,0,0,0,0,max_buffer_size=262016\n"
    "Cable len: 7\n"
    "PFC configuration:\n"
    "\tpriority    0   1   2   3   4   5   6   7\n"
    "\tenabled     0   0   0   1   0   0   0   0   \n"
    "\tbuffer      0   2   5   7   1   2   3   6   \n"
    "tc: 0 ratelimit: unlimited, tsa: vendor\n"
    "\t priority:  1\n"
    "tc: 1 ratelimit: unlimited, tsa: ets, bw: 40%\n"
    "\t priority:  0\n"
    "\t priority:  2\n"
    "tc: 2 ratelimit: 5 Gbps, tsa: strict\n"
    "\t up:  3\n"
    "\t\tskprio: 0\n";

TEST(MlnxQosTest, ReadsEveryPart) {
  PortQos expected{.pfc_priorities = std::bitset<8>(0b00001000), .trust = Trust::kDscp};
  expected.dscp_priority = {{7, 0}, {0, 0}, {26, 3}, {30, 6}, {55, 6}, {48, 6}};
  expected.priority_tc = {{1, 0, 1, 2, 0, 0, 0, 0}};
  expected.tc_selection = {{Selection::kVendor, Selection::kEnhanced, Selection::kStrict}};
  expected.tc_bandwidth_percent = {{0, 40, 0, 0, 0, 0, 0, 0}};
  expected.priority_buffer = {{0, 2, 5, 7, 1, 2, 3, 6}};
  expected.buffer_bytes = {80256, 80256, 896, 0, 0, 0, 0, 0};
  EXPECT_EQ(Mlnx(kMlnx), (Read{expected, {}}));
}

TEST(MlnxQosTest, WithTrustPcpThereIsNoDscpTable) {
  EXPECT_EQ(Mlnx("Priority trust state: pcp\n"), (Read{{.trust = Trust::kPcp}, {}}));
}

TEST(MlnxQosTest, WhatIsNotUnderstoodIsAProblem) {
  const auto problems = [](std::string_view text) { return Mlnx(text).text.problems; };
  EXPECT_THAT(problems("\tenabled 0 0 0 1 0 0 0\n"),
              ElementsAre(Problem{"enabled 0 0 0 1 0 0 0", "not understood"}));
  EXPECT_THAT(problems("Priority trust state: both\nPriority trust state: pcp\n"), SizeIs(1));
  EXPECT_THAT(problems("\tprio:8 dscp:1,\nPriority trust state: pcp\n"), SizeIs(1));
  EXPECT_THAT(problems("\tprio:1 dscp:64,\n"), SizeIs(1));
  EXPECT_THAT(problems("\t priority:  1\nPriority trust state: pcp\n"), SizeIs(1));
  EXPECT_THAT(problems("Priority trust state: pcp\n\tenabled 0 0 0 1 0 0 0 "),
              ElementsAre(Problem{"enabled 0 0 0 1 0 0 0", "the file ends within this line"}));
  EXPECT_THAT(problems("Interface does not exist\n"),
              ElementsAre(Problem{"", "nothing that mlnx_qos prints"}));
  EXPECT_THAT(problems(std::string_view("\0", 1)),
              ElementsAre(Problem{"", "not what mlnx_qos prints"}));
}

}  // namespace
}  // namespace rdmapulse::collectors::recorded
