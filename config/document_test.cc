#include "config/document.h"

#include <gtest/gtest.h>

#include <string>

namespace rdmapulse::config {
namespace {

using Kind = Node::Kind;

// One line a node: what it is, where it stands.
void Print(const Node& node, const std::string& indent, std::string& out) {
  if (node.kind == Kind::kNull) out += " null";
  if (node.kind == Kind::kScalar) out += (node.plain ? " plain " : " quoted ") + node.text;
  if (node.kind == Kind::kSequence) out += " list";
  if (node.kind == Kind::kMapping) out += " mapping";
  out += "\n";
  for (const Child& child : node.children) {
    out += indent + std::to_string(child.position.line) + ":" +
           std::to_string(child.position.column) + " " + child.key + ":";
    Print(*child.node, indent + "  ", out);
  }
}

std::string Printed(std::string_view text) {
  const auto document = ParseDocument(text);
  if (!document) return "problem: " + document.error().message;
  std::string out;
  if (document->Root() != nullptr) Print(*document->Root(), "", out);
  return out;
}

TEST(DocumentTest, KeepsOrderPlacesAndQuotes) {
  EXPECT_EQ(Printed("b: {x: \"1\", y: 1}\n"
                    "a:\n"
                    "  - n: 'q'\n"
                    "  -\n"
                    "é: ~\n"
                    "b: again\n"),
            " mapping\n"
            "1:1 b: mapping\n"
            "  1:5 x: quoted 1\n"
            "  1:13 y: plain 1\n"
            "2:1 a: list\n"
            "  3:5 : mapping\n"
            "    3:5 n: quoted q\n"
            "  5:1 : null\n"  // yaml-cpp places an empty item where the next thing stands

            "5:1 é: null\n"
            "6:1 b: plain again\n");
}

TEST(DocumentTest, AliasStandsAtItsOwnPlace) {
  EXPECT_EQ(Printed("a: &x [1]\nb: *x\n"),
            " mapping\n1:1 a: list\n  1:8 : plain 1\n2:1 b: list\n  1:8 : plain 1\n");
}

TEST(DocumentTest, ColumnsCountBytes) {
  EXPECT_EQ(Printed("{é: 1, b: 2}"), " mapping\n1:2 é: plain 1\n1:9 b: plain 2\n");
}

TEST(DocumentTest, NothingHasNoRoot) {
  const auto document = ParseDocument("# only a comment\n");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->Root(), nullptr);
}

TEST(DocumentTest, MovingKeepsNodesInPlace) {
  auto document = ParseDocument("a: 1");
  ASSERT_TRUE(document);
  const Document moved = *std::move(document);
  std::string out;
  Print(*moved.Root(), "", out);
  EXPECT_EQ(out, " mapping\n1:1 a: plain 1\n");
}

}  // namespace
}  // namespace rdmapulse::config
