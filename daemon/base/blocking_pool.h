// Threads for calls that may block. Work goes out as a value and its result comes back to the loop
// as a value; nothing is shared, so nothing is locked.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstddef>
#include <utility>

#include "daemon/base/background.h"

namespace rdmapulse {

class BlockingPool {
 public:
  BlockingPool(boost::asio::io_context& loop, std::size_t threads,
               Urgency urgency = Urgency::kNormal)
      : loop_(loop), urgency_(urgency), pool_(threads) {}

  // `work()` runs on a thread of the pool; `done(result)` on the loop, which does not end before.
  template <typename Work, typename Done>
  void Run(Work work, Done done) {
    boost::asio::post(
        pool_, [&loop = loop_, guard = boost::asio::make_work_guard(loop_), urgency = urgency_,
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
    pool_.stop();
    pool_.join();
  }

 private:
  boost::asio::io_context& loop_;
  Urgency urgency_;
  boost::asio::thread_pool pool_;
};

}  // namespace rdmapulse
