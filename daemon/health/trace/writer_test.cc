#include "daemon/health/trace/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace rdmapulse::health::trace {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::optional<HostRow> ReadBack(const HostRow& row) {
  std::string text = HostHeader();
  Append(row, text);
  auto rows = HostRows::Open(LinesOf("hosts.csv", text));
  if (!rows || !rows->ignored().empty()) return std::nullopt;
  const auto read = rows->Next();
  return read ? *read : std::nullopt;
}

std::optional<ProbeRow> ReadBack(const ProbeRow& row) {
  std::string text = ProbeHeader();
  Append(row, text);
  auto rows = ProbeRows::Open(LinesOf("probes.csv", text));
  if (!rows || !rows->ignored().empty()) return std::nullopt;
  const auto read = rows->Next();
  return read ? *read : std::nullopt;
}

HostRow FullRow() {
  HostRow row{.host = "h1", .port = {.time = 1'700'000'000'123'456us}, .self = {}};
  row.port.port = {"mlx5_0", 2};
  row.port.priority = 5;
  row.port.up = true;
  row.port.rate_bytes_per_second = 12.5e9;
  row.port.mtu_bytes = 4096;
  row.port.device_present = false;
  row.port.config_findings = {{"mtu", "pfc_mask"}};
  row.self = {.time = row.port.time, .epoch = 7, .loop_late = 51ms, .maintenance = true};
  std::uint64_t value = std::numeric_limits<std::uint64_t>::max() - 1;
  for (const SignalInfo& info : Signals()) row.port.counters.Set(info.signal, value--);
  return row;
}

TEST(WriterTest, EveryCellOfAHostRowIsReadBack) {
  const HostRow row = FullRow();
  const auto read = ReadBack(row);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->host, row.host);
  EXPECT_EQ(read->port.time, row.port.time);
  EXPECT_EQ(read->port.port, row.port.port);
  EXPECT_EQ(read->port.priority, row.port.priority);
  EXPECT_EQ(read->port.up, row.port.up);
  EXPECT_EQ(read->port.rate_bytes_per_second, row.port.rate_bytes_per_second);
  EXPECT_EQ(read->port.mtu_bytes, row.port.mtu_bytes);
  EXPECT_EQ(read->port.device_present, row.port.device_present);
  EXPECT_EQ(read->port.config_findings, row.port.config_findings);
  EXPECT_EQ(read->self.epoch, row.self.epoch);
  EXPECT_EQ(read->self.loop_late, row.self.loop_late);
  EXPECT_EQ(read->self.maintenance, row.self.maintenance);
  for (const SignalInfo& info : Signals()) {
    ASSERT_TRUE(read->port.counters.Has(info.signal)) << info.name;
    EXPECT_EQ(read->port.counters.Get(info.signal), row.port.counters.Get(info.signal))
        << info.name;
  }
}

TEST(WriterTest, WhatIsAbsentStaysAbsentAndIsNotZero) {
  const auto read = ReadBack(HostRow{.host = "h1", .port = {.time = 1us}, .self = {}});
  ASSERT_TRUE(read);
  EXPECT_EQ(read->port.port, PortName{});
  EXPECT_EQ(read->port.priority, kLosslessPriority);
  EXPECT_FALSE(read->port.up || read->port.rate_bytes_per_second || read->port.mtu_bytes ||
               read->port.device_present || read->self.epoch || read->self.loop_late ||
               read->self.maintenance);
  for (const SignalInfo& info : Signals()) EXPECT_FALSE(read->port.counters.Has(info.signal));
}

TEST(WriterTest, EveryCellOfAProbeIsReadBack) {
  for (const ProbeOutcome outcome :
       {ProbeOutcome::kOk, ProbeOutcome::kLateBlocked, ProbeOutcome::kLateRetx,
        ProbeOutcome::kLateSelf, ProbeOutcome::kFailed, ProbeOutcome::kAborted}) {
    ProbeRow row{.src = "h1", .path = {"h2", ProbeClass::kControl, "echo", 50'000, {"mlx5_0", 1}}};
    row.posted = 5s;
    row.result.rtt_us = 12.75;
    row.result.outcome = outcome;
    row.result.status = "transport retry exceeded";
    row.result.responder_us = 3.5;
    row.session_up = false;
    row.peer_epoch = 9;
    const auto read = ReadBack(row);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->src, row.src);
    EXPECT_EQ(read->path, row.path);
    EXPECT_EQ(read->posted, row.posted);
    EXPECT_FALSE(read->outstanding);
    EXPECT_EQ(read->result.rtt_us, row.result.rtt_us);
    EXPECT_EQ(read->result.outcome, outcome);
    EXPECT_EQ(read->result.status, row.result.status);
    EXPECT_EQ(read->result.responder_us, row.result.responder_us);
    EXPECT_EQ(read->session_up, row.session_up);
    EXPECT_EQ(read->peer_epoch, row.peer_epoch);
  }
}

TEST(WriterTest, AProbeThatNeverCameBackIsOutstanding) {
  ProbeRow row{.src = "h1", .path = {"h2", ProbeClass::kLossless, "write0", {}, {}}};
  row.posted = 5s;
  row.outstanding = true;
  const auto read = ReadBack(row);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->outstanding);
  EXPECT_EQ(read->path, row.path);
}

TEST(WriterTest, AFailureWithoutARoundTripIsLearnedOfWhenItWas) {
  ProbeRow row{.src = "h1", .path = {"h2", ProbeClass::kLossless, "write0", {}, {}}};
  row.posted = row.result.posted = 5s;
  row.result.time = 9s;
  row.result.outcome = ProbeOutcome::kFailed;
  const auto read = ReadBack(row);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->result.time, 9s);
}

TEST(WriterTest, NoNameBreaksARow) {
  HostRow host{.host = "a,b\n\"c d", .port = {.time = 1us}, .self = {}};
  host.port.port.device = "x,y";
  const auto read = ReadBack(host);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->host, "a_b__c_d");
  EXPECT_EQ(read->port.port.device, "x_y");
}

}  // namespace
}  // namespace rdmapulse::health::trace
