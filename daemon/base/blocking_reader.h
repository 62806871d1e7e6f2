// Something that blocks, with a thread of its own.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/base/blocking_pool.h"
#include "daemon/base/time.h"

namespace rdmapulse {

// Lends its State to its thread for one piece of work at a time; while that is out nothing queues
// up behind it. Loop thread only, but for the work. Its destructor waits for work that is out, so
// who cannot wait retires it and keeps it until it is home again.
template <typename State>
class BlockingReader {
 public:
  BlockingReader(boost::asio::io_context& loop, std::unique_ptr<State> state)
      : state_(std::move(state)), pool_(loop, 1, Urgency::kBackground) {}
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;
  ~BlockingReader() { pool_.Stop(); }

  // Since when the work is out; nullopt: the State is here.
  std::optional<TimePoint> OutSince() const {
    return state_ == nullptr ? std::optional(out_since_) : std::nullopt;
  }

  // `work(State&)` runs on the thread, `done(result)` on the loop. False: earlier work is out.
  template <typename Work, typename Done>
  bool Run(TimePoint now, Work work, Done done) {
    if (state_ == nullptr || retired_) return false;
    out_since_ = now;
    pool_.Run(
        [state = std::move(state_), work = std::move(work)]() mutable {
          auto result = work(*state);
          return std::pair(std::move(state), std::move(result));
        },
        [this, done = std::move(done)](auto returned) mutable {
          state_ = std::move(returned.first);
          if (!retired_) done(std::move(returned.second));
        });
    return true;
  }

  // What comes home is not reported any more, and nothing goes out.
  void Retire() { retired_ = true; }

 private:
  std::unique_ptr<State> state_;  // null while it is out
  TimePoint out_since_{};
  bool retired_ = false;
  BlockingPool pool_;
};

}  // namespace rdmapulse
