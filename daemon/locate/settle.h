// Whether what one window says has lasted: the verdicts of windows that follow each other in,
// standing suspects out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "daemon/locate/settings.h"
#include "daemon/locate/suspect.h"

namespace rdmapulse::locate {

enum class State : std::uint8_t {
  kOpen,      // named in enough of the last windows, or too strongly for chance in one of them
  kNew,       // named in the last window, not often enough yet
  kClearing,  // was open and is named no more, but not for long enough to be closed
  kFaint,     // in too few windows, but in all of them together: a small loss
};
std::string_view Name(State state);  // "open", "new", …

struct Standing {
  // As of the last window that names it; of kFaint, of all windows together.
  Suspect suspect = {};
  State state = State::kNew;
  std::size_t named_in = 0;  // windows

  bool operator==(const Standing&) const = default;
};

// `windows`: what Locate said of each, oldest first; `together`: of all of their records at once.
// Open ones first, then by gain. Those that closed meanwhile are left out.
std::vector<Standing> Settle(const std::vector<std::vector<Suspect>>& windows,
                             const std::vector<Suspect>& together, const Settings& settings);

}  // namespace rdmapulse::locate
