// The process's manners towards its service manager: signals, readiness, the watchdog.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "daemon/base/time.h"

namespace rdmapulse {

// On the loop, so that a loop that hangs feeds no watchdog and systemd restarts it (sd_notify(3)).
class Service {
 public:
  Service(boost::asio::io_context& loop, std::function<void()> reload, std::function<void()> stop);

  void Start();
  void Ready();
  void Status(const std::string& text);  // what `systemctl status` shows
  void Reloading();
  void Stop();

 private:
  void WaitForSignal();
  void FeedWatchdog();

  boost::asio::signal_set signals_;
  boost::asio::steady_timer watchdog_;
  std::function<void()> reload_;
  std::function<void()> stop_;
  Duration period_{};  // zero: no watchdog asked for
};

}  // namespace rdmapulse
