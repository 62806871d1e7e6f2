#include "collectors/counter_book.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace rdmapulse::collectors {
namespace {

// Events of counters end by the second; what is exported need not be newer.
constexpr Duration kRecount = std::chrono::seconds(1);
constexpr std::size_t kDroppedNamesShown = 10;

const DeviceInfo* FindDevice(const std::vector<DeviceInfo>& devices, const std::string& name) {
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&name](const DeviceInfo& d) { return d.name == name; });
  return found == devices.end() ? nullptr : &*found;
}

PlanOwner OwnerOf(const DeviceInfo* device, std::optional<std::uint32_t> port) {
  if (device == nullptr) return {};
  return {device->driver, LinkLayerOf(device, port), !device->physical_function.empty()};
}

bool SameNames(const std::vector<CounterName>& names, const Reading& reading) {
  return std::equal(names.begin(), names.end(), reading.values.begin(), reading.values.end(),
                    [](const CounterName& name, const Value& value) { return name == value.name; });
}

// A signal of several counters, or with a second name, is not known while one of them cannot be
// read: what is left would look like a reset.
void DropHalfRead(const std::vector<CounterName>& names_before, const ReadingPlan& before,
                  const Reading& reading, ReadingPlan& plan) {
  for (const Problem& problem : reading.problems) {
    const auto name = std::find(names_before.begin(), names_before.end(), problem.name);
    if (name == names_before.end()) continue;
    const auto index = static_cast<std::uint32_t>(name - names_before.begin());
    for (const SignalPlan& signal : before.signals) {
      const bool needs = std::any_of(signal.terms.begin(), signal.terms.end(),
                                     [index](const auto& term) { return term.index == index; });
      if (!needs) continue;
      std::erase_if(plan.signals, [&signal](const SignalPlan& s) { return s.key == signal.key; });
    }
  }
}

// Its device; of the host's, whose passes are several, the first collector of it. Statuses come
// with every pass, in the same order.
std::string NameOfPass(const Collection& collection) {
  if (collection.statuses.empty()) return {};
  const CollectorStatus& first = collection.statuses.front();
  return first.device.empty() ? "/" + first.collector : first.device;
}

// The same signal of other counters than before is another count.
void CountRenamed(const std::vector<CounterName>& names_before, const ReadingPlan& before,
                  const Reading& reading, const ReadingPlan& plan,
                  std::map<SignalKey, std::uint32_t>& renamed) {
  for (const SignalPlan& signal : plan.signals) {
    const auto old = std::find_if(before.signals.begin(), before.signals.end(),
                                  [&signal](const SignalPlan& s) { return s.key == signal.key; });
    if (old == before.signals.end()) continue;
    std::multiset<std::string> names;
    for (const SignalPlan::Term& term : signal.terms) names.insert(reading.values[term.index].name);
    std::multiset<std::string> old_names;
    for (const SignalPlan::Term& term : old->terms) old_names.insert(names_before[term.index]);
    if (names != old_names) ++renamed[signal.key];
  }
}

SignalOffer OfferOf(const SignalPlan& signal, const Reading& reading, const ReadingTrust& trust,
                    bool& known) {
  SignalOffer offer{.key = &signal.key, .reading = &reading};
  known = true;
  for (const SignalPlan::Term& term : signal.terms) {
    const CounterTrust& counter = trust.Of(term.index);
    const auto value = counter.Continuous();
    std::uint64_t scaled = 0;
    known = known && value && !__builtin_mul_overflow(*value, term.scale, &scaled) &&
            !__builtin_add_overflow(offer.value, scaled, &offer.value);
    offer.saturated |= counter.IsSaturated();
    offer.restarts += counter.Restarts();
  }
  return offer;
}

}  // namespace

LinkLayer LinkLayerOf(const DeviceInfo* device, std::optional<std::uint32_t> port) {
  if (device == nullptr) return LinkLayer::kUnknown;
  for (const PortInfo& info : device->ports) {
    if (!port || info.port == *port) return info.link_layer;
  }
  return LinkLayer::kUnknown;
}

CounterBook::CounterBook(std::shared_ptr<const Catalogue> catalogue)
    : catalogue_(std::move(catalogue)) {}

void CounterBook::SetCatalogue(std::shared_ptr<const Catalogue> catalogue) {
  catalogue_ = std::move(catalogue);
  for (auto& [key, tracked] : tracked_) {
    tracked.names.clear();
    tracked.plan.reset();
    MakePlanFor(tracked, tracked.Last());
    // The values' number is the reading's, so that its history still fits.
  }
  series_planned_ = false;
  dirty_ = true;
}

void CounterBook::SetRules(SeriesRules rules) {
  rules_ = std::move(rules);
  series_planned_ = false;
  dirty_ = true;
}

void CounterBook::SetQuarantined(std::vector<std::string> devices) {
  if (devices == quarantined_) return;
  quarantined_ = std::move(devices);
  dirty_ = true;
}

void CounterBook::Take(const std::shared_ptr<const Collection>& collection,
                       const std::vector<DeviceInfo>& devices, TimePoint finished) {
  const std::string name = NameOfPass(*collection);
  Pass& pass = passes_[name];
  if (pass.collection == collection) return;
  pass = {collection, finished};
  dirty_ = true;
  for (auto& [key, tracked] : tracked_) tracked.absent |= tracked.pass == name;
  for (std::size_t i = 0; i < collection->readings.size(); ++i)
    TakeReading(name, collection, i, devices);
}

void CounterBook::TakeReading(const std::string& pass,
                              const std::shared_ptr<const Collection>& collection,
                              std::size_t index, const std::vector<DeviceInfo>& devices) {
  const Reading& reading = collection->readings[index];
  const auto [entry, is_new] =
      tracked_.try_emplace({reading.device, reading.port, reading.netdev, reading.source});
  Tracked& tracked = entry->second;
  tracked.collection = collection;
  tracked.index = index;
  tracked.pass = pass;
  tracked.absent = false;
  const DeviceInfo* device = FindDevice(devices, reading.device);
  PlanOwner owner = OwnerOf(device, reading.port);
  if (is_new || tracked.owner != owner || !SameNames(tracked.names, reading)) {
    tracked.owner = std::move(owner);
    MakePlanFor(tracked, reading);
  }
  tracked.withheld = !tracked.trust.Take(reading, *tracked.plan);
}

void CounterBook::MakePlanFor(Tracked& tracked, const Reading& reading) {
  ReadingPlan plan = MakePlan(*catalogue_, reading, tracked.owner);
  if (tracked.plan) {
    DropHalfRead(tracked.names, *tracked.plan, reading, plan);
    CountRenamed(tracked.names, *tracked.plan, reading, plan, tracked.renamed);
  }
  tracked.plan = std::move(plan);
  tracked.names.clear();
  for (const Value& value : reading.values) tracked.names.push_back(value.name);
  tracked.raw = nullptr;
  series_planned_ = false;
}

void CounterBook::KeepOnly(const std::vector<DeviceInfo>& devices) {
  const auto gone = [&devices](const std::string& device) {
    return !device.empty() && FindDevice(devices, device) == nullptr;
  };
  const std::size_t before = tracked_.size() + passes_.size();
  std::erase_if(tracked_, [&gone](const auto& entry) { return gone(entry.first.device); });
  std::erase_if(passes_, [&gone](const auto& entry) {
    return !entry.first.starts_with('/') && gone(entry.first);
  });
  if (tracked_.size() + passes_.size() == before) return;
  ForgetChoices();
  dirty_ = true;
}

void CounterBook::Forget(TimePoint now) {
  const std::size_t dropped = std::erase_if(tracked_, [now](const auto& entry) {
    return entry.second.absent && now - entry.second.Last().finished >= kForgetAfter;
  });
  if (dropped > 0) ForgetChoices();
}

void CounterBook::ForgetChoices() {
  std::vector<SubjectId> left;
  for (const auto& [key, tracked] : tracked_) left.push_back(SubjectOf(tracked.Last()));
  std::sort(left.begin(), left.end());
  chooser_.KeepOnly(left);
  series_planned_ = false;
}

// What has a meaning comes into the budget first.
void CounterBook::PlanSeries() {
  series_ = {};
  std::map<const Tracked*, std::vector<RawPlan>> plans;
  std::set<std::string> over_budget;
  for (const bool with_signal : {true, false}) {
    for (const auto& [key, tracked] : tracked_) {
      std::vector<RawPlan>& plan = plans[&tracked];
      plan.resize(tracked.names.size());
      std::vector<bool> has_signal(tracked.names.size());
      for (const SignalPlan& signal : tracked.plan->signals) {
        for (const SignalPlan::Term& term : signal.terms) has_signal[term.index] = true;
      }
      for (std::size_t i = 0; i < tracked.names.size(); ++i) {
        if (has_signal[i] != with_signal) continue;
        const ValuePlan& value = tracked.plan->values[i];
        plan[i].kind = value.kind;
        plan[i].absent = value.absent;
        switch (Judge(rules_, key.source, tracked.names[i].Text(), value.per_queue)) {
          case SeriesVerdict::kDenied: ++series_.denied; break;
          case SeriesVerdict::kPerQueue: ++series_.per_queue; break;
          case SeriesVerdict::kWanted:
            plan[i].exported = series_.exported < rules_.max;
            ++(plan[i].exported ? series_.exported : series_.over_budget);
            if (!plan[i].exported && over_budget.size() < kDroppedNamesShown)
              over_budget.insert(std::string(Name(key.source)) + "/" + tracked.names[i].Text());
        }
      }
    }
  }
  series_.over_budget_names.assign(over_budget.begin(), over_budget.end());
  for (auto& [key, tracked] : tracked_) {
    tracked.raw = std::make_shared<const std::vector<RawPlan>>(std::move(plans[&tracked]));
  }
  series_planned_ = true;
}

void CounterBook::CountSignals(TimePoint now, CountedHost& host) {
  std::map<SubjectId, std::vector<SignalOffer>> offers;
  for (const auto& [key, tracked] : tracked_) {
    if (tracked.withheld || tracked.absent || tracked.IsUnmeasured()) continue;
    const Reading& reading = tracked.Last();
    std::vector<SignalOffer>& of_subject = offers[SubjectOf(reading)];
    for (const SignalPlan& signal : tracked.plan->signals) {
      bool known = false;
      SignalOffer offer = OfferOf(signal, reading, tracked.trust, known);
      if (const auto renamed = tracked.renamed.find(signal.key); renamed != tracked.renamed.end())
        offer.restarts += renamed->second;
      if (known) of_subject.push_back(offer);
    }
    if (const auto pfc = PfcPriorities(*tracked.plan, reading))
      host.pfc.push_back({reading.device, reading.port, reading.netdev, *pfc});
  }
  host.signals.reserve(offers.size());
  for (auto& [id, of_subject] : offers) {
    host.signals.push_back({id.device, id.port, id.netdev, chooser_.Choose(id, of_subject, now)});
  }
  DropRepeatedByDevice(host.signals);
}

void CounterBook::CountQualities(TimePoint now, CountedHost& host) const {
  for (const auto& [key, tracked] : tracked_) {
    if (tracked.absent) continue;
    const Reading& reading = tracked.Last();
    const auto note = [&host, &reading](const std::string& name, Quality quality, int error = 0) {
      host.qualities.push_back(
          {reading.device, reading.port, reading.netdev, reading.source, name, quality, error});
    };
    for (const Problem& problem : reading.problems)
      note(problem.name, Quality::kUnreadable, problem.error);
    if (tracked.withheld) continue;
    for (std::size_t i = 0; i < tracked.names.size(); ++i) {
      const CounterTrust& counter = tracked.trust.Of(i);
      const std::string& name = tracked.names[i].Text();
      if (counter.IsAbsent()) note(name, Quality::kUnreadable);
      if (counter.IsSaturated()) note(name, Quality::kSaturated);
      if (counter.HasWrapped(now)) note(name, Quality::kWrapped);
      if (counter.HasReset(now)) note(name, Quality::kReset);
      if (tracked.plan->values[i].frozen || tracked.IsUnmeasured()) note(name, Quality::kFrozen);
    }
  }
  for (const std::string& device : quarantined_)
    host.qualities.push_back({.device = device, .quality = Quality::kQuarantined});
}

CountedHost CounterBook::Count(TimePoint now) {
  Forget(now);
  if (!series_planned_) PlanSeries();
  CountedHost host;
  CountSignals(now, host);
  CountQualities(now, host);
  for (const auto& [key, tracked] : tracked_) {
    if (!tracked.withheld && !tracked.absent)
      host.raw.push_back({tracked.collection, tracked.index, tracked.raw});
  }
  for (const auto& [name, pass] : passes_) {
    for (const CollectorStatus& status : pass.collection->statuses)
      host.collectors.push_back({status, pass.finished});
  }
  host.series = series_;
  return host;
}

std::shared_ptr<const CountedHost> CounterBook::At(TimePoint now) {
  if (dirty_ || now - counted_at_ >= kRecount) {
    counted_ = std::make_shared<const CountedHost>(Count(now));
    counted_at_ = now;
    dirty_ = false;
  }
  return counted_;
}

std::shared_ptr<const CountedHost> CounterBook::Recent(TimePoint now) {
  return counted_ == nullptr || now - counted_at_ >= kRecount ? At(now) : counted_;
}

std::shared_ptr<const CountedHost> CountOnce(
    const std::vector<std::shared_ptr<const Collection>>& collections,
    const std::vector<DeviceInfo>& devices, TimePoint taken) {
  // Built in, so it needs no owner.
  CounterBook book(
      std::shared_ptr<const Catalogue>(std::shared_ptr<const Catalogue>(), &Catalogue::BuiltIn()));
  book.SetRules({.per_queue = true});
  std::optional<TimePoint> last;
  for (const auto& collection : collections) {
    if (collection == nullptr) continue;
    for (const Reading& reading : collection->readings)
      last = std::max(last.value_or(reading.finished), reading.finished);
  }
  const TimePoint now = last.value_or(taken);
  for (const auto& collection : collections) {
    if (collection != nullptr) book.Take(collection, devices, now);
  }
  return book.At(now);
}

std::optional<std::uint64_t> AckTimeoutRetransmissions(const CountedHost& host,
                                                       const std::string& device,
                                                       std::uint32_t port,
                                                       std::string_view driver) {
  if (!CountsRetriesOfEveryCause(driver)) return AckTimeoutsIn(host.signals, device, port);
  for (const RawReading& raw : host.raw) {
    const Reading& reading = raw.Values();
    if (reading.device != device || reading.port != port) continue;
    if (const auto timeouts = RetriesWithoutNaks(reading)) return timeouts;
  }
  return std::nullopt;
}

}  // namespace rdmapulse::collectors
