#include "daemon/asked_probes.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cstddef>
#include <utility>
#include <variant>

#include "daemon/base/unix_time.h"

namespace rdmapulse {
namespace {

constexpr std::size_t kSeriesMax = 32;
constexpr std::size_t kWatchersMax = 4;
constexpr auto kFirstReply = std::chrono::seconds(1);  // before a trace begins, if none comes

std::uint64_t UnixMicroseconds(TimePoint time, std::chrono::microseconds unix_minus_monotonic) {
  const auto since_boot =
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch());
  return static_cast<std::uint64_t>((since_boot + unix_minus_monotonic).count());
}

}  // namespace

AskedProbes::AskedProbes(boost::asio::io_context& loop, probes::Prober& prober,
                         path_trace::Tracing& tracing,
                         std::function<bool(const std::string&)> configured,
                         std::function<void(bool)> set_maintenance)
    : loop_(loop),
      prober_(prober),
      tracing_(tracing),
      configured_(std::move(configured)),
      set_maintenance_(std::move(set_maintenance)) {}

std::uint64_t AskedProbes::StartProbe(const http::ProbeRequest& request,
                                      std::function<void(const http::ProbeEvent&)> handler) {
  const std::uint64_t id = ++last_id_;
  boost::asio::post(loop_, [this, id, request, handler = std::move(handler)]() mutable {
    Begin(id, request, std::move(handler));
  });
  return id;
}

std::uint64_t AskedProbes::WatchProbes(std::function<void(const http::ProbeEvent&)> handler) {
  const std::uint64_t id = ++last_id_;
  boost::asio::post(loop_, [this, id, handler = std::move(handler)]() mutable {
    if (watchers_.size() >= kWatchersMax) {
      handler(http::ProbeDone{"too many watch the probes already"});
    } else {
      watchers_.emplace(id, Watcher{std::move(handler), UnixMinusMonotonic()});
    }
  });
  return id;
}

void AskedProbes::CancelProbe(std::uint64_t id) {
  boost::asio::post(loop_, [this, id] {
    series_.erase(id);
    watchers_.erase(id);
  });
}

void AskedProbes::SetMaintenance(bool on) {
  boost::asio::post(loop_, [this, on] { set_maintenance_(on); });
}

void AskedProbes::Stop() {
  series_.clear();
  watchers_.clear();
}

void AskedProbes::OnScheduled(const probes::ProbeNews& news) {
  if (watchers_.empty()) return;
  http::ProbeSeen seen{.peer = news.key.peer,
                       .device = news.key.local.device,
                       .port = news.key.local.port,
                       .op = news.op,
                       .traffic_class = news.key.traffic_class,
                       .sport = news.sport};
  if (news.end) {
    seen.over = true;
    seen.outcome = news.end->outcome;
    seen.rtt = news.end->rtt;
    seen.responder = news.end->responder;
    seen.status = news.end->status;
  }
  for (const auto& [id, watcher] : watchers_) {
    if (news.end) seen.learned_us = UnixMicroseconds(Clock::now(), watcher.unix_minus_monotonic);
    seen.time_us = UnixMicroseconds(news.posted, watcher.unix_minus_monotonic);
    watcher.handler(seen);
  }
}

void AskedProbes::Begin(std::uint64_t id, const http::ProbeRequest& request,
                        std::function<void(const http::ProbeEvent&)> handler) {
  if (!configured_(request.peer)) {
    handler(http::ProbeDone{"no peer " + request.peer +
                            " is configured here; `rdmapulse peers` lists them"});
    return;
  }
  if (series_.size() >= kSeriesMax) {
    handler(http::ProbeDone{"too many probe series run already"});
    return;
  }
  series_.emplace(id, Series{.request = request,
                             .handler = std::move(handler),
                             .timer = boost::asio::steady_timer(loop_),
                             .sent = 0,
                             .next = Clock::now()});
  if (request.trace) {
    // A path that answers nothing is worth a trace all the more.
    boost::asio::steady_timer& timer = series_.at(id).timer;
    timer.expires_after(kFirstReply);
    timer.async_wait([this, id](const boost::system::error_code& error) {
      if (!error) BeginTrace(id, 0);
    });
  }
  Send(id);
}

void AskedProbes::Send(std::uint64_t id) {
  const auto found = series_.find(id);
  if (found == series_.end()) return;
  Series& series = found->second;
  ++series.sent;
  series.next += series.request.interval;
  prober_.Ask(series.request.peer, series.request.op, series.request.traffic_class,
              [this, id](const probes::AskedProbe& asked) { AfterProbe(id, asked); });
}

void AskedProbes::AfterProbe(std::uint64_t id, const probes::AskedProbe& asked) {
  const auto found = series_.find(id);
  if (found == series_.end()) return;
  Series& series = found->second;
  const TimePoint now = Clock::now();
  series.handler(http::ProbeReply{
      .seq = series.sent,
      .time_us = UnixMicroseconds(asked.posted.value_or(now), UnixMinusMonotonic()),
      .op = asked.op,
      .outcome = asked.outcome,
      .status = asked.status,
      .rtt = asked.rtt,
      .responder = asked.responder,
      .sport = asked.sport,
      .note = asked.note});
  series.sent_all = series.request.count != 0 && series.sent >= series.request.count;
  if (series.request.trace) BeginTrace(id, asked.sport);
  if (series.sent_all) return EndIfAllIsSaid(id);
  // A probe that took longer than the interval delays the next; nothing is made up for.
  series.next = std::max(series.next, now);
  series.timer.expires_at(series.next);
  series.timer.async_wait([this, id](const boost::system::error_code& error) {
    if (!error) Send(id);
  });
}

void AskedProbes::BeginTrace(std::uint64_t id, std::uint16_t sport) {
  const auto found = series_.find(id);
  if (found == series_.end() || found->second.trace_over) return;
  Series& series = found->second;
  series.trace_over = false;
  tracing_.Ask(
      series.request.peer, series.request.traffic_class,
      [this, id](const path_trace::News& news) { AfterTrace(id, news); }, sport);
}

void AskedProbes::AfterTrace(std::uint64_t id, const path_trace::News& news) {
  const auto found = series_.find(id);
  if (found == series_.end()) return;
  found->second.handler(news);
  if (!std::holds_alternative<path_trace::Ended>(news)) return;
  found->second.trace_over = true;
  EndIfAllIsSaid(id);
}

void AskedProbes::EndIfAllIsSaid(std::uint64_t id) {
  const auto found = series_.find(id);
  if (found == series_.end()) return;
  const Series& series = found->second;
  if (!series.sent_all || (series.request.trace && !series.trace_over.value_or(false))) return;
  series.handler(http::ProbeDone{});
  series_.erase(found);
}

}  // namespace rdmapulse
