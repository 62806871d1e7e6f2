// YAML text as a tree of plain values with their places: what yaml-cpp says, without yaml-cpp.
// Bounded in bytes, depth and nodes. An alias shares its anchor's node, so text that unfolds to
// gigabytes stays small; a node may even contain itself. Whoever walks it follows a fixed depth.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/problem.h"

namespace rdmapulse::config {

// A configuration of 4,000 peers with labels has 400 kB.
inline constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kDocumentDepthMax = 16;       // ours needs 5
inline constexpr std::size_t kDocumentNodesMax = 200'000;  // 30 MB

struct DocumentLimits {
  std::size_t bytes = kDocumentBytesMax;
  std::size_t nodes = kDocumentNodesMax;
};

// Lines count from 1, columns (in bytes) from 1; 0: nowhere in the file.
struct Position {
  int line = 0;
  int column = 0;

  bool operator==(const Position&) const = default;
};

struct Node;

struct Child {
  std::string key;    // empty in a sequence
  Position position;  // of the key; of the item itself in a sequence
  const Node* node = nullptr;
};

struct Node {
  enum class Kind { kNull, kScalar, kSequence, kMapping };

  Kind kind = Kind::kNull;
  bool plain = false;           // a scalar without quotes
  std::string text;             // of a scalar
  std::vector<Child> children;  // in the order of the text; a mapping's keys may repeat
};

class Document {
 public:
  Document() = default;
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document() = default;

  const Node* Root() const { return root_; }  // nullptr: nothing but blanks and comments

 private:
  friend class TreeBuilder;

  std::deque<Node> nodes_;  // a deque, so that nodes stay where children point
  const Node* root_ = nullptr;
};

// The one document in `text`. What fails here is the file as a whole, so there is one problem.
tl::expected<Document, Problem> ParseDocument(std::string_view text,
                                              const DocumentLimits& limits = {});

}  // namespace rdmapulse::config
