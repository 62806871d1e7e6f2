#include "daemon/http/session.h"

#include <boost/beast/http/error.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "daemon/http/command_parameters.h"
#include "daemon/http/request_reader.h"
#include "daemon/http/response.h"
#include "daemon/http/series.h"
#include "daemon/http/trace.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;
namespace bhttp = boost::beast::http;

using boost::system::error_code;

std::string_view View(boost::beast::string_view text) { return {text.data(), text.size()}; }

// What is answered to bytes that are no request, or one that is too large. nullopt: nothing, since
// the client is gone or too slow to be told.
std::optional<Reply> RefusalFor(const error_code& error, const ServerLimits& limits) {
  if (error == bhttp::error::header_limit) {
    return Sentence(431, "the request's header is larger than " +
                             std::to_string(limits.header_bytes) + " bytes");
  }
  if (error == bhttp::error::body_limit) {
    return Sentence(
        413, "the request's body is larger than " + std::to_string(limits.body_bytes) + " bytes");
  }
  if (error.category() != make_error_code(bhttp::error::bad_method).category()) return std::nullopt;
  return Sentence(400, "this is no HTTP request: " + error.message());
}

// Every step returns whether the connection can go on.
//
// What a step is given lives in its caller: gcc 12 destroys some temporaries of a co_await
// expression twice, so none with a destructor is made in one.
class Session {
 public:
  Session(Shared& shared, Connection& connection) : shared_(shared), connection_(connection) {}

  asio::awaitable<bool> WaitForRequest();
  asio::awaitable<bool> ReadAndAnswer();

 private:
  asio::awaitable<bool> Answer(const Request& request);
  asio::awaitable<bool> Trace(const Request& request);
  asio::awaitable<bool> Command(const Request& request, Page page);
  Reply SwitchMaintenance(std::string_view query, std::string_view body);
  asio::awaitable<bool> Send(const Request& request, const Reply& reply);

  Shared& shared_;
  Connection& connection_;
};

asio::awaitable<bool> Session::WaitForRequest() {
  if (connection_.buffer().size() > 0) co_return true;  // it came together with the last one
  connection_.ExpireAfter(connection_.limits().idle);
  const error_code error = co_await connection_.Read();
  co_return !error;
}

asio::awaitable<bool> Session::ReadAndAnswer() {
  RequestParser parser;
  connection_.ExpireAfter(connection_.limits().request);
  const error_code error = co_await ReadRequest(connection_, parser);
  if (!error) co_return co_await Answer(parser.get());

  const std::optional<Reply> refusal = RefusalFor(error, connection_.limits());
  if (refusal) {
    const std::string header = ResponseHeader(*refusal, refusal->body->size(), false);
    co_await connection_.Write(header, *refusal->body);
    co_await connection_.DiscardAndClose();
  }
  co_return false;
}

asio::awaitable<bool> Session::Answer(const Request& request) {
  const auto route = Route({.method = View(request.method_string()),
                            .target = View(request.target()),
                            .unix_socket = connection_.door() == Door::kUnixSocket,
                            .api_allowed = connection_.api_allowed()});
  if (const Reply* refusal = std::get_if<Reply>(&route)) {
    co_return co_await Send(request, *refusal);
  }
  const Page page = std::get<Page>(route);
  if (page == Page::kProbe || page == Page::kScheduled || page == Page::kMaintenance) {
    co_return co_await Command(request, page);
  }
  if (page == Page::kTrace) co_return co_await Trace(request);
  const std::shared_ptr<const Snapshot> snapshot = shared_.store.Fresh();
  const TimePoint now = Clock::now();
  const MetricsFormat format = FormatFor(View(request[bhttp::field::accept]));
  const Reply reply = page == Page::kMetrics ? shared_.metrics.Read(snapshot, format, now)
                                             : ReadPage(page, *snapshot, now);
  co_return co_await Send(request, reply);
}

asio::awaitable<bool> Session::Trace(const Request& request) {
  const auto id = ParseTraceId(QueryOf(View(request.target())));
  if (!id) {
    const Reply refusal = Sentence(400, id.error().Text());
    co_return co_await Send(request, refusal);
  }
  const bool head = request.method() == bhttp::verb::head;
  co_await AnswerTrace(connection_, shared_.traces, *id, head);
  co_return false;
}

asio::awaitable<bool> Session::Command(const Request& request, Page page) {
  const std::string_view query = QueryOf(View(request.target()));
  if (page == Page::kMaintenance) {
    const Reply reply = SwitchMaintenance(query, request.body());
    co_return co_await Send(request, reply);
  }
  const bool grows = request.version() >= 11;  // HTTP/1.0 knows no answer that does
  if (page == Page::kScheduled && grows) {
    co_await StreamScheduled(connection_, shared_.commands);
    co_return false;
  }
  const auto series =
      page == Page::kScheduled ? ProbeRequest{} : ParseProbeRequest(query, request.body());
  if (!series || !grows) {
    const std::string why = series ? "a series of probes needs HTTP/1.1" : series.error().Text();
    const Reply refusal = Sentence(400, why);
    co_return co_await Send(request, refusal);
  }
  co_await StreamSeries(connection_, shared_.commands, *series);
  co_return false;
}

Reply Session::SwitchMaintenance(std::string_view query, std::string_view body) {
  const auto on = ParseMaintenance(query, body);
  if (!on) return Sentence(400, on.error().Text());
  shared_.commands.SetMaintenance(*on);
  Reply reply = Sentence(200, *on ? R"({"maintenance":true})" : R"({"maintenance":false})");
  reply.type = kJsonType;
  return reply;
}

asio::awaitable<bool> Session::Send(const Request& request, const Reply& reply) {
  const bool keep_alive = request.keep_alive();
  const std::string header = ResponseHeader(reply, reply.body->size(), keep_alive);
  const bool head = request.method() == bhttp::verb::head;
  const std::string_view body = head ? std::string_view() : std::string_view(*reply.body);
  const bool sent = co_await connection_.Write(header, body);
  co_return sent&& keep_alive;
}

}  // namespace

asio::awaitable<void> Serve(Shared& shared, std::shared_ptr<Connection> connection) {
  Session session(shared, *connection);
  bool more = true;
  while (more) {
    more = co_await session.WaitForRequest();
    if (more) more = co_await session.ReadAndAnswer();
  }
  connection->Close();
}

asio::awaitable<void> TurnAway(std::shared_ptr<Connection> connection) {
  const Reply full = Sentence(503, "too many connections; close some or try again later");
  const std::string header = ResponseHeader(full, full.body->size(), false);
  co_await connection->Write(header, *full.body);
  co_await connection->DiscardAndClose();
}

}  // namespace rdmapulse::http
