#include "daemon/discovery/http_fetch.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <utility>

#include "config/address.h"
#include "config/wording.h"
#include "daemon/discovery/target_list.h"
#include "daemon/version.h"

namespace rdmapulse::discovery {
namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

// What the coroutine throws is a lack of memory: it leaves io_context::run().
void Rethrow(const std::exception_ptr& failure) {
  if (failure) std::rethrow_exception(failure);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Parameters (charset=utf-8) are the server's affair: JSON is UTF-8 whatever they say (RFC 8259).
bool IsJson(std::string_view content_type) {
  std::string media = Lower(content_type.substr(0, content_type.find(';')));
  media.erase(media.find_last_not_of(' ') + 1);
  return media == "application/json";
}

Result<std::string> BodyOf(http::response<http::string_body> response) {
  if (http::to_status_class(response.result()) == http::status_class::redirection) {
    return Fail({"it redirects to ", config::Quoted(std::string(response[http::field::location]))},
                "list that URL instead");
  }
  if (response.result() != http::status::ok) {
    return Fail({"it answers with status ", std::to_string(response.result_int())});
  }
  const std::string type(response[http::field::content_type]);
  if (!IsJson(type)) {
    return Fail({"its answer is ", type.empty() ? "of no type" : config::Quoted(type),
                 " and not application/json"},
                "let the server set Content-Type");
  }
  return std::move(response.body());
}

}  // namespace

HttpFetch::HttpFetch(asio::io_context& io, config::HttpUrl url, const Options& options, Done done)
    : url_(std::move(url)),
      options_(options),
      done_(std::move(done)),
      deadline_(io),
      resolver_(io),
      socket_(io) {}

std::shared_ptr<HttpFetch> HttpFetch::Start(asio::io_context& io, config::HttpUrl url,
                                            const Options& options, Done done) {
  auto fetch = std::make_shared<HttpFetch>(io, std::move(url), options, std::move(done));
  fetch->deadline_.expires_after(options.timeout);
  fetch->deadline_.async_wait([weak = fetch->weak_from_this()](const error_code& error) {
    const std::shared_ptr<HttpFetch> still = weak.lock();
    if (!error && still != nullptr) still->OnDeadline();
  });
  asio::co_spawn(io, fetch->Run(fetch), Rethrow);
  return fetch;
}

void HttpFetch::Stop() {
  done_ = nullptr;
  deadline_.cancel();
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void HttpFetch::OnDeadline() {
  timed_out_ = true;
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

Result<std::string> HttpFetch::TimedOut() const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.timeout).count();
  return Fail({"it gave no whole answer within ", std::to_string(seconds), " s"});
}

asio::awaitable<void> HttpFetch::Run([[maybe_unused]] std::shared_ptr<HttpFetch> self) {
  Result<std::string> body = co_await Get();
  deadline_.cancel();
  error_code ignored;
  socket_.close(ignored);
  if (!done_) co_return;
  if (timed_out_) body = TimedOut();
  std::exchange(done_, nullptr)(std::move(body));
}

asio::awaitable<Result<std::string>> HttpFetch::Get() {
  const Result<void> connected = co_await Connect();
  if (!connected) co_return tl::unexpected(connected.error());

  http::request<http::empty_body> request(http::verb::get, url_.target, 11);
  request.set(http::field::host, config::Address{url_.host, url_.port}.Text());
  request.set(http::field::user_agent, "rdmapulsed/" + std::string(kVersion));
  request.set(http::field::accept, "application/json");
  request.set(http::field::connection, "close");
  request.set(
      "X-Prometheus-Refresh-Interval-Seconds",
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(options_.refresh).count()));
  error_code error;
  co_await http::async_write(socket_, request, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return Fail({"sending the request: ", error.message()});

  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kListBytesMax);
  co_await http::async_read(socket_, buffer, parser,
                            asio::redirect_error(asio::use_awaitable, error));
  if (error == http::error::body_limit) {
    co_return Fail({"its answer has more than ", std::to_string(kListBytesMax >> 20), " MiB"},
                   "check that it is the right URL");
  }
  if (error) co_return Fail({"reading its answer: ", error.message()});
  co_return BodyOf(parser.release());
}

asio::awaitable<Result<void>> HttpFetch::Connect() {
  error_code error;
  const tcp::resolver::results_type found = co_await resolver_.async_resolve(
      url_.host, std::to_string(url_.port), asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return Fail({"looking up ", url_.host, ": ", error.message()});
  if (timed_out_ || !done_) co_return Fail({"it was given up"});
  co_await asio::async_connect(socket_, found, asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return Fail({"connecting: ", error.message()});
  co_return Result<void>{};
}

}  // namespace rdmapulse::discovery
