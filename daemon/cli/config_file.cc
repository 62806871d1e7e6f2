#include "daemon/cli/config_file.h"

#include <unistd.h>

#include <utility>

#include "config/load.h"

namespace rdmapulse::cli {

Result<config::Config> ReadConfig(const std::string& path) {
  const Result<std::string> text = config::ReadFile(path);
  if (!text) return tl::unexpected(text.error());
  config::LoadResult loaded = config::Load(*text);
  if (loaded.Usable()) return std::move(loaded.config);
  std::string all = "the configuration is not usable";
  for (const config::Problem& problem : loaded.problems) {
    if (!problem.warning) all += "\n" + config::Format(problem, path);
  }
  return Fail({all});
}

Result<config::Config> ReadConfigOrInstalled(const std::optional<std::string>& path) {
  if (path) return ReadConfig(*path);
  if (access(kDefaultConfig, F_OK) == 0) return ReadConfig(kDefaultConfig);
  return config::Config{};
}

}  // namespace rdmapulse::cli
