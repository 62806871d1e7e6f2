// Several sources may offer one signal of one subject. One of them is taken, and goes on being
// taken: a change would look like traffic or like a reset. Pure: the time is given.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "collectors/reading.h"
#include "collectors/reading_plan.h"
#include "collectors/signals.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// Whose signals they are: a port, a device as a whole, or a netdev that belongs to none.
struct SubjectId {
  std::string device{};
  std::optional<std::uint32_t> port{};
  std::string netdev{};  // only without a device

  auto operator<=>(const SubjectId&) const = default;
};
SubjectId SubjectOf(const Reading& reading);

// Takes from devices as a whole what their ports have, too: it is the same counted again.
// `subjects` are in order of their ids.
void DropRepeatedByDevice(std::vector<SubjectSignals>& subjects);

// One reading's value of a signal.
struct SignalOffer {
  const SignalKey* key = nullptr;
  const Reading* reading = nullptr;  // source and netdev
  std::uint64_t value = 0;
  bool saturated = false;
  std::uint32_t restarts = 0;
};

// A source that has stopped offering a signal is given up for another after this long. A driver's
// firmware may be away for a minute (mlx5's command timeout).
constexpr Duration kGiveUpSource = std::chrono::seconds(60);

class SignalChooser {
 public:
  // The values of all that is offered for one subject, by signal, priority, part and netdev: for
  // each signal those of one source. A better source than the present one is changed to, a worse
  // one only after kGiveUpSource; both count as a restart.
  std::vector<SignalValue> Choose(const SubjectId& subject, std::vector<SignalOffer>& offers,
                                  TimePoint now);

  // Forgets subjects of devices and netdevs that are not named (sorted).
  void KeepOnly(const std::vector<SubjectId>& subjects);

 private:
  struct Chosen {
    Source source = Source::kCounters;
    TimePoint seen;
    std::uint32_t changes = 0;
  };

  // What is kept of one subject.
  std::map<SubjectId, std::map<SignalKey, Chosen>> chosen_;
};

}  // namespace rdmapulse::collectors
