// One GET over plain HTTP and TCP: Prometheus, or another host's daemon. Blocking. Errors are whole
// sentences that begin with what the caller was doing.
#pragma once

#include <string>
#include <string_view>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::cli {

struct HttpUrl {
  std::string host = {};
  std::string port = {};
  std::string path = {};  // in front of every target, without a slash at its end: "/prometheus"

  bool operator==(const HttpUrl&) const = default;
};

// "http://HOST[:PORT][/PATH]", HOST a name, an IPv4 address or an [IPv6 address].
Result<HttpUrl> ParseHttpUrl(std::string_view text);

struct HttpReply {
  unsigned status = 0;
  std::string body = {};
};

// Any status is a reply. `doing` starts the error: "asking Prometheus at http://…". At most 256
// MiB.
Result<HttpReply> HttpGet(const HttpUrl& url, const std::string& target, Duration patience,
                          const std::string& doing);

// For a value within a target's query: "a b&c" becomes "a%20b%26c".
std::string PercentEncoded(std::string_view text);

}  // namespace rdmapulse::cli
