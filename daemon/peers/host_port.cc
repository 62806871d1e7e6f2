#include "daemon/peers/host_port.h"

#include <charconv>

namespace rdmapulse::peers {
namespace {

Result<std::uint16_t> ParsePort(std::string_view text, std::string_view whole) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error == std::errc() && end == text.data() + text.size()) return port;
  return Fail({"'", text, "' in the address '", whole, "' is no port"},
              "write host, host:port or [v6]:port");
}

}  // namespace

Result<HostPort> ParseHostPort(std::string_view text) {
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) {
      return Fail({"the address '", text, "' has no closing bracket"}, "write [v6]:port");
    }
    host = text.substr(1, close - 1);
    port = text.substr(close + 1);
    if (!port.empty() && !port.starts_with(':')) {
      return Fail({"the address '", text, "' goes on after its bracket"}, "write [v6]:port");
    }
  } else if (const std::size_t colon = text.find(':');
             colon != std::string_view::npos && colon == text.rfind(':')) {
    host = text.substr(0, colon);
    port = text.substr(colon);
  }
  HostPort parsed{std::string(host), kControlPort};
  if (!port.empty()) {
    const auto number = ParsePort(port.substr(1), text);
    if (!number) return tl::unexpected(number.error());
    parsed.port = *number;
  }
  return parsed;
}

boost::asio::ip::address Plain(const boost::asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6());
}

}  // namespace rdmapulse::peers
