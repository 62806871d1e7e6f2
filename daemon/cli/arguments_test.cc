#include "daemon/cli/arguments.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rdmapulse::cli {
namespace {

Command Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "rdmapulse");
  return ParseArguments(static_cast<int>(arguments.size()), arguments.data());
}

std::string ErrorOf(std::vector<const char*> arguments) {
  const Command command = Parse(std::move(arguments));
  const auto* const finished = std::get_if<Finished>(&command);
  if (finished == nullptr) return "accepted";
  EXPECT_EQ(finished->exit_code, 2);
  EXPECT_EQ(finished->output, "");
  return finished->error;
}

TEST(ArgumentsTest, EveryCommandHasItsDefaults) {
  EXPECT_EQ(Parse({"scrape"}), Command(ScrapeCommand{}));
  EXPECT_EQ(Parse({"ports"}), Command(PortsCommand{{"/run/rdmapulse/rdmapulse.sock", false}}));
  EXPECT_EQ(Parse({"peers", "--hops"}), Command(PeersCommand{{}, true}));
  EXPECT_EQ(Parse({"peers"}), Command(PeersCommand{}));
  EXPECT_EQ(Parse({"status"}), Command(StatusCommand{}));
  EXPECT_EQ(Parse({"probe", "h2"}), Command(ProbeCommand{.target = {"h2"}}));
}

TEST(ArgumentsTest, EveryOptionArrives) {
  EXPECT_EQ(Parse({"scrape", "--root", "/x"}), Command(ScrapeCommand{.root = "/x"}));
  EXPECT_EQ(Parse({"scrape", "--config", "/c"}), Command(ScrapeCommand{.config = "/c"}));
  EXPECT_TRUE(std::holds_alternative<Finished>(Parse({"scrape", "--root", "/x", "--config", "/c"})))
      << "a recorded host is read whole";
  EXPECT_EQ(Parse({"replay", "/t"}), Command(ReplayCommand{.folder = "/t"}));
  EXPECT_EQ(Parse({"replay", "/t", "--json", "--config", "/c"}),
            Command(ReplayCommand{"/t", "/c", true}));
  EXPECT_EQ(Parse({"ports", "--json", "--socket", "/s"}), Command(PortsCommand{{"/s", true}}));
  EXPECT_EQ(Parse({"peers", "--socket=/s", "--json"}), Command(PeersCommand{{"/s", true}}));
  EXPECT_EQ(Parse({"findings", "x", "--json"}),
            Command(FindingsCommand{.daemon = {.json = true}, .id = "x"}));
  EXPECT_EQ(Parse({"findings", "--trace", "x"}),
            Command(FindingsCommand{.daemon = {}, .id = "x", .trace = true}));
  EXPECT_EQ(Parse({"status", "--maintenance", "on"}), Command(StatusCommand{.maintenance = true}));
  EXPECT_EQ(Parse({"status", "--json", "--maintenance", "off"}),
            Command(StatusCommand{{.json = true}, false}));
  EXPECT_EQ(Parse({"probe", "h2", "--op", "read", "--class", "control", "-c", "5", "-i", "0.2",
                   "--json", "--socket", "/s"}),
            Command(ProbeCommand{
                {"/s", true}, {"h2", probes::Op::kRead, probes::Class::kControl}, 5, 0.2}));
}

TEST(ArgumentsTest, WithoutAnOpTheDaemonChooses) {
  EXPECT_EQ(std::get<ProbeCommand>(Parse({"probe", "h2"})).target.op, std::nullopt);
}

TEST(ArgumentsTest, ATraceIsOfOneFinding) {
  EXPECT_EQ(ErrorOf({"findings", "--trace"}),
            "rdmapulse findings: --trace needs the ID of a finding; see rdmapulse findings --help");
}

TEST(ArgumentsTest, HelpAndVersionAreForEveryCommand) {
  for (const char* const name :
       {"scrape", "replay", "ports", "peers", "status", "probe", "locate"}) {
    EXPECT_EQ(Parse({name, "--version"}), Command(Finished{0, "rdmapulse 0.1.0\n", ""})) << name;
    const Command help = Parse({name, "--help"});
    EXPECT_EQ(std::get<Finished>(help).exit_code, 0) << name;
    EXPECT_NE(std::get<Finished>(help).output.find(std::string("rdmapulse ") + name),
              std::string::npos)
        << std::get<Finished>(help).output;
  }
  EXPECT_EQ(Parse({"--version"}), Command(Finished{0, "rdmapulse 0.1.0\n", ""}));
  EXPECT_EQ(std::get<Finished>(Parse({"--help"})).exit_code, 0);
}

TEST(ArgumentsTest, WhatDoesNotExistIsNamed) {
  EXPECT_EQ(ErrorOf({"audit"}), "rdmapulse: there is no command \"audit\"; see rdmapulse --help");
  EXPECT_EQ(
      ErrorOf({}),
      "rdmapulse: a command is missing: scrape, record, replay, ports, peers, findings, status, "
      "top, probe, locate; see rdmapulse --help");
  EXPECT_EQ(ErrorOf({"--nonsense"}),
            "rdmapulse: there is no option \"--nonsense\" before a command; see rdmapulse --help");
  EXPECT_EQ(ErrorOf({"ports", "extra"}),
            "rdmapulse ports: unexpected argument: extra; see rdmapulse ports --help");
  EXPECT_EQ(ErrorOf({"ports", "peers"}),
            "rdmapulse ports: unexpected argument: peers; see rdmapulse ports --help");
  EXPECT_EQ(ErrorOf({"probe", "h2", "--path"}),
            "rdmapulse probe: unexpected argument: --path; see rdmapulse probe --help");
}

TEST(ArgumentsTest, LocateTakesAnAddressAndAWindow) {
  EXPECT_EQ(Parse({"locate"}), Command(LocateCommand{}));
  EXPECT_EQ(Parse({"locate", "--prometheus", "http://p:9090", "--window", "30", "--json",
                   "--socket", "/s"}),
            Command(LocateCommand{{"/s", true}, "http://p:9090", 30}));
  EXPECT_EQ(
      ErrorOf({"locate", "--prometheus", ""}),
      "rdmapulse locate: the address after --prometheus is empty; see rdmapulse locate --help");
  for (const char* const seconds : {"0.5", "3601", "nan"}) {
    EXPECT_EQ(ErrorOf({"locate", "--window", seconds}),
              "rdmapulse locate: --window is from 1 to 3600 seconds; see rdmapulse locate --help");
  }
}

TEST(ArgumentsTest, ProbeRefusesWhatItCannotSend) {
  EXPECT_EQ(ErrorOf({"probe"}), "rdmapulse probe: PEER is required; see rdmapulse probe --help");
  EXPECT_EQ(ErrorOf({"probe", ""}), "rdmapulse probe: PEER is empty; see rdmapulse probe --help");
  EXPECT_EQ(ErrorOf({"probe", "h2", "--op", "ping"}),
            "rdmapulse probe: --op is one of write0, write, write_mtu, read, echo, atomic, ud, "
            "not \"ping\"; see rdmapulse probe "
            "--help");
  EXPECT_EQ(ErrorOf({"probe", "h2", "--class", "gold"}),
            "rdmapulse probe: --class is lossless or control, not \"gold\"; see rdmapulse probe "
            "--help");
}

TEST(ArgumentsTest, NumbersHaveLimitsOnBothSides) {
  EXPECT_EQ(ErrorOf({"probe", "h2", "-c", "1"}), "accepted");
  EXPECT_EQ(ErrorOf({"probe", "h2", "-c", "1000000"}), "accepted");
  EXPECT_EQ(ErrorOf({"probe", "h2", "-i", "0.01"}), "accepted");
  EXPECT_EQ(ErrorOf({"probe", "h2", "-i", "3600"}), "accepted");
  for (const char* const count : {"0", "-1", "1000001", "4294967297", "x", "", "1.5"}) {
    EXPECT_NE(ErrorOf({"probe", "h2", "-c", count}), "accepted") << count;
  }
  for (const char* const interval : {"0.009", "0", "-1", "3601", "nan", "inf", "x", ""}) {
    EXPECT_NE(ErrorOf({"probe", "h2", "-i", interval}), "accepted") << interval;
  }
}

TEST(ArgumentsTest, MaintenanceIsOnOrOff) {
  EXPECT_EQ(ErrorOf({"status", "--maintenance", "yes"}),
            "rdmapulse status: --maintenance is on or off, not \"yes\"; see rdmapulse status "
            "--help");
  EXPECT_EQ(ErrorOf({"status", "--maintenance", ""}),
            "rdmapulse status: --maintenance is on or off, not \"\"; see rdmapulse status --help");
}

}  // namespace
}  // namespace rdmapulse::cli
