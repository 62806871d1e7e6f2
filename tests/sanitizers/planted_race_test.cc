#include <gtest/gtest.h>

#include <thread>

namespace {

TEST(PlantedRaceTest, TwoThreadsCountWithoutAgreeing) {
  int count = 0;
  const auto count_up = [&count] {
    for (int i = 0; i < 100'000; ++i) ++count;
  };
  std::thread other(count_up);
  count_up();
  other.join();
  EXPECT_GT(count, 0);
}

}  // namespace
