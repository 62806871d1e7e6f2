#include "config/document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

Position PositionOf(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {mark.line + 1, mark.column + 1};
}

Problem ProblemAt(Position position, std::string message) {
  return {position.line, position.column, {}, std::move(message), /*warning=*/false};
}

// yaml-cpp reads past bytes that YAML forbids, and ends quietly at some: they never get there.
std::optional<Problem> BadByte(std::string_view text) {
  Position position{1, 1};
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const std::size_t length = Utf8Length(text, at);
    if (length == 0) {
      return ProblemAt(position, "the byte \"" + Shown(text.substr(at, 1)) +
                                     "\" is not UTF-8; save the file as UTF-8");
    }
    const bool blank = c == '\t' || c == '\n' || c == '\r';
    if ((static_cast<unsigned char>(c) < 0x20 && !blank) || c == 0x7F) {
      return ProblemAt(position, "a control character (" + Shown(text.substr(at, 1)) +
                                     ") does not belong in a configuration; delete it");
    }
    position = c == '\n' ? Position{position.line + 1, 1}
                         : Position{position.line, position.column + static_cast<int>(length)};
    at += length;
  }
  return std::nullopt;
}

// yaml-cpp lets an open quote swallow the rest of the file if that ends with a line end, and says
// so only if it does not. So this comment comes last.
constexpr std::string_view kLastLine = "\n#";
constexpr std::string_view kOpenQuote = "illegal EOF in scalar";

// What yaml-cpp's sentence means to somebody who wrote a configuration.
std::string Meaning(const std::string& message) {
  struct Translation {
    std::string_view from;
    std::string_view to;
  };
  constexpr std::array<Translation, 6> kTranslations = {{
      {"end of sequence flow not found",
       "a list that begins with [ has no ], or a comma is missing"},
      {"end of map flow not found", "a mapping that begins with { has no }, or a comma is missing"},
      {"end of sequence not found", "the indentation does not fit the lines above"},
      {"end of map not found", "the indentation does not fit the lines above"},
      {"illegal map value",
       "a colon stands where no value can; check the indentation, and quote texts that hold \": "
       "\""},
      {"alias not found after *", "a text that begins with * needs quotes"},
  }};
  for (const Translation& translation : kTranslations) {
    if (message == translation.from) return std::string(translation.to);
  }
  return "this is not YAML: " + message;
}

}  // namespace

// Builds the tree from the parser's events. The first thing that is wrong stays; what comes after
// is passed over.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(Document& document, std::size_t nodes_max)
      : document_(document), nodes_max_(nodes_max) {}

  const std::optional<Problem>& FirstProblem() const { return problem_; }
  Position Last() const { return last_; }  // of the last value that was whole

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Stop(mark, "a second YAML document begins here; a file holds one");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (!problem_) Attach(mark, anchor, {Node::Kind::kNull, /*plain=*/false, {}, {}});
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    if (problem_ || Tagged(mark, tag)) return;
    Attach(mark, anchor, {Node::Kind::kScalar, /*plain=*/tag == "?", value, {}});
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (problem_) return;
    if (anchor >= anchors_.size() || anchors_[anchor] == nullptr) {
      return Stop(mark, "this alias stands for nothing");
    }
    Place(mark, anchors_[anchor]);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, Node::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Open(mark, tag, anchor, Node::Kind::kMapping);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Frame {
    Node* node = nullptr;
    std::optional<Child> key;  // of a mapping: read, its value still to come
  };

  void Stop(const YAML::Mark& mark, std::string message) {
    if (!problem_) problem_ = ProblemAt(PositionOf(mark), std::move(message));
  }

  // "?" is a plain value, "!" a quoted one. Others ask for types that no option has.
  bool Tagged(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return false;
    Stop(mark, "tags (" + Shown(tag) + ") are not used in this file; write the plain value");
    return true;
  }

  Node* Attach(const YAML::Mark& mark, YAML::anchor_t anchor, Node made) {
    if (document_.nodes_.size() >= nodes_max_) {
      Stop(mark, "the file holds more than " + std::to_string(nodes_max_) + " values");
      return nullptr;
    }
    Node* const node = &document_.nodes_.emplace_back(std::move(made));
    if (anchor != 0) {
      if (anchor >= anchors_.size()) anchors_.resize(anchor + 1);
      anchors_[anchor] = node;
    }
    Place(mark, node);
    return problem_ ? nullptr : node;
  }

  void Place(const YAML::Mark& mark, const Node* node) {
    last_ = PositionOf(mark);
    if (open_.empty()) {
      document_.root_ = node;
      return;
    }
    Frame& parent = open_.back();
    if (parent.node->kind == Node::Kind::kSequence) {
      parent.node->children.push_back({{}, PositionOf(mark), node});
    } else if (parent.key) {
      parent.key->node = node;
      parent.node->children.push_back(*std::exchange(parent.key, std::nullopt));
    } else if (node->kind == Node::Kind::kScalar || node->kind == Node::Kind::kNull) {
      parent.key = Child{node->text, PositionOf(mark), nullptr};
    } else {
      Stop(mark, "a key must be a word, not a list or a mapping");
    }
  }

  void Open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            Node::Kind kind) {
    if (problem_ || Tagged(mark, tag)) return;
    if (open_.size() >= kDocumentDepthMax) {
      return Stop(mark, "nested more than " + std::to_string(kDocumentDepthMax) +
                            " levels deep; no option needs that");
    }
    if (Node* const node = Attach(mark, anchor, {kind, /*plain=*/false, {}, {}}))
      open_.push_back({node, {}});
  }

  void Close() {
    if (!problem_ && !open_.empty()) open_.pop_back();
  }

  Document& document_;
  const std::size_t nodes_max_;
  std::vector<Frame> open_;
  std::vector<const Node*> anchors_;  // by yaml-cpp's number of the anchor; 0 is none
  int documents_ = 0;
  Position last_{1, 1};
  std::optional<Problem> problem_;
};

tl::expected<Document, Problem> ParseDocument(std::string_view text, const DocumentLimits& limits) {
  if (text.size() > limits.bytes) {
    return tl::unexpected(ProblemAt({}, "the file has more than " +
                                            std::to_string(limits.bytes >> 20) +
                                            " MiB; that is no configuration of this program"));
  }
  if (std::optional<Problem> bad = BadByte(text)) return tl::unexpected(*std::move(bad));

  Document document;
  TreeBuilder builder(document, limits.nodes);
  try {
    std::istringstream stream{std::string(text).append(kLastLine)};
    YAML::Parser parser(stream);
    while (!builder.FirstProblem() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    // The tree's own limits are reached before the parser's, and say more.
    if (!builder.FirstProblem()) {
      if (error.msg == kOpenQuote) {
        return tl::unexpected(
            ProblemAt(builder.Last(), "a quote that opens here or below is never closed"));
      }
      return tl::unexpected(ProblemAt(PositionOf(error.mark), Meaning(error.msg)));
    }
  } catch (const std::exception& error) {
    return tl::unexpected(ProblemAt({}, std::string("the YAML parser gave up: ") + error.what()));
  }
  if (builder.FirstProblem()) return tl::unexpected(*builder.FirstProblem());
  return document;
}

}  // namespace rdmapulse::config
