// The configuration file: text in, struct and problems out. Any thread; nothing here keeps state.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "config/problem.h"
#include "daemon/base/result.h"

namespace rdmapulse::config {

struct LoadResult {
  // Whole and in range when Usable(); otherwise what could be read, the rest at its defaults.
  Config config;
  std::vector<Problem> problems;  // all of them, by line

  // Warnings do not keep the daemon from starting.
  bool Usable() const;
};

// An empty text is the defaults. At most 1 MiB of UTF-8, one YAML document; anchors and aliases are
// understood, tags and merge keys are not.
LoadResult Load(std::string_view yaml);

// The text of a regular file of at most 1 MiB.
Result<std::string> ReadFile(const std::string& path);
// The same for other files: `what` begins its errors ("the target list"), `bytes_max` is whole MiB.
Result<std::string> ReadFile(const std::string& path, std::string_view what, std::size_t bytes_max);

// "rdmapulse.yaml:12:5: classes.lossless.dscp: 70 is not a DSCP; use 0 to 63". A warning says so
// before the key; what concerns the whole file has no line.
std::string Format(const Problem& problem, std::string_view file);

}  // namespace rdmapulse::config
