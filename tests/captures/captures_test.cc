// Every capture, read whole and compared with what it is known to hold; see README.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/captures/capture_names.h"
#include "tests/captures/capture_text.h"
#include "tests/fakes/tree.h"

namespace rdmapulse::captures {
namespace {

// Empty in the first lines that are the same, so that a failure shows the place.
std::string FromFirstDifference(const std::string& text, const std::string& other) {
  const auto differs = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
  const auto at = static_cast<std::size_t>(differs - text.begin());
  const std::size_t line = text.rfind('\n', at == 0 ? 0 : at - 1);
  return text.substr(line == std::string::npos ? 0 : line, 600);
}

class CaptureTest : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string ReadTree(fakes::TreeLinks links) {
    return CaptureText(
        fakes::Tree::FromFile(kFolder + ("data/" + GetParam()) + ".tree", links).Root());
  }
  static std::string Golden() {
    std::ifstream file(kFolder + ("golden/" + GetParam()) + ".txt", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

TEST_P(CaptureTest, IsReadAsItIsKnownToBe) {
  const std::string read = ReadTree(fakes::TreeLinks::kAsLinks);
  const std::string golden = Golden();
  EXPECT_TRUE(read == golden) << "read:" << FromFirstDifference(read, golden)
                              << "\nknown:" << FromFirstDifference(golden, read)
                              << "\nafter a look: bazel run //tests/captures:update";
}

TEST_P(CaptureTest, IsTheSameWhereLinksWereKeptAsText) {
  const std::string read = ReadTree(fakes::TreeLinks::kAsText);
  const std::string golden = Golden();
  EXPECT_TRUE(read == golden) << "read:" << FromFirstDifference(read, golden)
                              << "\nknown:" << FromFirstDifference(golden, read);
}

INSTANTIATE_TEST_SUITE_P(Captures, CaptureTest, ::testing::ValuesIn(Names()), TestName);

TEST(CapturesTest, AreAllThere) { EXPECT_GE(Names().size(), kCapturesAtLeast); }

}  // namespace
}  // namespace rdmapulse::captures
