// One GET of a list of peers as Prometheus' http_sd_configs asks for it: status 200,
// `Content-Type: application/json`, and the header X-Prometheus-Refresh-Interval-Seconds, which
// tells the server how often we come. Loop thread only.
//
// A shared_ptr holds it because its coroutine outlives Stop() until its last operation is
// cancelled.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <string>

#include "config/source_entries.h"
#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::discovery {

class HttpFetch : public std::enable_shared_from_this<HttpFetch> {
 public:
  // The body, at most kListBytesMax.
  using Done = std::function<void(Result<std::string>)>;

  struct Options {
    Duration refresh = std::chrono::minutes(1);   // what the header says
    Duration timeout = std::chrono::seconds(10);  // for all of it
  };

  // `done` is called once, later, unless Stop() comes first.
  static std::shared_ptr<HttpFetch> Start(boost::asio::io_context& io, config::HttpUrl url,
                                          const Options& options, Done done);
  void Stop();

  HttpFetch(boost::asio::io_context& io, config::HttpUrl url, const Options& options, Done done);

 private:
  boost::asio::awaitable<void> Run(std::shared_ptr<HttpFetch> self);
  boost::asio::awaitable<Result<std::string>> Get();
  boost::asio::awaitable<Result<void>> Connect();
  Result<std::string> TimedOut() const;
  void OnDeadline();

  const config::HttpUrl url_;
  const Options options_;
  Done done_;  // empty once stopped
  boost::asio::steady_timer deadline_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  bool timed_out_ = false;
};

}  // namespace rdmapulse::discovery
