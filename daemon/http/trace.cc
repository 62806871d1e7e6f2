#include "daemon/http/trace.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "daemon/base/time.h"
#include "daemon/http/response.h"
#include "daemon/http/routes.h"
#include "daemon/http/trace_box.h"
#include "daemon/http/watch.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;

// Closes the box however its coroutine ends.
class BoxGuard {
 public:
  explicit BoxGuard(TraceBox& box) : box_(box) {}
  BoxGuard(const BoxGuard&) = delete;
  BoxGuard& operator=(const BoxGuard&) = delete;
  ~BoxGuard() { box_.Close(); }

 private:
  TraceBox& box_;
};

Reply ReplyOf(const std::optional<TraceAnswer>& answer) {
  if (!answer) return Sentence(503, "the daemon is too busy to look for what led to it");
  if (answer->status != 200) return Sentence(answer->status, answer->text);
  return {.status = 200,
          .type = kJsonType,
          .body = std::make_shared<const std::string>(answer->text),
          .allow = {}};
}

}  // namespace

asio::awaitable<void> AnswerTrace(Connection& connection, Traces& traces, const std::string& id,
                                  bool head) {
  Watch watch(connection);
  const auto box = std::make_shared<TraceBox>(watch.Ringer());
  const BoxGuard guard(*box);
  traces.Draw(id, [box](TraceAnswer answer) { box->Put(std::move(answer)); });
  const TimePoint deadline = Clock::now() + connection.limits().loop;
  std::optional<TraceAnswer> answer = box->Take();
  while (!answer && !watch.gone() && Clock::now() < deadline) {
    co_await watch.Wait(deadline);
    answer = box->Take();
  }
  if (!watch.gone()) {
    const Reply reply = ReplyOf(answer);
    const std::string header = ResponseHeader(reply, reply.body->size(), false);
    const std::string_view body = head ? std::string_view() : std::string_view(*reply.body);
    co_await connection.Write(header, body);
  }
  co_await watch.End();
}

}  // namespace rdmapulse::http
