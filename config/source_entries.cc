#include "config/source_entries.h"

#include <algorithm>

#include "config/address.h"
#include "config/network.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::string_view kUrlAdvice = "write it as http://sd.example:8080/rdma";
constexpr std::string_view kDnsAdvice =
    "write a name such as rdmapulse.fabric.svc.cluster.local, name:port, or an SRV record's name, "
    "which begins with _";
constexpr std::uint16_t kHttpPort = 80;

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  if (text.starts_with("https://")) {
    return Fail({Quoted(text), " needs TLS, which discovery has not in this version"},
                "serve the list over http:// inside a trusted network, or write it to a file");
  }
  if (!text.starts_with(kScheme)) return Fail({Quoted(text), " is not a URL"}, kUrlAdvice);
  if (!IsPrintable(text)) {
    return Fail({Quoted(text), " holds a blank or another character that a URL escapes"},
                "write it as %20 and the like");
  }
  if (text.find('#') != text.npos) {
    return Fail({Quoted(text), " has a fragment, which no server sees"}, "delete it from the #");
  }
  text.remove_prefix(kScheme.size());
  const std::size_t end = std::min(text.find_first_of("/?"), text.size());
  const std::string_view authority = text.substr(0, end);
  if (authority.find('@') != authority.npos) {
    return Fail({"a URL with a user and a password is not supported"},
                "let the server know this network instead");
  }
  const Result<Address> address = ParseAddress(authority, kHttpPort);
  if (!address) return tl::unexpected(address.error());
  const std::string rest(text.substr(end));
  return HttpUrl{.host = address->host,
                 .port = address->port,
                 .target = rest.starts_with('/') ? rest : "/" + rest};
}

Result<DnsName> ParseDnsName(std::string_view text) {
  const Result<Address> address = ParseAddress(text);
  if (!address) return Fail({Quoted(text), " is not a DNS name"}, kDnsAdvice);
  if (ParseIp(address->host.substr(0, address->host.find('%')))) {
    return Fail({Quoted(text), " is an address, which needs no DNS"}, "list it under peers");
  }
  const std::size_t colon = text.rfind(':');
  DnsName name{.name = address->host, .srv = text.starts_with('_'), .port = address->port};
  if (name.srv && colon != text.npos) {
    return Fail({Quoted(text), " has a port, but SRV records name their own"}, "delete it");
  }
  if (text.substr(0, colon).ends_with('.')) name.name += '.';
  return name;
}

std::optional<ListFormat> ListFormatOf(std::string_view path) {
  if (path.ends_with(".json")) return ListFormat::kJson;
  if (path.ends_with(".yml") || path.ends_with(".yaml")) return ListFormat::kYaml;
  return std::nullopt;
}

Result<void> CheckFilePattern(std::string_view pattern) {
  if (!pattern.starts_with('/')) {
    return Fail({Quoted(pattern), " is not an absolute path"}, "begin it with /");
  }
  if (!ListFormatOf(pattern)) {
    return Fail({Quoted(pattern), " does not end in .json, .yml or .yaml"},
                "name the list so: its extension says how it is written");
  }
  return {};
}

}  // namespace rdmapulse::config
