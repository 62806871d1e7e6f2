#include "daemon/service.h"

#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdint>
#include <utility>

namespace rdmapulse {

Service::Service(boost::asio::io_context& loop, std::function<void()> reload,
                 std::function<void()> stop)
    : signals_(loop, SIGTERM, SIGINT, SIGHUP),
      watchdog_(loop),
      reload_(std::move(reload)),
      stop_(std::move(stop)) {}

void Service::Start() {
  // A client that hangs up must not end the daemon.
  std::signal(SIGPIPE, SIG_IGN);
  WaitForSignal();
  std::uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) {
    // A quarter: three turns may be missed.
    period_ = std::chrono::microseconds(microseconds) / 4;
    FeedWatchdog();
  }
}

void Service::Ready() { sd_notify(0, "READY=1"); }

void Service::Status(const std::string& text) { sd_notifyf(0, "STATUS=%s", text.c_str()); }

void Service::Reloading() { sd_notify(0, "RELOADING=1"); }

void Service::Stop() {
  sd_notify(0, "STOPPING=1");
  signals_.cancel();
  watchdog_.cancel();
}

void Service::WaitForSignal() {
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    if (signal == SIGHUP) {
      reload_();
      WaitForSignal();
    } else {
      stop_();
    }
  });
}

void Service::FeedWatchdog() {
  sd_notify(0, "WATCHDOG=1");
  watchdog_.expires_after(period_);
  watchdog_.async_wait([this](const boost::system::error_code& error) {
    if (!error) FeedWatchdog();
  });
}

}  // namespace rdmapulse
