// Dials one peer for as long as there is no session with it. Loop thread only.
//
// A shared_ptr holds it because its coroutine outlives Stop() until its last operation is
// cancelled. A name that the system is resolving cannot be cancelled: run() returns once the
// system's resolver has given up (resolv.conf: usually 5 to 10 s). Addresses need no resolver.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/peers/back_off.h"
#include "daemon/peers/host_port.h"
#include "daemon/peers/options.h"

namespace rdmapulse::peers {

class DiallerUser {
 public:
  virtual ~DiallerUser() = default;
  // A session is there or on its way: no dial is needed.
  virtual bool Busy() const = 0;
  virtual void OnResolved(const std::vector<boost::asio::ip::address>& addresses) = 0;
  // The user is busy with the socket from then on, until it calls Wake().
  virtual void OnConnected(boost::asio::ip::tcp::socket socket) = 0;
  virtual void OnDialFailed(const Error& error) = 0;
};

class Dialler : public std::enable_shared_from_this<Dialler> {
 public:
  // `source`: the address that our connections come from; nullopt: the system chooses.
  Dialler(boost::asio::io_context& io, const Options& options, DiallerUser& user, HostPort target,
          std::optional<boost::asio::ip::address> source);

  void Start();
  void Stop();
  void Wake() { timer_.cancel(); }  // Busy() changed
  void Reset() { back_off_.Reset(); }
  void Slow() { back_off_.Slow(); }

 private:
  using Endpoints = std::vector<boost::asio::ip::tcp::endpoint>;

  boost::asio::awaitable<void> Run(std::shared_ptr<Dialler> self);
  boost::asio::awaitable<void> WaitUntil(TimePoint until);
  boost::asio::awaitable<Result<void>> Dial();
  boost::asio::awaitable<Result<Endpoints>> Resolve();
  boost::asio::awaitable<Result<void>> ConnectTo(boost::asio::ip::tcp::endpoint endpoint);
  void GiveUpAfter(Duration timeout);

  const Timers timers_;
  const Limits limits_;
  const std::function<double()> random_;
  DiallerUser* user_;  // null once stopped
  const HostPort target_;
  const std::optional<boost::asio::ip::address> source_;
  BackOff back_off_;
  boost::asio::steady_timer timer_;  // until the next dial
  boost::asio::steady_timer deadline_;
  boost::asio::ip::tcp::resolver resolver_;
  boost::asio::ip::tcp::socket socket_;
  std::uint64_t attempt_ = 0;  // which one a late deadline was about
  bool timed_out_ = false;
};

}  // namespace rdmapulse::peers
