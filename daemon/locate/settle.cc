#include "daemon/locate/settle.h"

#include <algorithm>
#include <utility>

namespace rdmapulse::locate {
namespace {

// Two windows may rank the parts of one set differently.
bool Same(const Suspect& a, const Suspect& b) {
  if (a.trouble != b.trouble || a.traffic_class != b.traffic_class) return false;
  return std::any_of(a.parts.begin(), a.parts.end(), [&b](const Part& part) {
    return std::find(b.parts.begin(), b.parts.end(), part) != b.parts.end();
  });
}

const Suspect* Find(const std::vector<Suspect>& suspects, const Suspect& wanted) {
  const auto found =
      std::find_if(suspects.begin(), suspects.end(),
                   [&wanted](const Suspect& suspect) { return Same(suspect, wanted); });
  return found == suspects.end() ? nullptr : &*found;
}

// One suspect followed through the windows.
class Track {
 public:
  explicit Track(const Settings& settings) : settings_(settings) {}

  void Add(const Suspect* named) {
    recent_.push_back(named != nullptr);
    if (recent_.size() > settings_.of_windows) recent_.erase(recent_.begin());
    clean_ = named == nullptr ? clean_ + 1 : 0;
    if (named != nullptr) {
      last_ = named;
      ++named_in_;
      const auto times = static_cast<std::size_t>(std::count(recent_.begin(), recent_.end(), true));
      if (times >= settings_.open_windows || named->gain_nats > settings_.hard_gain_nats) {
        open_ = true;
        was_open_ = true;
      }
    }
    if (clean_ >= settings_.clean_windows) open_ = false;
  }

  // False: it is over, or never was more than one window's opinion.
  bool Stands() const { return open_ || clean_ == 0; }
  bool Closed() const { return was_open_ && !open_; }
  Standing Now() const {
    const State state = !open_ ? State::kNew : clean_ == 0 ? State::kOpen : State::kClearing;
    return {.suspect = *last_, .state = state, .named_in = named_in_};
  }

 private:
  const Settings& settings_;
  std::vector<bool> recent_;  // whether it was named in the last windows
  const Suspect* last_ = nullptr;
  std::size_t named_in_ = 0;
  std::size_t clean_ = 0;  // windows in a row that do not name it
  bool open_ = false;
  bool was_open_ = false;
};

bool Known(const std::vector<Suspect>& seen, const Suspect& suspect) {
  return Find(seen, suspect) != nullptr;
}

// Each once, as the last window that names it has it.
std::vector<Suspect> AllNamed(const std::vector<std::vector<Suspect>>& windows) {
  std::vector<Suspect> all;
  for (auto window = windows.rbegin(); window != windows.rend(); ++window) {
    for (const Suspect& suspect : *window) {
      if (!Known(all, suspect)) all.push_back(suspect);
    }
  }
  return all;
}

}  // namespace

std::string_view Name(State state) {
  switch (state) {
    case State::kOpen: return "open";
    case State::kNew: return "new";
    case State::kClearing: return "clearing";
    case State::kFaint: return "faint";
  }
  return "unknown";
}

std::vector<Standing> Settle(const std::vector<std::vector<Suspect>>& windows,
                             const std::vector<Suspect>& together, const Settings& settings) {
  std::vector<Standing> standings;
  std::vector<Suspect> settled;  // nothing is left to say of these
  for (const Suspect& suspect : AllNamed(windows)) {
    Track track(settings);
    for (const std::vector<Suspect>& window : windows) track.Add(Find(window, suspect));
    if (track.Stands()) standings.push_back(track.Now());
    if (track.Stands() || track.Closed()) settled.push_back(suspect);
  }
  for (const Suspect& suspect : together) {
    if (Known(settled, suspect)) continue;
    const auto named_in = static_cast<std::size_t>(
        std::count_if(windows.begin(), windows.end(),
                      [&suspect](const auto& window) { return Find(window, suspect) != nullptr; }));
    standings.push_back({.suspect = suspect, .state = State::kFaint, .named_in = named_in});
  }
  std::stable_sort(standings.begin(), standings.end(), [](const Standing& a, const Standing& b) {
    if (a.state != b.state) return a.state < b.state;
    return a.suspect.gain_nats > b.suspect.gain_nats;
  });
  return standings;
}

}  // namespace rdmapulse::locate
