// Path traces on the loop: the tracer, its sockets and its timer. Loop thread only.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/path_trace/raw_sockets.h"
#include "daemon/path_trace/tracer.h"

namespace rdmapulse::path_trace {

TracerSettings SettingsOf(const config::Config& config);

class Tracing {
 public:
  Tracing(boost::asio::io_context& loop, const config::Config& config,
          std::function<void(const std::string&)> journal);

  void Configure(const config::Config& config);
  void OnPaths(const std::vector<probes::PathSnapshot>& paths);
  // As Tracer's.
  void Ask(const std::string& peer, probes::Class traffic_class, Tracer::Listener listener,
           std::uint16_t sport = 0);
  std::shared_ptr<const Routes> routes() { return tracer_.routes(); }
  // Nobody hears of anything any more.
  void Stop();

 private:
  void Arm();

  boost::asio::steady_timer timer_;
  RawSockets sockets_;
  Tracer tracer_;
  bool stopping_ = false;
};

}  // namespace rdmapulse::path_trace
