#include "daemon/cli/http_get.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cerrno>
#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

#include "daemon/cli/table.h"

namespace rdmapulse::cli {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

// A thousand NICs with twelve peers each in two classes are some 30 MB of JSON.
constexpr std::uint64_t kBodyBytes = 256ULL << 20;

// What became of it; `step` is in words for the error.
struct Exchange {
  http::response_parser<http::string_body> parser;
  std::string step = "looking up the name";
  boost::system::error_code error;
  bool ended = false;
};

asio::awaitable<void> Converse(HttpUrl url, std::string target, Exchange& exchange) {
  const auto executor = co_await asio::this_coro::executor;
  auto token = asio::redirect_error(asio::use_awaitable, exchange.error);
  tcp::resolver resolver(executor);
  const auto endpoints = co_await resolver.async_resolve(url.host, url.port, token);
  if (exchange.error) co_return;
  beast::tcp_stream stream(executor);
  exchange.step = "connecting";
  co_await stream.async_connect(endpoints, token);
  if (exchange.error) co_return;
  http::request<http::string_body> request(http::verb::get, url.path + target, 11);
  request.set(http::field::host, url.host + ":" + url.port);
  request.set(http::field::user_agent, "rdmapulse");
  request.set(http::field::connection, "close");
  exchange.step = "sending the question";
  co_await http::async_write(stream, request, token);
  if (exchange.error) co_return;
  exchange.step = "reading the answer";
  beast::flat_buffer buffer;
  co_await http::async_read(stream, buffer, exchange.parser, token);
}

std::string Reason(const boost::system::error_code& error) {
  if (error == http::error::body_limit) {
    return fmt::format("it is larger than {} MiB", kBodyBytes >> 20);
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return "the connection was closed before its end";
  }
  if (error.category() == http::make_error_code(http::error::bad_version).category()) {
    return "it is not HTTP";
  }
  return error.message();
}

bool IsPort(std::string_view text) {
  if (text.empty() || text.size() > 5) return false;
  unsigned number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
  }
  return number > 0 && number <= 65535;
}

// "HOST", "HOST:PORT", "[v6]:PORT". Without a port it is 80.
std::optional<HttpUrl> ParseAuthority(std::string_view text) {
  HttpUrl url{.host = {}, .port = "80", .path = {}};
  std::size_t end = std::min(text.find(':'), text.size());
  if (text.starts_with('[')) {
    const std::size_t bracket = text.find(']');
    if (bracket == std::string_view::npos) return std::nullopt;
    url.host = text.substr(1, bracket - 1);
    end = bracket + 1;
  } else {
    url.host = text.substr(0, end);
  }
  if (url.host.empty()) return std::nullopt;
  if (end == text.size()) return url;
  url.port = text.substr(end + 1);
  if (text[end] != ':' || !IsPort(url.port)) return std::nullopt;
  return url;
}

}  // namespace

Result<HttpUrl> ParseHttpUrl(std::string_view text) {
  const std::string shown = Printable(text);
  constexpr std::string_view kScheme = "http://";
  if (text.starts_with("https://")) {
    return Fail({"reading the address \"", shown, "\": https is not spoken here"},
                "give an http:// address, if need be that of a proxy or of `ssh -L`");
  }
  const auto is_odd = [](unsigned char c) { return c <= ' ' || c == 0x7F; };
  constexpr std::string_view kAdvice = "write http://HOST:PORT, like http://localhost:9090";
  if (!text.starts_with(kScheme) || std::any_of(text.begin(), text.end(), is_odd)) {
    return Fail({"reading the address \"", shown, "\": it is no http:// address"}, kAdvice);
  }
  text.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(text.find('/'), text.size());
  std::optional<HttpUrl> url = ParseAuthority(text.substr(0, slash));
  if (!url || text.find_first_of("@?#") != std::string_view::npos) {
    return Fail({"reading the address \"", shown, "\": it is more or less than a host and a port"},
                kAdvice);
  }
  url->path = text.substr(slash);
  while (url->path.ends_with('/')) url->path.pop_back();
  return *url;
}

Result<HttpReply> HttpGet(const HttpUrl& url, const std::string& target, Duration patience,
                          const std::string& doing) {
  Exchange exchange;
  exchange.parser.body_limit(kBodyBytes);
  asio::io_context context;
  asio::co_spawn(context, Converse(url, target, exchange),
                 [&exchange](const std::exception_ptr& thrown) {
                   exchange.ended = true;
                   if (thrown) exchange.error = make_error_code(boost::system::errc::io_error);
                 });
  context.run_for(patience);
  if (!exchange.ended) {
    return Fail(ETIMEDOUT, {doing, ": ", exchange.step}, "is the address right, is it overloaded?");
  }
  if (exchange.error) {
    return Fail({doing, ": ", exchange.step, ": ", Reason(exchange.error)},
                "is the address right, and does it run?");
  }
  auto& message = exchange.parser.get();
  return HttpReply{.status = message.result_int(), .body = std::move(message.body())};
}

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace rdmapulse::cli
