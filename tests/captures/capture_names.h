// The captures as parameters of tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

namespace rdmapulse::captures {

inline constexpr const char* kFolder = "tests/captures/";
// A glob that finds nothing must not pass.
inline constexpr std::size_t kCapturesAtLeast = 76;

inline std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kFolder) + "data"))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string TestName(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace rdmapulse::captures
