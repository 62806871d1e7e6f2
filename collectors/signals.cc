#include "collectors/signals.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "collectors/catalogue.h"
#include "collectors/reading_plan.h"
#include "collectors/signal_choice.h"

namespace rdmapulse::collectors {
namespace {

// Others come after these.
constexpr std::array kOrder = {Source::kHwCounters, Source::kRdmaNl,    Source::kDeviceHwCounters,
                               Source::kEthtool,    Source::kEthtoolNl, Source::kMad,
                               Source::kDcb,        Source::kCounters,  Source::kNetdev};

template <typename Sources>
unsigned PlaceIn(const Sources& sources, Source source) {
  return static_cast<unsigned>(std::find(sources.begin(), sources.end(), source) - sources.begin());
}

bool IsSaturated(const SignalPlan& signal, const ReadingPlan& plan, const Reading& reading) {
  return std::any_of(signal.terms.begin(), signal.terms.end(), [&](const SignalPlan::Term& term) {
    return StandsAtLimit(plan.values[term.index], reading.values[term.index].value);
  });
}

bool IsAllZero(const Reading& reading) {
  return std::all_of(reading.values.begin(), reading.values.end(),
                     [](const Value& value) { return value.value == 0; });
}

void AddOffers(const Reading& reading, const ReadingPlan& plan, std::vector<SignalOffer>& offers) {
  if (plan.all_zero_is_unmeasured && IsAllZero(reading)) return;
  for (const SignalPlan& signal : plan.signals) {
    if (const auto value = Evaluate(signal, plan, reading)) {
      offers.push_back({.key = &signal.key,
                        .reading = &reading,
                        .value = *value,
                        .saturated = IsSaturated(signal, plan, reading)});
    }
  }
}

std::optional<std::uint64_t> Raw(const Reading& reading, std::string_view name) {
  const auto value = std::find_if(reading.values.begin(), reading.values.end(),
                                  [name](const Value& v) { return v.name == name; });
  return value == reading.values.end() ? std::nullopt : std::optional(value->value);
}

}  // namespace

unsigned SourceRank(const SignalInfo& signal, Source source) {
  const auto own = static_cast<unsigned>(signal.sources.size());
  const unsigned place = PlaceIn(signal.sources, source);
  return place < own ? place : own + PlaceIn(kOrder, source);
}

std::vector<SignalValue> Signals(const Reading& reading, std::string_view driver,
                                 LinkLayer link_layer) {
  const ReadingPlan plan =
      MakePlan(Catalogue::BuiltIn(), reading, {std::string(driver), link_layer});
  std::vector<SignalOffer> offers;
  AddOffers(reading, plan, offers);
  return SignalChooser().Choose(SubjectOf(reading), offers, reading.finished);
}

std::vector<SubjectSignals> Signals(const Collection& collection, std::string_view driver,
                                    LinkLayer link_layer) {
  std::vector<ReadingPlan> plans;  // does not grow below: offers point into it
  plans.reserve(collection.readings.size());
  std::map<SubjectId, std::vector<SignalOffer>> offers;
  for (const Reading& reading : collection.readings) {
    plans.push_back(MakePlan(Catalogue::BuiltIn(), reading, {std::string(driver), link_layer}));
    AddOffers(reading, plans.back(), offers[SubjectOf(reading)]);
  }
  std::vector<SubjectSignals> subjects;
  for (auto& [id, of_subject] : offers) {
    subjects.push_back(
        {id.device, id.port, id.netdev, SignalChooser().Choose(id, of_subject, TimePoint())});
  }
  DropRepeatedByDevice(subjects);
  return subjects;
}

bool CountsRetriesOfEveryCause(std::string_view driver) { return driver == "rxe"; }

std::optional<std::uint64_t> RetriesWithoutNaks(const Reading& reading) {
  const auto retries = Raw(reading, "completer_retry_err");
  if (!retries) return std::nullopt;
  const std::uint64_t naks = Raw(reading, "rcvd_seq_err").value_or(0);
  return *retries - std::min(*retries, naks);
}

std::optional<std::uint64_t> AckTimeoutsIn(const std::vector<SubjectSignals>& subjects,
                                           const std::string& device, std::uint32_t port) {
  std::optional<std::uint64_t> of_port;
  std::optional<std::uint64_t> of_device;
  for (const SubjectSignals& subject : subjects) {
    if (subject.device != device || (subject.port && *subject.port != port)) continue;
    std::optional<std::uint64_t>& total = subject.port ? of_port : of_device;
    for (const SignalValue& value : subject.values) {
      if (value.signal == kRetransmitTimeout || value.signal == kAdaptiveRetransmission ||
          value.signal == kIwarpRetransmits)
        total = total.value_or(0) + value.value;
    }
  }
  return of_port ? of_port : of_device;
}

std::optional<std::uint64_t> AckTimeoutRetransmissions(const Collection& collection,
                                                       const std::string& device,
                                                       std::uint32_t port,
                                                       std::string_view driver) {
  if (!CountsRetriesOfEveryCause(driver))
    return AckTimeoutsIn(Signals(collection, driver), device, port);
  for (const Reading& reading : collection.readings) {
    if (reading.device != device || reading.port != port) continue;
    if (const auto timeouts = RetriesWithoutNaks(reading)) return timeouts;
  }
  return std::nullopt;
}

}  // namespace rdmapulse::collectors
