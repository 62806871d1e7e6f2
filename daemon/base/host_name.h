// What this host calls itself.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

namespace rdmapulse {

// Empty when the kernel does not say.
inline std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// `configured`; "auto" is what the kernel says.
inline std::string HostName(const std::string& configured) {
  if (configured != "auto") return configured;
  const std::string name = HostName();
  return name.empty() ? "localhost" : name;
}

}  // namespace rdmapulse
