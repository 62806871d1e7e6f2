// `rdmapulse probe` and `record`: series of probes that clients of the socket ask for, and the
// scheduled probes for those who want to see them. The methods of
// http::Commands are called on the HTTP thread and post to the loop; all else is on the loop.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "daemon/base/time.h"
#include "daemon/http/commands.h"
#include "daemon/path_trace/tracing.h"
#include "probes/prober.h"

namespace rdmapulse {

class AskedProbes : public http::Commands {
 public:
  AskedProbes(boost::asio::io_context& loop, probes::Prober& prober, path_trace::Tracing& tracing,
              std::function<bool(const std::string& peer)> configured,
              std::function<void(bool)> set_maintenance);

  std::uint64_t StartProbe(const http::ProbeRequest& request,
                           std::function<void(const http::ProbeEvent&)> handler) override;
  std::uint64_t WatchProbes(std::function<void(const http::ProbeEvent&)> handler) override;
  void CancelProbe(std::uint64_t id) override;
  void SetMaintenance(bool on) override;

  // A scheduled probe is overdue or over.
  void OnScheduled(const probes::ProbeNews& news);

  void Stop();

 private:
  struct Series {
    http::ProbeRequest request;
    std::function<void(const http::ProbeEvent&)> handler;
    boost::asio::steady_timer timer;
    std::uint32_t sent = 0;
    TimePoint next;
    bool sent_all = false;
    std::optional<bool> trace_over{};  // none: it has not begun
  };

  struct Watcher {
    std::function<void(const http::ProbeEvent&)> handler;
    // One for all its probes: the time of the posting tells which probe is over.
    std::chrono::microseconds unix_minus_monotonic;
  };

  void Begin(std::uint64_t id, const http::ProbeRequest& request,
             std::function<void(const http::ProbeEvent&)> handler);
  void Send(std::uint64_t id);
  void AfterProbe(std::uint64_t id, const probes::AskedProbe& asked);
  // The first that has been sent: by its source port.
  void BeginTrace(std::uint64_t id, std::uint16_t sport);
  void AfterTrace(std::uint64_t id, const path_trace::News& news);
  void EndIfAllIsSaid(std::uint64_t id);

  boost::asio::io_context& loop_;
  probes::Prober& prober_;
  path_trace::Tracing& tracing_;
  std::function<bool(const std::string&)> configured_;
  std::function<void(bool)> set_maintenance_;
  std::atomic<std::uint64_t> last_id_ = 0;  // the only thing the two threads share
  std::map<std::uint64_t, Series> series_;
  std::map<std::uint64_t, Watcher> watchers_;
};

}  // namespace rdmapulse
