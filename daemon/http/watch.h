// For a coroutine that waits for somebody else than its client: a bell that the other side rings,
// and the news that the client is gone, without which nobody would notice while nothing comes. HTTP
// thread only; HTTP package only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>

#include "daemon/http/connection.h"

namespace rdmapulse::http {

class Watch {
 public:
  // What the client sends from here on is thrown away.
  explicit Watch(Connection& connection);

  bool gone() const { return *gone_; }
  // Rings the bell. May be called on any thread as long as the server lives.
  std::function<void()> Ringer() const;
  // Until it rings, the client goes, or that time has come.
  boost::asio::awaitable<void> Wait(TimePoint until = TimePoint::max());
  // Closes the connection and waits until the watch has let go of it. To be awaited in any case.
  boost::asio::awaitable<void> End();

 private:
  // Its timer ends a wait when it is cancelled.
  using Bell = std::shared_ptr<boost::asio::steady_timer>;

  Connection& connection_;
  Bell bell_;
  std::shared_ptr<bool> gone_ = std::make_shared<bool>(false);
};

}  // namespace rdmapulse::http
