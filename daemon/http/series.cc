#include "daemon/http/series.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "daemon/http/probe_feed.h"
#include "daemon/http/probe_lines.h"
#include "daemon/http/response.h"
#include "daemon/http/watch.h"

namespace rdmapulse::http {
namespace {

namespace asio = boost::asio;

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

// The next event; nullopt: the client went before it came.
asio::awaitable<std::optional<ProbeEvent>> NextEvent(ProbeFeed& feed, Watch& watch) {
  std::optional<ProbeEvent> event;
  while (!watch.gone() && !event) {
    event = feed.Pop();
    if (!event) co_await watch.Wait();
  }
  co_return event;
}

// Of every event but the last.
std::string LineOf(const ProbeEvent& event, ProbeSummary& summary) {
  if (const auto* reply = std::get_if<ProbeReply>(&event)) {
    summary.Add(*reply);
    return ProbeLine(*reply);
  }
  if (const auto* seen = std::get_if<ProbeSeen>(&event)) return SeenLine(*seen);
  return TraceLine(std::get<path_trace::News>(event));
}

// True: the series came to its own end.
asio::awaitable<bool> StreamEvents(Connection& connection, ProbeFeed& feed, Watch& watch) {
  ProbeSummary summary;
  while (true) {
    const std::optional<ProbeEvent> event = co_await NextEvent(feed, watch);
    if (!event) co_return false;
    if (const auto* done = std::get_if<ProbeDone>(&*event)) {
      const std::string& why = done->error;
      const std::string chunk = Chunk(why.empty() ? summary.Line() : ErrorLine(why));
      co_await connection.Write(chunk, kLastChunk);
      co_return true;
    }
    const std::string chunk = Chunk(LineOf(*event, summary));
    const bool sent = co_await connection.Write(chunk);
    if (!sent) co_return false;
  }
}

using Handler = std::function<void(const ProbeEvent&)>;
// Has the loop begin, and returns the id for Cancel.
using Begin = std::function<std::uint64_t(Handler)>;

asio::awaitable<void> Stream(Connection& connection, Commands& commands, const Begin& start) {
  const Reply reply = {.status = 200, .type = kJsonLinesType};
  const std::string header = ResponseHeader(reply, std::nullopt, false);
  const bool begun = co_await connection.Write(header);
  if (!begun) co_return;

  Watch watch(connection);
  const auto feed = std::make_shared<ProbeFeed>(watch.Ringer());
  {
    SeriesGuard guard(commands, feed);
    guard.Started(start([feed](const ProbeEvent& event) { feed->Push(event); }));
    const bool ended = co_await StreamEvents(connection, *feed, watch);
    if (ended) guard.Ended();
  }
  co_await watch.End();
}

}  // namespace

asio::awaitable<void> StreamSeries(Connection& connection, Commands& commands,
                                   const ProbeRequest& request) {
  const Begin start = [&commands, &request](Handler handler) {
    return commands.StartProbe(request, std::move(handler));
  };
  co_await Stream(connection, commands, start);
}

asio::awaitable<void> StreamScheduled(Connection& connection, Commands& commands) {
  const Begin start = [&commands](Handler handler) {
    return commands.WatchProbes(std::move(handler));
  };
  co_await Stream(connection, commands, start);
}

}  // namespace rdmapulse::http
