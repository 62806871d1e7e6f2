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

}  // namespace rdmapulse
