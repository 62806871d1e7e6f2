#include "collectors/reading_plan.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// Software devices count on top of an interface that another driver counts.
bool IsSoftware(std::string_view driver) { return driver == "rxe" || driver == "siw"; }

bool IsOfTheInterface(Source source) {
  return source == Source::kEthtool || source == Source::kEthtoolNl || source == Source::kDcb ||
         source == Source::kNetdev;
}

// Whose names these are, as far as anybody told; empty: nobody did.
std::string_view ToldDriver(const Reading& reading, std::string_view driver) {
  if (!IsOfTheInterface(reading.source)) return driver;
  if (!reading.netdev_driver.empty()) return reading.netdev_driver;
  return IsSoftware(driver) ? std::string_view() : driver;
}

bool SaysSomething(const std::optional<NameMeaning>& meaning) {
  return meaning && !meaning->row->drivers.empty() && meaning->row->signal != nullptr;
}

// The driver that most of the names are known of; the first of equals. Empty: none knows any.
std::string_view GuessDriver(const Catalogue& catalogue, const Reading& reading,
                             const PlanOwner& of) {
  std::string_view best;
  std::ptrdiff_t most = 0;
  for (const std::string_view driver : catalogue.Drivers()) {
    const NameOwner owner{driver, reading.source, of.link_layer, of.virtual_function};
    const auto known = std::count_if(
        reading.values.begin(), reading.values.end(),
        [&](const Value& value) { return SaysSomething(catalogue.Find(value.name, owner)); });
    if (known > most) {
      most = known;
      best = driver;
    }
  }
  return best;
}

ValuePlan PlanValue(const Value& value, const std::optional<NameMeaning>& meaning) {
  ValuePlan plan{.kind = value.kind};
  if (!meaning) return plan;
  const CatalogueRow& row = *meaning->row;
  const bool gauge = row.gauge.value_or(row.signal != nullptr ? row.signal->gauge
                                                              : value.kind == ValueKind::kGauge);
  plan.kind = gauge ? ValueKind::kGauge : ValueKind::kCounter;
  plan.per_queue = row.per_queue;
  plan.frozen = !row.frozen.empty();
  plan.bits = row.bits;
  plan.limit = row.limit;
  plan.absent = row.absent;
  return plan;
}

SignalKey KeyOf(const NameMeaning& meaning) {
  SignalKey key{.signal = meaning.row->signal};
  if (meaning.match.kind == NamePattern::Kind::kPriority) {
    key.priority = meaning.match.number;
  } else if (meaning.match.kind) {
    key.part_label = LabelOf(*meaning.match.kind);
    key.part = std::to_string(meaning.match.number);
  }
  if (!meaning.row->part.empty()) {
    key.part_label = "part";
    key.part = meaning.row->part;
  }
  return key;
}

struct Offer {
  const CatalogueRow* row = nullptr;
  std::vector<SignalPlan::Term> terms;
};

using Meanings = std::vector<std::optional<NameMeaning>>;

// Of all that a reading offers for one signal, one is taken; the others are the same said twice.
std::vector<SignalPlan> PlanSignals(const Catalogue& catalogue, const Meanings& meanings) {
  std::map<SignalKey, Offer> offers;
  for (std::uint32_t i = 0; i < meanings.size(); ++i) {
    if (!meanings[i] || meanings[i]->row->signal == nullptr) continue;
    const CatalogueRow& row = *meanings[i]->row;
    Offer& offer = offers[KeyOf(*meanings[i])];
    const bool adds = offer.row != nullptr && row.adds && offer.row->order == row.order;
    if (!adds) {
      if (offer.row != nullptr && !catalogue.Prefers(row, *offer.row)) continue;
      offer = {.row = &row, .terms = {}};
    }
    offer.terms.push_back({i, row.scale});
  }
  std::vector<SignalPlan> signals;
  signals.reserve(offers.size());
  for (auto& [key, offer] : offers) signals.push_back({key, std::move(offer.terms)});
  return signals;
}

bool ListsPfcWhereItIsOn(const Catalogue& catalogue, std::string_view driver, Source source) {
  return std::any_of(
      catalogue.Rows().begin(), catalogue.Rows().end(), [&](const CatalogueRow& row) {
        return row.missing_is_pfc_off && row.sources.front() == source &&
               std::find(row.drivers.begin(), row.drivers.end(), driver) != row.drivers.end();
      });
}

std::optional<PfcPlan> PlanPfc(const Meanings& meanings) {
  std::optional<PfcPlan> pfc;
  for (std::uint32_t i = 0; i < meanings.size(); ++i) {
    if (!meanings[i] || meanings[i]->match.kind != NamePattern::Kind::kPriority) continue;
    if (!pfc) pfc.emplace();
    if (meanings[i]->row->missing_is_pfc_off) pfc->on.set(meanings[i]->match.number);
    pfc->by_priority.push_back(i);
  }
  return pfc;
}

}  // namespace

bool operator<(const SignalKey& a, const SignalKey& b) {
  // Signals lie in order of their names.
  return std::tie(a.signal, a.priority, a.part_label, a.part) <
         std::tie(b.signal, b.priority, b.part_label, b.part);
}

ReadingPlan MakePlan(const Catalogue& catalogue, const Reading& reading, const PlanOwner& of) {
  std::string_view driver = ToldDriver(reading, of.driver);
  const bool told = !driver.empty();
  if (!told) driver = GuessDriver(catalogue, reading, of);
  const NameOwner owner{driver, reading.source, of.link_layer, of.virtual_function};
  Meanings meanings;
  meanings.reserve(reading.values.size());
  ReadingPlan plan;
  plan.values.reserve(reading.values.size());
  for (const Value& value : reading.values) {
    meanings.push_back(catalogue.Find(value.name, owner));
    plan.values.push_back(PlanValue(value, meanings.back()));
    plan.all_zero_is_unmeasured |= meanings.back() && meanings.back()->row->all_zero_is_unmeasured;
  }
  plan.signals = PlanSignals(catalogue, meanings);
  // A guess tells what the names that are there mean, and nothing of those that are not.
  if (told && !of.virtual_function && ListsPfcWhereItIsOn(catalogue, driver, reading.source))
    plan.pfc = PlanPfc(meanings);
  return plan;
}

bool IsAbsent(const ValuePlan& plan, std::uint64_t value) { return plan.absent == value; }

bool StandsAtLimit(const ValuePlan& plan, std::uint64_t value) {
  if (plan.kind == ValueKind::kGauge || plan.limit == Limit::kWraps) return false;
  return value == ~std::uint64_t{0} >> (64 - plan.bits);
}

std::optional<std::bitset<8>> PfcPriorities(const ReadingPlan& plan, const Reading& reading) {
  if (!plan.pfc) return std::nullopt;
  const bool counts =
      std::any_of(plan.pfc->by_priority.begin(), plan.pfc->by_priority.end(),
                  [&reading](std::uint32_t index) { return reading.values[index].value != 0; });
  return counts || plan.pfc->on.any() ? std::optional(plan.pfc->on) : std::nullopt;
}

std::optional<std::uint64_t> Evaluate(const SignalPlan& signal, const ReadingPlan& plan,
                                      const Reading& reading) {
  std::uint64_t sum = 0;
  for (const SignalPlan::Term& term : signal.terms) {
    const std::uint64_t value = reading.values[term.index].value;
    std::uint64_t scaled = 0;
    if (IsAbsent(plan.values[term.index], value) ||
        __builtin_mul_overflow(value, term.scale, &scaled) ||
        __builtin_add_overflow(sum, scaled, &sum))
      return std::nullopt;
  }
  return sum;
}

}  // namespace rdmapulse::collectors
