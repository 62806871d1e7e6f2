// What is exported of the sources of peers: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/time.h"

namespace rdmapulse::discovery {

enum class Kind : std::uint8_t { kFile, kHttp, kDns };

constexpr std::string_view Name(Kind kind) {
  switch (kind) {
    case Kind::kFile: return "file";
    case Kind::kHttp: return "http";
    case Kind::kDns: return "dns";
  }
  return "unknown";
}

struct SourceStatus {
  Kind kind = Kind::kFile;
  std::string source;           // as the configuration writes it
  std::optional<bool> success;  // of the last look; nullopt: none is over yet
  std::optional<Duration> age;  // since all of it was read well; nullopt: it never was
  std::size_t peers = 0;        // in the list that is in use
  std::size_t bad_entries = 0;  // what that list holds beside them

  bool operator==(const SourceStatus&) const = default;
};

// How many peers there are, and why they are probed.
struct PeerCounts {
  std::size_t known = 0;  // in all, without ourselves
  std::size_t configured = 0;
  std::size_t mesh = 0;    // of our ToR
  std::size_t sample = 0;  // others

  bool operator==(const PeerCounts&) const = default;
};

}  // namespace rdmapulse::discovery
