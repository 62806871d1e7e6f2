// Asking a daemon under test by HTTP on loopback, and waiting for what it says. Used by tests only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::tests {

// A port that was free a moment ago, and a socket that holds it when `fd` is kept.
struct BoundPort {
  UniqueFd fd;
  std::uint16_t port = 0;
};
BoundPort Bind(const std::string& address);
std::uint16_t FreePort(const std::string& address);

// The whole answer; empty when nobody answers.
std::string Get(const std::string& address, std::uint16_t port, const std::string& target);

// Until it holds, or a minute has passed.
bool Eventually(const std::function<bool()>& condition);

}  // namespace rdmapulse::tests
