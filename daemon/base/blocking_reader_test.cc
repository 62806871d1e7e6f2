#include "daemon/base/blocking_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <thread>

namespace rdmapulse {
namespace {

using namespace std::chrono_literals;

struct Counter {
  int value = 0;
};

TEST(BlockingReaderTest, LendsItsStateAndGetsItBack) {
  boost::asio::io_context loop;
  BlockingReader<Counter> reader(NewWorker(loop), std::make_unique<Counter>());
  const TimePoint start = Clock::now();
  int seen = 0;
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(reader.Run(
        start, [](Counter& counter) { return ++counter.value; },
        [&seen](int value) { seen = value; }));
    EXPECT_EQ(reader.OutSince(), start);
    loop.run();
    loop.restart();
    EXPECT_EQ(seen, i);
    EXPECT_EQ(reader.OutSince(), std::nullopt);
  }
}

TEST(BlockingReaderTest, NothingQueuesUpBehindWorkThatIsOut) {
  boost::asio::io_context loop;
  BlockingReader<Counter> reader(NewWorker(loop), std::make_unique<Counter>());
  std::promise<void> answer;
  ASSERT_TRUE(reader.Run(
      {},
      [waits = answer.get_future()](Counter&) mutable {
        waits.wait();
        return 0;
      },
      [](int) {}));
  EXPECT_FALSE(reader.Run(
      {}, [](Counter&) { return 0; }, [](int) {}));
  answer.set_value();
  loop.run();
}

TEST(BlockingReaderTest, ARetiredOneReportsNothingMoreAndSendsNothingOut) {
  boost::asio::io_context loop;
  BlockingReader<Counter> reader(NewWorker(loop), std::make_unique<Counter>());
  std::promise<void> answer;
  bool reported = false;
  ASSERT_TRUE(reader.Run(
      {},
      [waits = answer.get_future()](Counter&) mutable {
        waits.wait();
        return 0;
      },
      [&reported](int) { reported = true; }));
  reader.Retire();
  EXPECT_TRUE(reader.OutSince().has_value());
  answer.set_value();
  loop.run();
  EXPECT_FALSE(reported);
  EXPECT_EQ(reader.OutSince(), std::nullopt) << "home, so that it may go";
  EXPECT_FALSE(reader.Run(
      {}, [](Counter&) { return 0; }, [](int) {}));
}

}  // namespace
}  // namespace rdmapulse
