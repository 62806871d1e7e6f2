// Keeps what the passes bring: what each counter means, how far it can be trusted, which source is
// believed, what becomes a series. A pass over known names only compares and adds. Pure: times are
// given. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/counted_host.h"
#include "collectors/counter_trust.h"
#include "collectors/reading.h"
#include "collectors/reading_plan.h"
#include "collectors/series_rules.h"
#include "collectors/signal_choice.h"
#include "daemon/base/device_info.h"
#include "daemon/base/time.h"

namespace rdmapulse::collectors {

// The history of a reading that has not come for this long is forgotten. Firmware may be away for
// minutes (mlx5's commands time out after one) and come back with its counts.
constexpr Duration kForgetAfter = std::chrono::minutes(10);

class CounterBook {
 public:
  explicit CounterBook(std::shared_ptr<const Catalogue> catalogue);

  // Another catalogue makes every plan anew and keeps the history of the counters.
  void SetCatalogue(std::shared_ptr<const Catalogue> catalogue);
  void SetRules(SeriesRules rules);

  // A pass of the collectors of one device, or of some of the host's, that ended at `finished`.
  // What it does not bring is not known any more, but its history is kept. The pass that was taken
  // last is passed over.
  void Take(const std::shared_ptr<const Collection>& collection,
            const std::vector<DeviceInfo>& devices, TimePoint finished);

  // Forgets devices that are not in the list.
  void KeepOnly(const std::vector<DeviceInfo>& devices);

  // Said of devices until the next call.
  void SetQuarantined(std::vector<std::string> devices);

  // What is known at `now`. The same object as long as it is the same, and a second at most.
  std::shared_ptr<const CountedHost> At(TimePoint now);
  // What the last At gave, unless it is older than a second.
  std::shared_ptr<const CountedHost> Recent(TimePoint now);

 private:
  struct Key {
    std::string device;
    std::optional<std::uint32_t> port;
    std::string netdev;
    Source source = Source::kCounters;

    auto operator<=>(const Key&) const = default;
  };

  struct Tracked {
    std::shared_ptr<const Collection> collection;
    std::size_t index = 0;
    PlanOwner owner;
    std::vector<CounterName> names;  // that the plan is for
    std::optional<ReadingPlan> plan;
    ReadingTrust trust;
    // How often other names of the reading have come to stand for a signal.
    std::map<SignalKey, std::uint32_t> renamed;
    std::string pass;       // whose pass brought it
    bool withheld = false;  // the last reading says nothing
    bool absent = false;    // the last pass did not bring it
    std::shared_ptr<const std::vector<RawPlan>> raw;

    const Reading& Last() const { return collection->readings[index]; }
    bool IsUnmeasured() const { return plan->all_zero_is_unmeasured && !trust.HasCounted(); }
  };

  struct Pass {
    std::shared_ptr<const Collection> collection;
    TimePoint finished;
  };

  void TakeReading(const std::string& pass, const std::shared_ptr<const Collection>& collection,
                   std::size_t index, const std::vector<DeviceInfo>& devices);
  void MakePlanFor(Tracked& tracked, const Reading& reading);
  void Forget(TimePoint now);
  void ForgetChoices();
  void PlanSeries();
  CountedHost Count(TimePoint now);
  void CountSignals(TimePoint now, CountedHost& host);
  void CountQualities(TimePoint now, CountedHost& host) const;

  std::shared_ptr<const Catalogue> catalogue_;
  SeriesRules rules_;
  std::map<Key, Tracked> tracked_;
  std::map<std::string, Pass> passes_;  // by device; the host's by "/" and their first collector
  std::vector<std::string> quarantined_;
  SignalChooser chooser_;
  SeriesUse series_;
  bool series_planned_ = false;
  std::shared_ptr<const CountedHost> counted_;
  TimePoint counted_at_;
  bool dirty_ = true;  // something has come since
};

// Of collections that were read once, with all their series: no daemon, no history. `taken`: when
// they were asked, for those that had nothing to read.
std::shared_ptr<const CountedHost> CountOnce(
    const std::vector<std::shared_ptr<const Collection>>& collections,
    const std::vector<DeviceInfo>& devices, TimePoint taken = TimePoint());

// Of the port; for what the device counts as a whole, of its first port. nullptr: not known.
LinkLayer LinkLayerOf(const DeviceInfo* device, std::optional<std::uint32_t> port);

// See signals.h. nullopt: nobody counts them.
std::optional<std::uint64_t> AckTimeoutRetransmissions(const CountedHost& host,
                                                       const std::string& device,
                                                       std::uint32_t port, std::string_view driver);

}  // namespace rdmapulse::collectors
