// Something that blocks, on a thread that it has for itself or shares with what it would wait for
// anyway.
#pragma once

#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/base/blocking_pool.h"
#include "daemon/base/time.h"

namespace rdmapulse {

using Worker = std::shared_ptr<BlockingPool>;
// A thread that gives way to the loop's.
inline Worker NewWorker(boost::asio::io_context& loop) {
  return std::make_shared<BlockingPool>(loop, 1, Urgency::kBackground);
}

// Lends its State to its worker for one piece of work at a time; while that is out nothing queues
// up behind it. Loop thread only, but for the work. It must outlive work that is out: who is done
// with it retires it and keeps it until that is home. The worker's last owner waits for what runs.
template <typename State>
class BlockingReader {
 public:
  BlockingReader(Worker worker, std::unique_ptr<State> state)
      : state_(std::move(state)), worker_(std::move(worker)) {}
  BlockingReader(const BlockingReader&) = delete;
  BlockingReader& operator=(const BlockingReader&) = delete;

  // Since when the work is out; nullopt: the State is here.
  std::optional<TimePoint> OutSince() const {
    return state_ == nullptr ? std::optional(out_since_) : std::nullopt;
  }

  // `work(State&)` runs on the thread, `done(result)` on the loop. False: earlier work is out.
  template <typename Work, typename Done>
  bool Run(TimePoint now, Work work, Done done) {
    if (state_ == nullptr || retired_) return false;
    out_since_ = now;
    worker_->Run(
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
  Worker worker_;
};

}  // namespace rdmapulse
