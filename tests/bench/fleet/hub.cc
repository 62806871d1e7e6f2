// rdmapulsed as it is, but for the verbs: its devices answer for every peer there may be, so that
// what it costs to probe many of them can be measured on one machine. Its CPU includes the fake's.
#include <arpa/inet.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "config/load.h"
#include "daemon/app.h"
#include "daemon/base/memory.h"
#include "daemon/log.h"
#include "tests/fakes/ibverbs.h"

namespace rdmapulse {
namespace {

fakes::FakePort Port(int device) {
  fakes::FakePort port;
  Gid gid;
  gid.bytes[10] = gid.bytes[11] = 0xFF;
  const std::string address = "10.78.0." + std::to_string(device + 1);
  inet_pton(AF_INET, address.c_str(), gid.bytes.data() + 12);
  port.gids.push_back({.index = 0, .gid = gid, .type = GidType::kRoceV2});
  return port;
}

int Main(int argc, char** argv) {
  std::string path;
  int devices = 1;
  int answer_us = 20;
  CLI::App cli("rdmapulsed on devices that answer for every peer");
  cli.add_option("--config", path)->required();
  cli.add_option("--devices", devices, "fake_0, fake_1, …");
  cli.add_option("--answer-us", answer_us, "from posting to completion");
  CLI11_PARSE(cli, argc, argv);
  fakes::Ibverbs verbs;
  for (int i = 0; i < devices; ++i) verbs.AddDevice("fake_" + std::to_string(i), {Port(i)});
  verbs.AnswerForAll(std::chrono::microseconds(answer_us));

  const Result<std::string> text = config::ReadFile(path);
  if (!text) {
    std::fprintf(stderr, "hub: %s\n", text.error().Text().c_str());
    return 2;
  }
  config::LoadResult loaded = config::Load(*text);
  for (const config::Problem& problem : loaded.problems) {
    std::fprintf(stderr, "%s\n", config::Format(problem, path).c_str());
  }
  if (!loaded.Usable()) return 2;
  KeepMemorySmall();
  SetUpLog("warning");
  App app(std::move(loaded.config), path);
  if (const Result<void> started = app.Start(); !started) {
    spdlog::critical("cannot start: {}", started.error().Text());
    return 1;
  }
  return app.Run();
}

}  // namespace
}  // namespace rdmapulse

int main(int argc, char** argv) {
  try {
    return rdmapulse::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hub: %s\n", error.what());
    return 1;
  }
}
