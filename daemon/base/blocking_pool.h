// Threads for calls that may block. Work goes out as a value and its result comes back to the loop
// as a value; nothing is shared, so nothing is locked.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <memory>
#include <utility>

#include "daemon/base/background.h"

namespace rdmapulse {

class BlockingPool {
 public:
  BlockingPool(boost::asio::io_context& loop, std::size_t threads,
               Urgency urgency = Urgency::kNormal)
      : loop_(loop),
        urgency_(urgency),
        pool_(std::make_unique<boost::asio::thread_pool>(threads)) {}

  // `work()` runs on a thread of the pool; `done(result)` on the loop, which does not end before.
  // Neither does after Stop.
  template <typename Work, typename Done>
  void Run(Work work, Done done) {
    if (!pool_) return;
    boost::asio::post(
        *pool_, [&loop = loop_, guard = boost::asio::make_work_guard(loop_), urgency = urgency_,
                 work = std::move(work), done = std::move(done)]() mutable {
          if (urgency == Urgency::kBackground) YieldToTheLoop();
          auto result = work();
          boost::asio::post(loop, [done = std::move(done), result = std::move(result)]() mutable {
            done(std::move(result));
          });
        });
  }

  // Waits for what runs; what has not begun is dropped.
  void Stop() {
    if (!pool_) return;
    pool_->stop();
    pool_->join();
    // What is queued goes with it: it would hold the loop for ever.
    pool_.reset();
  }

 private:
  boost::asio::io_context& loop_;
  Urgency urgency_;
  std::unique_ptr<boost::asio::thread_pool> pool_;
};

}  // namespace rdmapulse
