#include "config/reload.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rdmapulse::config {
namespace {

using std::chrono::milliseconds;

Peer MakePeer(const std::string& name, const std::string& address, const Labels& labels = {}) {
  return {.name = name, .address = address, .labels = labels};
}

// What one edit of the defaults changes.
template <typename Edit>
Changes ChangesOf(Edit edit) {
  const Config before;
  Config after;
  edit(after);
  EXPECT_NE(after, before) << "an edit that changes nothing proves nothing";
  return Diff(before, after);
}

Changes Only(bool Changes::*section) {
  Changes changes;
  changes.*section = true;
  return changes;
}

TEST(DiffTest, SameConfigurationChangesNothing) {
  Config config;
  config.peers = {MakePeer("a", "h1")};
  EXPECT_EQ(Diff(config, config), Changes{});
  EXPECT_FALSE(Diff(config, config).Any());
}

TEST(DiffTest, PeersAreToldApartByName) {
  Config before;
  before.peers = {MakePeer("gone", "h1"), MakePeer("moved", "h2"),
                  MakePeer("relabelled", "h3", {{"tor", "t1"}}), MakePeer("same", "h4")};
  Config after;
  after.peers = {MakePeer("new", "h1"), MakePeer("same", "h4"),
                 MakePeer("relabelled", "h3", {{"tor", "t2"}}), MakePeer("moved", "h2:1")};
  Changes expected;
  expected.peers_added = {"new"};
  expected.peers_removed = {"gone"};
  expected.peers_readdressed = {"moved"};
  expected.peers_relabelled = {"relabelled"};
  EXPECT_EQ(Diff(before, after), expected);
}

TEST(DiffTest, PeerMovedAndRelabelledIsBoth) {
  Config before;
  before.peers = {MakePeer("a", "h1")};
  Config after;
  after.peers = {MakePeer("a", "h2", {{"tor", "t1"}})};
  Changes expected;
  expected.peers_readdressed = {"a"};
  expected.peers_relabelled = {"a"};
  EXPECT_EQ(Diff(before, after), expected);
}

TEST(DiffTest, OrderAndSpellingOfPeersDoNotMatter) {
  Config before;
  before.peers = {MakePeer("a", "h1"), MakePeer("b", "::1")};
  Config after;
  after.peers = {MakePeer("b", "[0:0::1]:9937"), MakePeer("a", "H1.:9937")};
  EXPECT_FALSE(Diff(before, after).Any());
}

TEST(DiffTest, ScheduleOfAClassKeepsItsQps) {
  Changes expected;
  expected.lossless.schedule = true;
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.lossless.interval = milliseconds(1); }), expected);
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.lossless.deadline = milliseconds(1); }), expected);
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.lossless.ops = {"read"}; }), expected);
}

TEST(DiffTest, AttributesOfAClassRebuildItsQps) {
  Changes expected;
  expected.control.qp_attributes = true;
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.control.dscp = 1; }), expected);
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.control.timeout = 1; }), expected);
  EXPECT_EQ(ChangesOf([](Config& c) { c.classes.control.retry_cnt = 1; }), expected);
}

TEST(DiffTest, EachSectionIsItsOwnChange) {
  EXPECT_EQ(ChangesOf([](Config& c) { c.host.name = "x"; }), Only(&Changes::host));
  EXPECT_EQ(ChangesOf([](Config& c) { c.host.labels = {}; }), Only(&Changes::host));
  EXPECT_EQ(ChangesOf([](Config& c) { c.devices.exclude = {"x"}; }), Only(&Changes::devices));
  EXPECT_EQ(ChangesOf([](Config& c) { c.ports.ignore = {"x"}; }), Only(&Changes::devices));
  EXPECT_EQ(ChangesOf([](Config& c) { c.selection.rails = "full"; }), Only(&Changes::rails));
  EXPECT_EQ(ChangesOf([](Config& c) { c.discovery.dns = {"x"}; }), Only(&Changes::discovery));
  EXPECT_EQ(ChangesOf([](Config& c) { c.selection.sampled = 1; }), Only(&Changes::selection));
  EXPECT_EQ(ChangesOf([](Config& c) { c.gid.family = "ipv6"; }), Only(&Changes::gid));
  EXPECT_EQ(ChangesOf([](Config& c) { c.paths.source_ports = 1; }), Only(&Changes::paths));
  EXPECT_EQ(ChangesOf([](Config& c) { c.paths.rotate = milliseconds(0); }), Only(&Changes::paths));
  EXPECT_EQ(ChangesOf([](Config& c) { c.paths.connect = "rdma_cm"; }), Only(&Changes::connect));
  EXPECT_EQ(ChangesOf([](Config& c) { c.ud.source_ports = 1; }), Only(&Changes::ud));
  EXPECT_EQ(ChangesOf([](Config& c) { c.polling.looks = 1; }), Only(&Changes::polling));
  EXPECT_EQ(ChangesOf([](Config& c) { c.budget.qps_per_nic = 1; }), Only(&Changes::budget));
  EXPECT_EQ(ChangesOf([](Config& c) { c.collect.series_max = 1; }), Only(&Changes::collect));
  EXPECT_EQ(ChangesOf([](Config& c) { c.http.api_allow = {"::/0"}; }), Only(&Changes::api_allow));
  EXPECT_EQ(ChangesOf([](Config& c) { c.expect.ecn = false; }), Only(&Changes::expect));
  EXPECT_EQ(ChangesOf([](Config& c) { c.maintenance = true; }), Only(&Changes::maintenance));
}

TEST(DiffTest, WhatIsOpenedAtTheStartNeedsARestart) {
  const Changes changes = ChangesOf([](Config& c) {
    c.http.listen = "x";
    c.http.socket = "x";
    c.control.listen = "x";
    c.control.tls = {.cert = "x", .key = "x", .ca = "x"};
    c.sysfs_root = "x";
    c.proc_root = "x";
  });
  Changes expected;
  expected.needs_restart = {"http.listen",      "http.socket",     "control.listen",
                            "control.tls.cert", "control.tls.key", "control.tls.ca",
                            "sysfs_root",       "proc_root"};
  EXPECT_EQ(changes, expected);
}

}  // namespace
}  // namespace rdmapulse::config
