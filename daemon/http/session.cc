#include "daemon/http/session.h"

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "daemon/http/command_parameters.h"
#include "daemon/http/probe_feed.h"
#include "daemon/http/probe_lines.h"
#include "daemon/version.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

using boost::system::error_code;
using Request = bhttp::request<bhttp::string_body>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

constexpr std::size_t kReadBytes = 4096;
// A refused client may still be sending; closing at once would reset the connection and take the
// answer from its hands. So its bytes are thrown away for a while, but not for ever.
constexpr std::size_t kDiscardBytesMax = 2 << 20;
constexpr auto kDiscardTime = std::chrono::seconds(2);

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

template <typename Body>
void SetFields(bhttp::response<Body>& response, std::string_view type) {
  static const std::string server = "rdmapulse/" + std::string(kVersion);
  response.set(bhttp::field::server, server);
  response.set(bhttp::field::content_type, beast::string_view(type.data(), type.size()));
  response.set(bhttp::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
}

// What is answered to bytes that are no request, or one that is too large. nullopt: nothing, since
// the client is gone or too slow to be told.
std::optional<Reply> RefusalFor(const error_code& error, const ServerLimits& limits) {
  if (error == bhttp::error::header_limit || error == bhttp::error::buffer_overflow) {
    return Sentence(431, "the request's header is larger than " +
                             std::to_string(limits.header_bytes) + " bytes");
  }
  if (error == bhttp::error::body_limit) {
    return Sentence(
        413, "the request's body is larger than " + std::to_string(limits.body_bytes) + " bytes");
  }
  if (error == bhttp::error::end_of_stream || error == bhttp::error::partial_message ||
      error.category() != make_error_code(bhttp::error::bad_method).category()) {
    return std::nullopt;
  }
  return Sentence(400, "this is no HTTP request: " + error.message());
}

// Ends a series however its coroutine ends.
class SeriesGuard {
 public:
  SeriesGuard(Commands& commands, std::shared_ptr<ProbeFeed> feed)
      : commands_(commands), feed_(std::move(feed)) {}
  SeriesGuard(const SeriesGuard&) = delete;
  SeriesGuard& operator=(const SeriesGuard&) = delete;
  ~SeriesGuard() {
    feed_->Close();
    if (running_) commands_.CancelProbe(*running_);
  }
  void Started(std::uint64_t id) { running_ = id; }
  void Ended() { running_.reset(); }

 private:
  Commands& commands_;
  std::shared_ptr<ProbeFeed> feed_;
  std::optional<std::uint64_t> running_;
};

}  // namespace

Connection::Connection(Shared& shared, Stream::socket_type socket, Door door, bool api_allowed)
    : shared_(shared),
      stream_(std::move(socket)),
      buffer_(shared.limits.header_bytes + kReadBytes),
      door_(door),
      api_allowed_(api_allowed) {
  shared_.connections.insert(this);
}

Connection::~Connection() { shared_.connections.erase(this); }

void Connection::Close() { stream_.close(); }

// The steps of a conversation. Every one returns whether the connection can go on.
//
// What a step is given lives in its caller: gcc 12 destroys some temporaries of a co_await
// expression twice, so none is made in one.
class Session {
 public:
  explicit Session(std::shared_ptr<Connection> connection)
      : c_(std::move(connection)), limits_(c_->shared_.limits) {}

  asio::awaitable<void> Run();
  asio::awaitable<void> TurnAway();

 private:
  using Wakeup = std::shared_ptr<asio::steady_timer>;

  asio::awaitable<bool> WaitForRequest();
  asio::awaitable<bool> ReadAndAnswer();
  asio::awaitable<error_code> ReadHeader();
  asio::awaitable<bool> Answer(const Request& request);
  asio::awaitable<bool> Command(const Request& request, Page page);
  Reply SwitchMaintenance(std::string_view query, std::string_view body);
  asio::awaitable<bool> Send(const Request& request, const Reply& reply);
  asio::awaitable<void> StreamSeries(const Request& request, const ProbeRequest& series);
  asio::awaitable<bool> StreamEvents(ProbeFeed& feed, asio::steady_timer& wakeup);
  asio::awaitable<bool> SendLine(const std::string& line);
  asio::awaitable<void> DiscardAndClose();
  static asio::awaitable<void> WatchForClose(std::shared_ptr<Connection> connection, Wakeup wakeup);

  std::shared_ptr<Connection> c_;
  const ServerLimits& limits_;
};

asio::awaitable<void> Session::Run() {
  bool more = true;
  while (more) {
    more = co_await WaitForRequest();
    if (more) more = co_await ReadAndAnswer();
  }
  c_->Close();
}

asio::awaitable<bool> Session::WaitForRequest() {
  if (c_->buffer_.size() > 0) co_return true;  // it came together with the last one
  c_->stream_.expires_after(limits_.idle);
  const auto [error, size] =
      co_await c_->stream_.async_read_some(c_->buffer_.prepare(kReadBytes), kAwait);
  c_->buffer_.commit(size);
  co_return !error;
}

asio::awaitable<bool> Session::ReadAndAnswer() {
  bhttp::request_parser<bhttp::string_body> parser;
  parser.header_limit(limits_.header_bytes);
  parser.body_limit(limits_.body_bytes);
  c_->stream_.expires_after(limits_.request);
  error_code error = co_await ReadHeader();
  if (!error) {
    std::tie(error, std::ignore) =
        co_await bhttp::async_read(c_->stream_, c_->buffer_, parser, kAwait);
  }
  if (!error) co_return co_await Answer(parser.get());

  const std::optional<Reply> refusal = RefusalFor(error, limits_);
  if (refusal) {
    Request request;
    request.version(11);
    request.keep_alive(false);
    co_await Send(request, *refusal);
    co_await DiscardAndClose();
  }
  co_return false;
}

// Until the whole header is in the buffer. The parser's own limit counts only what it has not taken
// in yet: a header of many short lines that drip in would grow without end.
asio::awaitable<error_code> Session::ReadHeader() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  std::size_t searched = 0;
  while (true) {
    const auto bytes = c_->buffer_.cdata();
    const std::string_view text(static_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t end = text.find(kEnd, searched);
    const std::size_t needed = end == std::string_view::npos ? text.size() + 1 : end + kEnd.size();
    if (needed > limits_.header_bytes) co_return make_error_code(bhttp::error::header_limit);
    if (end != std::string_view::npos) co_return error_code();

    searched = text.size() - std::min(text.size(), kEnd.size() - 1);
    const auto [error, size] =
        co_await c_->stream_.async_read_some(c_->buffer_.prepare(kReadBytes), kAwait);
    c_->buffer_.commit(size);
    if (error) co_return error;
  }
}

asio::awaitable<bool> Session::Answer(const Request& request) {
  const auto route = Route({.method = View(request.method_string()),
                            .target = View(request.target()),
                            .unix_socket = c_->door_ == Door::kUnixSocket,
                            .api_allowed = c_->api_allowed_});
  if (const Reply* refusal = std::get_if<Reply>(&route)) {
    co_return co_await Send(request, *refusal);
  }
  const Page page = std::get<Page>(route);
  if (page == Page::kProbe || page == Page::kMaintenance) {
    co_return co_await Command(request, page);
  }
  const std::shared_ptr<const Snapshot> snapshot = c_->shared_.store.Current();
  const TimePoint now = Clock::now();
  const Reply reply = page == Page::kMetrics ? c_->shared_.metrics.Read(snapshot, now)
                                             : ReadPage(page, *snapshot, now);
  co_return co_await Send(request, reply);
}

asio::awaitable<bool> Session::Command(const Request& request, Page page) {
  const std::string_view query = QueryOf(View(request.target()));
  if (page == Page::kMaintenance) {
    const Reply reply = SwitchMaintenance(query, request.body());
    co_return co_await Send(request, reply);
  }
  const auto series = ParseProbeRequest(query, request.body());
  if (!series || request.version() < 11) {
    const std::string why = series ? "a series of probes needs HTTP/1.1" : series.error().Text();
    const Reply refusal = Sentence(400, why);
    co_return co_await Send(request, refusal);
  }
  co_await StreamSeries(request, *series);
  co_return false;
}

Reply Session::SwitchMaintenance(std::string_view query, std::string_view body) {
  const auto on = ParseMaintenance(query, body);
  if (!on) return Sentence(400, on.error().Text());
  c_->shared_.commands.SetMaintenance(*on);
  Reply reply = Sentence(200, *on ? R"({"maintenance":true})" : R"({"maintenance":false})");
  reply.type = kJsonType;
  return reply;
}

asio::awaitable<bool> Session::Send(const Request& request, const Reply& reply) {
  bhttp::response<bhttp::span_body<const char>> response;
  response.version(request.version());
  response.result(reply.status);
  response.keep_alive(request.keep_alive());
  SetFields(response, reply.type);
  if (!reply.allow.empty()) {
    response.set(bhttp::field::allow, beast::string_view(reply.allow.data(), reply.allow.size()));
  }
  response.content_length(reply.body->size());
  if (request.method() != bhttp::verb::head) {
    response.body() = beast::span<const char>(reply.body->data(), reply.body->size());
  }
  c_->stream_.expires_after(limits_.write);
  bhttp::response_serializer<bhttp::span_body<const char>> serializer(response);
  error_code error;
  if (request.method() == bhttp::verb::head) {
    std::tie(error, std::ignore) =
        co_await bhttp::async_write_header(c_->stream_, serializer, kAwait);
  } else {
    std::tie(error, std::ignore) = co_await bhttp::async_write(c_->stream_, serializer, kAwait);
  }
  co_return !error && response.keep_alive();
}

asio::awaitable<void> Session::StreamSeries(const Request& request, const ProbeRequest& series) {
  bhttp::response<bhttp::empty_body> response;
  response.version(request.version());
  response.result(bhttp::status::ok);
  response.keep_alive(false);
  response.chunked(true);
  SetFields(response, kJsonLinesType);
  c_->stream_.expires_after(limits_.write);
  bhttp::response_serializer<bhttp::empty_body> serializer(response);
  const auto [error, size] = co_await bhttp::async_write_header(c_->stream_, serializer, kAwait);
  if (error) co_return;

  const auto executor = c_->stream_.get_executor();
  const Wakeup wakeup =
      std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max());
  const auto feed = std::make_shared<ProbeFeed>(
      [executor, wakeup] { asio::post(executor, [wakeup] { wakeup->cancel(); }); });
  SeriesGuard guard(c_->shared_.commands, feed);
  asio::co_spawn(executor, WatchForClose(c_, wakeup), asio::detached);
  guard.Started(c_->shared_.commands.StartProbe(
      series, [feed](const ProbeEvent& event) { feed->Push(event); }));
  if (co_await StreamEvents(*feed, *wakeup)) guard.Ended();
}

// True: the series came to its own end.
asio::awaitable<bool> Session::StreamEvents(ProbeFeed& feed, asio::steady_timer& wakeup) {
  ProbeSummary summary;
  while (!c_->gone_) {
    const std::optional<ProbeEvent> event = feed.Pop();
    if (!event) {
      co_await wakeup.async_wait(kAwait);  // ended by a cancel
      continue;
    }
    if (const auto* reply = std::get_if<ProbeReply>(&*event)) {
      summary.Add(*reply);
      const std::string line = ProbeLine(*reply);
      const bool sent = co_await SendLine(line);
      if (!sent) co_return false;
      continue;
    }
    const std::string& why = std::get<ProbeDone>(*event).error;
    const std::string line = why.empty() ? summary.Line() : ErrorLine(why);
    const bool sent = co_await SendLine(line);
    if (sent) {
      c_->stream_.expires_after(limits_.write);
      co_await asio::async_write(c_->stream_, bhttp::make_chunk_last(), kAwait);
    }
    co_return true;
  }
  co_return false;
}

asio::awaitable<bool> Session::SendLine(const std::string& line) {
  c_->stream_.expires_after(limits_.write);
  const auto [error, size] = co_await asio::async_write(
      c_->stream_, bhttp::make_chunk(asio::const_buffer(line.data(), line.size())), kAwait);
  co_return !error;
}

// Without it a client that goes while nothing is answered would be noticed at the next answer only,
// and a blocked path has none. Bytes that the client sends meanwhile mean nothing.
asio::awaitable<void> Session::WatchForClose(std::shared_ptr<Connection> connection,
                                             Wakeup wakeup) {
  std::array<char, 256> ignored{};
  while (!connection->gone_) {
    // The socket's own read: the stream's timeouts are for those who write.
    const auto [error, size] =
        co_await connection->stream_.socket().async_read_some(asio::buffer(ignored), kAwait);
    if (error) connection->gone_ = true;
  }
  wakeup->cancel();
}

asio::awaitable<void> Session::TurnAway() {
  Request request;
  request.version(11);
  request.keep_alive(false);
  const Reply full = Sentence(503, "too many connections; close some or try again later");
  co_await Send(request, full);
  co_await DiscardAndClose();
}

asio::awaitable<void> Session::DiscardAndClose() {
  error_code ignored;
  c_->stream_.socket().shutdown(asio::socket_base::shutdown_send, ignored);
  c_->buffer_.clear();
  c_->stream_.expires_after(kDiscardTime);
  std::array<char, kReadBytes> bytes{};
  std::size_t total = 0;
  while (total < kDiscardBytesMax) {
    const auto [error, size] = co_await c_->stream_.async_read_some(asio::buffer(bytes), kAwait);
    if (error) break;
    total += size;
  }
  c_->Close();
}

asio::awaitable<void> Serve(std::shared_ptr<Connection> connection) {
  Session session(std::move(connection));
  co_await session.Run();
}

asio::awaitable<void> TurnAway(std::shared_ptr<Connection> connection) {
  Session session(std::move(connection));
  co_await session.TurnAway();
}

}  // namespace rdmapulse::http
