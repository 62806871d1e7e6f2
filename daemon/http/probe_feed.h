// Hands one series' events from the loop thread to the HTTP thread. The only object of this package
// that two threads touch, hence the lock; it outlives either side, since both hold it.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>

#include "daemon/http/commands.h"

namespace rdmapulse::http {

class ProbeFeed {
 public:
  // A minute of the fastest series; a client that is further behind does not read.
  static constexpr std::size_t kEventsMax = 6000;

  // `wake` is called on the loop thread for every event, with the lock held: it must only hand over
  // to the HTTP thread. It is neither called nor kept after Close, so it may use what Close's
  // caller owns.
  explicit ProbeFeed(std::function<void()> wake);

  // Loop thread. Past kEventsMax the series ends with an error; after its end or Close events are
  // dropped.
  void Push(const ProbeEvent& event);

  // HTTP thread. nullopt: nothing has come since.
  std::optional<ProbeEvent> Pop();

  // HTTP thread: nobody listens any more.
  void Close();

 private:
  std::mutex mutex_;
  std::function<void()> wake_;
  std::deque<ProbeEvent> events_;
  bool ended_ = false;
};

}  // namespace rdmapulse::http
