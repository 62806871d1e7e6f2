// What a reading's values mean, found once for a set of names: afterwards a pass only adds and
// multiplies. Pure.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

// Of one value of a reading.
struct ValuePlan {
  ValueKind kind = ValueKind::kCounter;
  bool per_queue = false;
  bool frozen = false;  // cannot move, for a reason that the catalogue knows
  unsigned bits = 64;
  Limit limit = Limit::kUnknown;
  std::optional<std::uint64_t> absent{};  // by which the driver says that it has no value

  bool operator==(const ValuePlan&) const = default;
};

// What tells values of one signal apart.
struct SignalKey {
  const SignalInfo* signal = nullptr;
  std::optional<std::uint32_t> priority{};
  std::string_view part_label{};  // "part", "tc", "cos", "lane"; empty: there is but one
  std::string part{};             // "read", "3"

  bool operator==(const SignalKey&) const = default;
};
bool operator<(const SignalKey& a, const SignalKey& b);

struct SignalPlan {
  struct Term {
    std::uint32_t index = 0;  // of the reading's values
    std::uint64_t scale = 1;

    bool operator==(const Term&) const = default;
  };

  SignalKey key;
  std::vector<Term> terms;  // add up

  bool operator==(const SignalPlan&) const = default;
};

// Of a driver that lists PFC counters only for priorities on which PFC is on.
struct PfcPlan {
  std::bitset<8> on;
  std::vector<std::uint32_t> by_priority;  // the values that are of a priority
};

struct ReadingPlan {
  std::vector<ValuePlan> values;    // one for each value of the reading
  std::vector<SignalPlan> signals;  // by key
  std::optional<PfcPlan> pfc{};
  bool all_zero_is_unmeasured = false;
};

// Whose values they are: `driver` of the device, in the short names of driver_names.h.
struct PlanOwner {
  std::string driver{};
  LinkLayer link_layer = LinkLayer::kUnknown;
  bool virtual_function = false;

  bool operator==(const PlanOwner&) const = default;
};

// Where the values are those of the
// interface below a software device, or the driver is not known, the names tell which driver's they
// are.
ReadingPlan MakePlan(const Catalogue& catalogue, const Reading& reading, const PlanOwner& owner);

// Whether the driver says by the value that it has none.
bool IsAbsent(const ValuePlan& plan, std::uint64_t value);

// Whether a counter that stays at its limit stands there. One that wraps passes through it.
bool StandsAtLimit(const ValuePlan& plan, std::uint64_t value);

// On which priorities PFC is on; nullopt: not told. A virtual function lists its priorities, too,
// but counts nothing for them and knows nothing of PFC.
std::optional<std::bitset<8>> PfcPriorities(const ReadingPlan& plan, const Reading& reading);

// A signal of the plan in the reading's values; nullopt: one of them is absent, or it does not fit
// 64 bits in the signal's unit.
std::optional<std::uint64_t> Evaluate(const SignalPlan& signal, const ReadingPlan& plan,
                                      const Reading& reading);

}  // namespace rdmapulse::collectors
