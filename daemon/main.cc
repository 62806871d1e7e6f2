// rdmapulsed: reads its configuration, then runs until it is told to stop.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "config/load.h"
#include "daemon/app.h"
#include "daemon/base/memory.h"
#include "daemon/catalogue_files.h"
#include "daemon/log.h"
#include "daemon/peers/tls.h"
#include "daemon/version.h"

namespace rdmapulse {
namespace {

constexpr int kCannotRun = 1;
constexpr int kBadConfiguration = 2;

struct Arguments {
  std::string config = "/etc/rdmapulse/rdmapulse.yaml";
  bool check = false;
  std::string log_level = "info";
};

// Every problem goes to stderr; nullopt when one of them is an error.
std::optional<config::Config> LoadConfig(const std::string& path) {
  const Result<std::string> text = config::ReadFile(path);
  if (!text) {
    std::fprintf(stderr, "rdmapulsed: %s\n", text.error().Text().c_str());
    return std::nullopt;
  }
  config::LoadResult loaded = config::Load(*text);
  for (const config::Problem& problem : loaded.problems) {
    std::fprintf(stderr, "%s\n", config::Format(problem, path).c_str());
  }
  const LoadedCatalogue catalogue = LoadCatalogue(loaded.config.collect.catalogue);
  for (const std::string& problem : catalogue.problems)
    std::fprintf(stderr, "%s\n", problem.c_str());
  if (!loaded.Usable() || !catalogue.problems.empty()) return std::nullopt;
  return std::move(loaded.config);
}

// What can be seen without starting.
int Check(const config::Config& config, const std::string& path) {
  if (const config::Tls& tls = config.control.tls; tls != config::Tls{}) {
    peers::Credentials credentials({.cert = tls.cert, .key = tls.key, .ca = tls.ca});
    if (const auto loaded = credentials.Load(); !loaded) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), loaded.error().Text().c_str());
      return kBadConfiguration;
    }
  }
  std::printf("%s: good\n", path.c_str());
  return 0;
}

int RunDaemon(const Arguments& arguments) {
  std::optional<config::Config> config = LoadConfig(arguments.config);
  if (!config) return kBadConfiguration;
  if (arguments.check) return Check(*config, arguments.config);
  KeepMemorySmall();
  SetUpLog(arguments.log_level);
  App app(std::move(*config), arguments.config);
  if (const Result<void> started = app.Start(); !started) {
    spdlog::critical("cannot start: {}", started.error().Text());
    return kCannotRun;
  }
  return app.Run();
}

int Main(int argc, char** argv) {
  Arguments arguments;
  CLI::App cli("rdmapulsed: probes RDMA peers, reads what the NICs count, exports both.");
  cli.add_option("--config", arguments.config, "configuration file")->capture_default_str();
  cli.add_flag("--check", arguments.check, "validate the configuration, print every problem, exit");
  cli.add_option("--log-level", arguments.log_level, "trace, debug, info, warning or error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warning", "error"}))
      ->capture_default_str();
  cli.set_version_flag("--version", "rdmapulsed " + std::string(kVersion));
  try {
    cli.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return cli.exit(error) == 0 ? 0 : kBadConfiguration;
  }
  return RunDaemon(arguments);
}

}  // namespace
}  // namespace rdmapulse

int main(int argc, char** argv) {
  try {
    return rdmapulse::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rdmapulsed: %s\n", error.what());
    return rdmapulse::kCannotRun;
  }
}
