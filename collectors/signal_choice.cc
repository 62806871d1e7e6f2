#include "collectors/signal_choice.h"

#include <algorithm>
#include <span>
#include <tuple>

namespace rdmapulse::collectors {
namespace {

unsigned RankOf(const SignalOffer& offer) {
  return SourceRank(*offer.key->signal, offer.reading->source);
}

bool ByKey(const SignalOffer& a, const SignalOffer& b) {
  if (*a.key < *b.key) return true;
  if (*b.key < *a.key) return false;
  return std::tuple(RankOf(a), std::string_view(a.reading->netdev)) <
         std::tuple(RankOf(b), std::string_view(b.reading->netdev));
}

SignalValue ValueOf(const SignalOffer& offer, std::uint32_t changes) {
  const SignalKey& key = *offer.key;
  return {.signal = key.signal->name,
          .priority = key.priority,
          .part_label = key.part_label,
          .part = key.part,
          .value = offer.value,
          .gauge = key.signal->gauge,
          .saturated = offer.saturated,
          .source = offer.reading->source,
          .netdev = offer.reading->netdev,
          .restarts = offer.restarts + changes};
}

}  // namespace

SubjectId SubjectOf(const Reading& reading) {
  return {reading.device, reading.port, reading.device.empty() ? reading.netdev : std::string()};
}

void DropRepeatedByDevice(std::vector<SubjectSignals>& subjects) {
  for (SubjectSignals& whole : subjects) {
    if (whole.device.empty() || whole.port) continue;
    for (const SubjectSignals& part : subjects) {
      if (part.device != whole.device || !part.port) continue;
      std::erase_if(whole.values, [&part](const SignalValue& value) {
        return std::any_of(part.values.begin(), part.values.end(),
                           [&value](const SignalValue& v) { return v.signal == value.signal; });
      });
    }
  }
}

std::vector<SignalValue> SignalChooser::Choose(const SubjectId& subject,
                                               std::vector<SignalOffer>& offers, TimePoint now) {
  std::map<SignalKey, Chosen>& chosen = chosen_[subject];
  std::sort(offers.begin(), offers.end(), ByKey);
  std::vector<SignalValue> values;
  values.reserve(offers.size());
  for (auto begin = offers.begin(); begin != offers.end();) {
    const auto end = std::find_if(
        begin, offers.end(), [begin](const SignalOffer& o) { return !(*o.key == *begin->key); });
    const auto [known, is_new] = chosen.try_emplace(*begin->key);
    Chosen& choice = known->second;
    const Source best = begin->reading->source;
    const bool better =
        SourceRank(*begin->key->signal, best) < SourceRank(*begin->key->signal, choice.source);
    if (!is_new && best != choice.source && (better || now - choice.seen >= kGiveUpSource)) {
      ++choice.changes;
      choice.source = best;
    }
    if (is_new) choice.source = best;
    for (auto offer = begin; offer != end; ++offer) {
      if (offer->reading->source != choice.source) continue;
      choice.seen = now;
      values.push_back(ValueOf(*offer, choice.changes));
    }
    begin = end;
  }
  return values;
}

void SignalChooser::KeepOnly(const std::vector<SubjectId>& subjects) {
  std::erase_if(chosen_, [&subjects](const auto& entry) {
    return !std::binary_search(subjects.begin(), subjects.end(), entry.first);
  });
}

}  // namespace rdmapulse::collectors
