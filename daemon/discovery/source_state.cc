#include "daemon/discovery/source_state.h"

#include <utility>

namespace rdmapulse::discovery {

bool SourceState::Take(Fetched fetched, TimePoint now) {
  const bool changed = fetched.list && fetched.list->peers != list_->peers;
  if (fetched.list) list_ = std::make_shared<const TargetList>(*std::move(fetched.list));
  const bool first = !success_.has_value();
  success_ = fetched.failure.empty();
  if (*success_) good_ = now;
  if (fetched.failure != failure_) {
    failure_ = std::move(fetched.failure);
    Say(!failure_.empty(),
        (failure_.empty() ? "read again, " : failure_ + "; in use stays ") + ListText());
  } else if (changed || first) {
    Say(false, ListText());
  }
  SayProblems();
  return changed;
}

std::optional<Duration> SourceState::Age(TimePoint now) const {
  if (!good_) return std::nullopt;
  return now - *good_;
}

std::vector<SourceState::News> SourceState::TakeNews() { return std::exchange(news_, {}); }

void SourceState::Say(bool trouble, const std::string& what) {
  news_.push_back({.trouble = trouble, .text = subject_ + ": " + what});
}

void SourceState::SayProblems() {
  if (list_->problems == said_problems_) return;
  said_problems_ = list_->problems;
  for (const std::string& problem : list_->problems) Say(true, problem);
  if (list_->problem_count > list_->problems.size()) {
    Say(true, std::to_string(list_->problem_count - list_->problems.size()) +
                  " further problems are not listed");
  }
}

std::string SourceState::ListText() const {
  const std::size_t peers = list_->peers.size();
  return "a list of " + std::to_string(peers) + (peers == 1 ? " peer" : " peers");
}

}  // namespace rdmapulse::discovery
