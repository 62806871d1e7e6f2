#pragma once

#include <string>
#include <vector>

namespace rdmapulse::config {

// One thing that is wrong with a configuration, or (warning) that has no effect yet.
struct Problem {
  int line = 0;     // from 1; 0: the whole file
  int column = 0;   // from 1
  std::string key;  // "classes.lossless.dscp"; empty: the whole file
  std::string message;
  bool warning = false;

  bool operator==(const Problem&) const = default;
};

}  // namespace rdmapulse::config
