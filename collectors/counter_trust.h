// How far a counter's values can be trusted from one read to the next: whether it stands at its
// limit, went around it, began anew or says nothing. Pure: values and times in, states out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectors/reading.h"
#include "collectors/reading_plan.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// The label `state` of rdmapulse_counter_quality (design.md 5.4).
enum class Quality : std::uint8_t {
  kSaturated,    // stands at its limit until somebody clears it
  kWrapped,      // went around its limit within the last kEventShown
  kReset,        // began anew within the last kEventShown
  kFrozen,       // cannot move, for a reason that the catalogue knows
  kUnreadable,   // the driver refused the last read, or said by it that it has no value
  kQuarantined,  // its device is left alone for a while
};
std::string_view Name(Quality quality);  // "saturated", …

// What happened at one read is said for this long, so that a scrape every half minute meets it.
constexpr Duration kEventShown = std::chrono::seconds(60);
// Drivers answer 0 for everything while firmware recovers (hns3, mana, ionic, qede) and then go on
// where they were. After this long it is a new beginning.
constexpr Duration kZeroGrace = std::chrono::seconds(10);
// Fewer counters than these may well be 0 all at once.
constexpr std::size_t kZeroGraceValues = 3;

// One value's history.
class CounterTrust {
 public:
  // The next value as the kernel gives it. Of a gauge nothing is ever said.
  void Take(const ValuePlan& plan, std::uint64_t raw, TimePoint read);

  // The count since the last reset with its turns around the limit. nullopt: it does not fit 64
  // bits, there was no value yet, or the driver says that it has none now.
  std::optional<std::uint64_t> Continuous() const;
  std::uint32_t Restarts() const { return restarts_; }

  bool IsSaturated() const { return saturated_; }
  bool IsAbsent() const { return absent_; }
  bool HasWrapped(TimePoint now) const { return wrapped_ && now - *wrapped_ < kEventShown; }
  bool HasReset(TimePoint now) const { return reset_ && now - *reset_ < kEventShown; }

 private:
  std::optional<std::uint64_t> last_;
  std::uint64_t turns_ = 0;
  unsigned bits_ = 64;
  std::uint32_t restarts_ = 0;
  bool saturated_ = false;
  bool absent_ = false;
  std::optional<TimePoint> wrapped_;
  std::optional<TimePoint> reset_;
};

// Whether a value below the one before went around the limit of its width: when the way there and
// on is less than a quarter of the whole range. Otherwise somebody set it back.
bool IsWrap(const ValuePlan& plan, std::uint64_t before, std::uint64_t now);

// All values of one source of one subject.
class ReadingTrust {
 public:
  // False: the reading is withheld, since all its counters are 0 and were not before; it changes
  // nothing. `plan` is the reading's. With another plan than before, names keep their history.
  bool Take(const Reading& reading, const ReadingPlan& plan);

  // Whether a counter of it has ever been other than 0.
  bool HasCounted() const { return has_counted_; }

  const CounterTrust& Of(std::size_t value) const { return trust_[value]; }

  // The names of the reading that the history is of.
  const std::vector<CounterName>& Names() const { return names_; }
  // Whether these are the names of the reading, one for one.
  bool Fits(const Reading& reading) const;

 private:
  void Rename(const Reading& reading);

  std::vector<CounterName> names_;
  std::vector<CounterTrust> trust_;
  bool had_counts_ = false;   // some counter was not 0
  bool has_counted_ = false;  // at any time
  std::optional<TimePoint> all_zero_since_;
};

}  // namespace rdmapulse::collectors
