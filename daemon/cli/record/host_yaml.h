// host.yaml of a recorded host, written (design.md 5.2). Pure; recorded_host.h reads it.
#pragma once

#include <map>
#include <string>

namespace rdmapulse::cli {

// What is empty or 0 is left out.
struct HostFacts {
  std::string name{};
  std::string kernel{};
  double interval_seconds = 0;          // between moments
  std::map<std::string, int> errors{};  // path relative to the folder → errno
};
std::string HostYaml(const HostFacts& facts);

}  // namespace rdmapulse::cli
