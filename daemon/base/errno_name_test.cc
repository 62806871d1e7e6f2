#include "daemon/base/errno_name.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rdmapulse {
namespace {

TEST(ErrnoNameTest, EveryErrorIsFoundByItsName) {
  for (int error = -1; error < 600; ++error) {
    const auto name = ErrnoName(error);
    EXPECT_TRUE(name.empty() || ErrnoNamed(name) == error) << name;
  }
  EXPECT_EQ(ErrnoName(EINVAL), "EINVAL");
  EXPECT_EQ(ErrnoName(0), "");
  EXPECT_EQ(ErrnoName(520), "");
}

TEST(ErrnoNameTest, TheKernelsOwnHaveNamesToo) {
  EXPECT_EQ(ErrnoName(524), "ENOTSUPP");
  EXPECT_EQ(ErrnoNamed("ERESTARTSYS"), 512);
}

TEST(ErrnoNameTest, SecondNamesAreOfTheSameError) {
  EXPECT_EQ(ErrnoNamed("ENOTSUP"), EOPNOTSUPP);
  EXPECT_EQ(ErrnoNamed("EWOULDBLOCK"), EAGAIN);
  EXPECT_EQ(ErrnoNamed("EDEADLOCK"), EDEADLK);
}

TEST(ErrnoNameTest, WhatIsNoNameIsNone) {
  for (const char* const word : {"", "EWRONG", "einval", "22", "SUCCESS"})
    EXPECT_EQ(ErrnoNamed(word), std::nullopt) << word;
}

}  // namespace
}  // namespace rdmapulse
