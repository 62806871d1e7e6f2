#include <gtest/gtest.h>

#include <memory>

namespace {

TEST(PlantedOverflowTest, ReadsOneByteTooFar) {
  const auto bytes = std::make_unique<char[]>(8);
  const volatile int index = 8;
  EXPECT_GE(bytes[static_cast<unsigned>(index)], -128);
}

}  // namespace
