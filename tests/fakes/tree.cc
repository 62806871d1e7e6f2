#include "tests/fakes/tree.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>
#include <utility>

#include "daemon/base/errno_name.h"

namespace rdmapulse::fakes {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Die(std::string_view doing, const std::string& what) {
  std::cerr << "tree: " << doing << ": " << what << "\n";
  std::abort();
}

struct Separator {
  std::string_view text;
  TreeEntry::Kind kind;
};

constexpr Separator kSeparators[] = {{" = ", TreeEntry::Kind::kFile},
                                     {" -> ", TreeEntry::Kind::kLink},
                                     {" ! ", TreeEntry::Kind::kError}};

// Nothing may be written outside the root.
bool IsInside(std::string_view path) {
  return !path.empty() && path.front() != '/' && path.find("..") == std::string_view::npos;
}

Result<TreeEntry> ParseLine(std::string_view line) {
  TreeEntry entry;
  if (line.ends_with(" <<")) {
    entry.path = line.substr(0, line.size() - 3);
  } else if (line.ends_with('/')) {
    entry.kind = TreeEntry::Kind::kFolder;
    entry.path = line.substr(0, line.size() - 1);
  } else if (line.ends_with(" =")) {
    entry.path = line.substr(0, line.size() - 2);
  } else {
    const Separator* found = nullptr;
    std::size_t at = std::string_view::npos;
    for (const Separator& separator : kSeparators) {
      const std::size_t position = line.find(separator.text);
      if (position >= at) continue;
      at = position;
      found = &separator;
    }
    if (found == nullptr)
      return Fail({"neither 'path = value', 'path -> link' nor 'path ! ERROR'"});
    entry.kind = found->kind;
    entry.path = line.substr(0, at);
    entry.text = line.substr(at + found->text.size());
    if (entry.kind == TreeEntry::Kind::kFile) entry.text += '\n';
  }
  if (entry.kind == TreeEntry::Kind::kError) {
    entry.error = ErrnoNamed(std::exchange(entry.text, {})).value_or(0);
    if (entry.error == 0) return Fail({"not the name of an errno"});
  }
  if (!IsInside(entry.path)) return Fail({"the path leads out of the tree"});
  return entry;
}

// A line of the text that the last entry holds; false: it is none.
bool TakeTextLine(std::string_view line, TreeEntry& entry) {
  if (!line.starts_with('|') && !line.starts_with('\\')) return false;
  entry.text += line.substr(1);
  if (line.starts_with('|')) entry.text += '\n';
  return true;
}

}  // namespace

Result<std::vector<TreeEntry>> ParseTree(std::string_view text) {
  std::vector<TreeEntry> entries;
  int number = 0;
  bool in_text = false;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (in_text && TakeTextLine(line, entries.back())) continue;
    in_text = line.ends_with(" <<");
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto entry = ParseLine(line);
    if (!entry) {
      return Fail({"line ", std::to_string(number), ", '", line, "': ", entry.error().doing});
    }
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Tree::Tree(std::string_view text, TreeLinks links) {
  const auto entries = ParseTree(text);
  if (!entries) Die("reading the fixture", entries.error().Text());
  const char* base = std::getenv("TEST_TMPDIR");
  root_ = std::string(base != nullptr ? base : "/tmp") + "/tree.XXXXXX";
  if (mkdtemp(root_.data()) == nullptr) Die("making " + root_, std::strerror(errno));
  for (const TreeEntry& entry : *entries) {
    const std::string path = root_ + "/" + entry.path;
    std::error_code error;
    fs::create_directories(
        entry.kind == TreeEntry::Kind::kFolder ? fs::path(path) : fs::path(path).parent_path(),
        error);
    const bool link = entry.kind == TreeEntry::Kind::kLink;
    if (!error && link && links == TreeLinks::kAsLinks) fs::create_symlink(entry.text, path, error);
    if (error) Die("making " + path, error.message());
    if (link && links == TreeLinks::kAsText) Write(entry.path, entry.text + "\n");
    if (entry.kind == TreeEntry::Kind::kFile || entry.kind == TreeEntry::Kind::kError)
      Write(entry.path, entry.text);
    if (entry.kind == TreeEntry::Kind::kError) errors_[entry.path] = entry.error;
  }
}

Tree Tree::FromFile(const std::string& path, TreeLinks links) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) Die("opening the fixture", path);
  return Tree(std::string(std::istreambuf_iterator<char>(file), {}), links);
}

Tree::Tree(Tree&& other) noexcept
    : root_(std::exchange(other.root_, {})), errors_(std::move(other.errors_)) {}

Tree::~Tree() {
  if (root_.empty()) return;
  std::error_code ignored;  // a test's temporary folder is cleared anyway
  fs::remove_all(root_, ignored);
}

void Tree::Write(const std::string& path, std::string_view text) const {
  std::error_code error;
  fs::create_directories(fs::path(root_ + "/" + path).parent_path(), error);
  if (error) Die("making the folder of " + root_ + "/" + path, error.message());
  std::ofstream file(root_ + "/" + path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) Die("writing " + root_ + "/" + path, "failed");
}

void Tree::Remove(const std::string& path) const {
  std::error_code error;
  if (fs::remove_all(root_ + "/" + path, error) == 0 || error)
    Die("removing " + root_ + "/" + path, error ? error.message() : "it is not there");
}

}  // namespace rdmapulse::fakes
