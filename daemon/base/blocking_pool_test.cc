#include "daemon/base/blocking_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

TEST(BlockingPoolTest, WhatHasNotBegunIsDroppedAndHoldsTheLoopNoLonger) {
  boost::asio::io_context loop;
  BlockingPool pool(loop, 1);
  std::promise<void> begun;
  std::promise<void> release;
  int done = 0;
  pool.Run(
      [&begun, waits = release.get_future()]() mutable {
        begun.set_value();
        waits.wait();
        return 0;
      },
      [&done](int) { ++done; });
  bool second_ran = false;
  pool.Run([&second_ran] { return second_ran = true; }, [&done](bool) { ++done; });
  begun.get_future().wait();
  const std::future<void> releaser = std::async(std::launch::async, [&release] {
    std::this_thread::sleep_for(50ms);  // Stop is under way by then; if not, the second runs too
    release.set_value();
  });
  pool.Stop();
  loop.run_for(10s);
  EXPECT_TRUE(loop.stopped()) << "nothing is left that could come back";
  const int ran = second_ran ? 2 : 1;
  EXPECT_EQ(done, ran);
  pool.Run([] { return 0; }, [&done](int) { ++done; });
  loop.restart();
  loop.run_for(10s);
  EXPECT_TRUE(loop.stopped());
  EXPECT_EQ(done, ran) << "stopped is stopped";
}

}  // namespace
}  // namespace rdmapulse
