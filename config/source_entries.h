// The entries of `discovery`: where lists of peers come from. Pure: nothing is opened or looked up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::config {

struct HttpUrl {
  std::string host;  // as in Address (address.h)
  std::uint16_t port = 80;
  std::string target = "/";  // path and query, as they stand in the request

  bool operator==(const HttpUrl&) const = default;
};

// "http://sd.example:8080/rdma?dc=1". No https, no user and password, no fragment.
Result<HttpUrl> ParseHttpUrl(std::string_view text);

struct DnsName {
  std::string name;        // lower case; a final dot, which keeps search domains out, stays
  bool srv = false;        // begins with '_': SRV records, which name port and host
  std::uint16_t port = 0;  // of the peers that A or AAAA records name

  bool operator==(const DnsName&) const = default;
};

// "rdmapulse.fabric.svc", "hosts.example:9940" or "_control._tcp.rdmapulse.fabric.svc".
Result<DnsName> ParseDnsName(std::string_view text);

enum class ListFormat { kJson, kYaml };

// By the extension: .json, .yml or .yaml. nullopt: another.
std::optional<ListFormat> ListFormatOf(std::string_view path);

// An absolute path, whose parts may hold the wildcards of glob(7), with an extension as above.
Result<void> CheckFilePattern(std::string_view pattern);

}  // namespace rdmapulse::config
