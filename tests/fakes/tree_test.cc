#include "tests/fakes/tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rdmapulse::fakes {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using Kind = TreeEntry::Kind;

std::string Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ParseTreeTest, KnowsEveryKindOfLine) {
  const auto entries = ParseTree(
      "# mlx5, kernel 6.1\n"
      "\n"
      "a/state = 4: ACTIVE\n"
      "a/Nak Sequence Error = 7\n"
      "a/empty =\n"
      "a/folder/\n"
      "a/link -> ../b\n"
      "a/bad ! EINVAL");
  ASSERT_TRUE(entries.has_value()) << entries.error().Text();
  EXPECT_THAT(*entries, ElementsAre(TreeEntry{Kind::kFile, "a/state", "4: ACTIVE\n", 0},
                                    TreeEntry{Kind::kFile, "a/Nak Sequence Error", "7\n", 0},
                                    TreeEntry{Kind::kFile, "a/empty", "", 0},
                                    TreeEntry{Kind::kFolder, "a/folder", "", 0},
                                    TreeEntry{Kind::kLink, "a/link", "../b", 0},
                                    TreeEntry{Kind::kError, "a/bad", "", EINVAL}));
}

TEST(ParseTreeTest, TextsOfSeveralLinesAreKeptAsTheyAre) {
  const auto entries =
      ParseTree("a/b.txt <<\n|head:  \n|\n|# x = 1 \r\n\\cut\na/empty <<\nc <<\n|last");
  ASSERT_TRUE(entries.has_value()) << entries.error().Text();
  EXPECT_THAT(*entries,
              ElementsAre(TreeEntry{Kind::kFile, "a/b.txt", "head:  \n\n# x = 1 \r\ncut", 0},
                          TreeEntry{Kind::kFile, "a/empty", "", 0},
                          TreeEntry{Kind::kFile, "c", "last\n", 0}));
  EXPECT_EQ(ParseTree("|x").error().doing,
            "line 1, '|x': neither 'path = value', 'path -> link' nor 'path ! ERROR'");
}

TEST(ParseTreeTest, FirstSeparatorSplitsTheLine) {
  const auto entries = ParseTree("a = b -> c ! d\n");
  ASSERT_TRUE(entries.has_value()) << entries.error().Text();
  EXPECT_THAT(*entries, ElementsAre(TreeEntry{Kind::kFile, "a", "b -> c ! d\n", 0}));
}

TEST(ParseTreeTest, NamesTheLineThatItCannotUse) {
  EXPECT_EQ(ParseTree("a = 1\nwhat is this\n").error().doing,
            "line 2, 'what is this': neither 'path = value', 'path -> link' nor 'path ! ERROR'");
  EXPECT_EQ(ParseTree("a ! EWHATEVER").error().doing,
            "line 1, 'a ! EWHATEVER': not the name of an errno");
  EXPECT_EQ(ParseTree("../a = 1").error().doing,
            "line 1, '../a = 1': the path leads out of the tree");
  EXPECT_EQ(ParseTree("/etc/a = 1").error().doing,
            "line 1, '/etc/a = 1': the path leads out of the tree");
}

TEST(TreeTest, ExpandsAndGoesAway) {
  std::string root;
  {
    const Tree tree("real/value = 1\nlink -> real\nbad ! EIO\nfolder/\n");
    root = tree.Root();
    EXPECT_EQ(Content(root + "/link/value"), "1\n");
    EXPECT_TRUE(std::filesystem::is_directory(root + "/folder"));
    EXPECT_THAT(tree.Errors(), UnorderedElementsAre(Pair("bad", EIO)));
  }
  EXPECT_FALSE(std::filesystem::exists(root));
}

TEST(TreeTest, MakesTextOfLinks) {
  const Tree tree("real/value = 1\nlink -> ../real\n", TreeLinks::kAsText);
  EXPECT_EQ(Content(tree.Root() + "/link"), "../real\n");
}

TEST(TreeTest, ChangesWhileItIsRead) {
  const Tree tree("a/x = 1\na/y = 2\n");
  std::ifstream open_before(tree.Root() + "/a/x", std::ios::binary);
  tree.Write("a/x", "3\n");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(open_before), {}), "3\n");
  tree.Remove("a");
  EXPECT_FALSE(std::filesystem::exists(tree.Root() + "/a"));
}

TEST(TreeDeathTest, BadFixtureEndsTheProgram) {
  EXPECT_DEATH(Tree("nonsense"), "reading the fixture: line 1, 'nonsense'");
  EXPECT_DEATH(Tree::FromFile("no/such.tree"), "opening the fixture: no/such.tree");
}

}  // namespace
}  // namespace rdmapulse::fakes
