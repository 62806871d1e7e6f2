#include "config/report.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "config/wording.h"

namespace rdmapulse::config {
namespace {

bool ByPlace(const Problem& a, const Problem& b) {
  return std::tie(a.line, a.column) < std::tie(b.line, b.column);
}

// "peers[2].address" → "peers[2]" → "peers" → "".
std::string_view Around(std::string_view key) {
  const std::size_t cut = key.find_last_of(".[");
  return key.substr(0, cut == std::string_view::npos ? 0 : cut);
}

bool IsWord(std::string_view name) {
  constexpr std::string_view kWord =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !name.empty() && name.size() <= 40 && name.find_first_not_of(kWord) == name.npos;
}

}  // namespace

std::string Under(const std::string& key, std::string_view name) {
  const std::string last = IsWord(name) ? std::string(name) : Quoted(name);
  return key.empty() ? last : key + "." + last;
}

void Report::Locate(const std::string& key, Position position) {
  positions_.insert_or_assign(key, position);
}

void Report::Error(const std::string& key, std::string message) {
  ErrorAt(PositionOf(key), key, std::move(message));
}

void Report::Warn(const std::string& key, std::string message) {
  const Position position = PositionOf(key);
  Add({position.line, position.column, key, std::move(message), /*warning=*/true});
}

void Report::ErrorAt(Position position, const std::string& key, std::string message) {
  for (std::string_view failed = key; !failed.empty(); failed = Around(failed)) {
    failed_.emplace(failed);
  }
  Add({position.line, position.column, key, std::move(message), /*warning=*/false});
}

bool Report::Failed(const std::string& key) const { return failed_.contains(key); }

Position Report::PositionOf(std::string_view key) const {
  for (; !key.empty(); key = Around(key)) {
    const auto found = positions_.find(key);
    if (found != positions_.end()) return found->second;
  }
  return {};
}

std::vector<Problem> Report::Sorted() const {
  std::vector<Problem> sorted = problems_;
  if (dropped_ > 0) sorted.push_back(first_dropped_);
  std::stable_sort(sorted.begin(), sorted.end(), ByPlace);
  return sorted;
}

void Report::Add(Problem problem) {
  if (problems_.size() < kProblemsMax) {
    problems_.push_back(std::move(problem));
    return;
  }
  const bool warning = problem.warning && (dropped_ == 0 || first_dropped_.warning);
  if (++dropped_ == 1) first_dropped_ = std::move(problem);
  first_dropped_.key.clear();
  first_dropped_.warning = warning;
  first_dropped_.message =
      "this and further problems, " + std::to_string(dropped_) + " in all, are not listed";
}

}  // namespace rdmapulse::config
