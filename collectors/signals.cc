#include "collectors/signals.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "collectors/signal_catalogue.h"

namespace rdmapulse::collectors {
namespace {

constexpr std::string_view kRxe = "rxe";

bool Mentions(std::string_view list, std::string_view driver) {
  while (!list.empty()) {
    const std::size_t blank = std::min(list.find(' '), list.size());
    if (list.substr(0, blank) == driver) return true;
    list.remove_prefix(std::min(blank + 1, list.size()));
  }
  return false;
}

bool Applies(const SignalRow& row, Source source, std::string_view driver) {
  if (row.source != source) return false;
  return row.driver.empty() ? !Mentions(row.except, driver) : row.driver == driver;
}

// The rows of one name; the catalogue never gives a name two meanings for one driver and source.
const SignalRow* Find(std::string_view name, Source source, std::string_view driver) {
  const auto rows = SignalCatalogue();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const SignalRow& r) {
    return r.name == name && Applies(r, source, driver);
  });
  return row == rows.end() ? nullptr : &*row;
}

bool IsSaturated(const SignalRow& row, std::uint64_t value) {
  return row.limit == Limit::kSaturate && value >= (1ULL << row.width_bits) - 1;
}

auto Key(const SignalValue& value) { return std::tie(value.signal, value.priority); }

// Adds to the entry of the same signal. A sum that does not fit is as unknown as its parts.
void Add(const SignalValue& value, std::vector<SignalValue>& values,
         std::vector<std::string_view>& overflown) {
  const auto same = std::find_if(values.begin(), values.end(),
                                 [&value](const SignalValue& v) { return Key(v) == Key(value); });
  if (same == values.end()) {
    values.push_back(value);
    return;
  }
  if (__builtin_add_overflow(same->value, value.value, &same->value))
    overflown.push_back(value.signal);
  same->saturated |= value.saturated;
}

void Sort(std::vector<SignalValue>& values) {
  std::sort(values.begin(), values.end(),
            [](const SignalValue& a, const SignalValue& b) { return Key(a) < Key(b); });
}

// The wider and the cheaper first.
int Preference(Source source) {
  switch (source) {
    case Source::kRdmaNl: return 0;
    case Source::kHwCounters: return 1;
    case Source::kDeviceHwCounters: return 2;
    case Source::kEthtool: return 3;
    case Source::kEthtoolNl: return 4;
    case Source::kMad: return 5;
    case Source::kDcb: return 6;
    case Source::kCounters: return 7;
    case Source::kNetdev: return 8;
    case Source::kCm:
    case Source::kDiagCounters: break;  // nobody else has what they have
  }
  return 9;
}

SubjectSignals& SubjectOf(const Reading& reading, std::vector<SubjectSignals>& subjects) {
  // A netdev without a device is its own subject; one that belongs to a port is part of the port.
  const std::string& netdev = reading.device.empty() ? reading.netdev : reading.device;
  const auto same = std::find_if(subjects.begin(), subjects.end(), [&](const SubjectSignals& s) {
    const std::string& key = s.device.empty() ? s.netdev : s.device;
    return s.device.empty() == reading.device.empty() && key == netdev && s.port == reading.port;
  });
  if (same != subjects.end()) {
    if (same->netdev != reading.netdev) same->netdev.clear();
    return *same;
  }
  subjects.push_back({.device = reading.device, .port = reading.port, .netdev = reading.netdev});
  return subjects.back();
}

std::optional<std::uint64_t> Raw(const Reading& reading, std::string_view name) {
  const auto value = std::find_if(reading.values.begin(), reading.values.end(),
                                  [name](const Value& v) { return v.name == name; });
  return value == reading.values.end() ? std::nullopt : std::optional(value->value);
}

std::optional<std::uint64_t> RxeTimeouts(const Reading& reading) {
  const auto retries = Raw(reading, "completer_retry_err");
  if (!retries) return std::nullopt;
  const std::uint64_t naks = Raw(reading, "rcvd_seq_err").value_or(0);
  return *retries - std::min(*retries, naks);
}

}  // namespace

std::vector<SignalValue> Signals(const Reading& reading, std::string_view driver) {
  std::vector<SignalValue> values;
  std::vector<std::string_view> overflown;
  for (const Value& raw : reading.values) {
    const SignalRow* row = Find(raw.name, reading.source, driver);
    if (row == nullptr) continue;
    SignalValue value{.signal = row->signal, .saturated = IsSaturated(*row, raw.value)};
    if (__builtin_mul_overflow(raw.value, row->scale, &value.value)) {
      overflown.push_back(row->signal);
    } else {
      Add(value, values, overflown);
    }
  }
  std::erase_if(values, [&overflown](const SignalValue& value) {
    return std::find(overflown.begin(), overflown.end(), value.signal) != overflown.end();
  });
  Sort(values);
  return values;
}

std::vector<SubjectSignals> Signals(const Collection& collection, std::string_view driver) {
  std::vector<SubjectSignals> subjects;
  for (const Reading& reading : collection.readings) SubjectOf(reading, subjects);

  std::vector<const Reading*> by_preference;
  for (const Reading& reading : collection.readings) by_preference.push_back(&reading);
  std::stable_sort(by_preference.begin(), by_preference.end(),
                   [](const Reading* a, const Reading* b) {
                     return Preference(a->source) < Preference(b->source);
                   });
  for (const Reading* reading : by_preference) {
    std::vector<SignalValue>& values = SubjectOf(*reading, subjects).values;
    const std::size_t taken = values.size();
    for (const SignalValue& value : Signals(*reading, driver)) {
      const auto end = values.begin() + static_cast<std::ptrdiff_t>(taken);
      const bool known = std::any_of(
          values.begin(), end, [&value](const SignalValue& v) { return Key(v) == Key(value); });
      if (!known) values.push_back(value);
    }
  }
  for (SubjectSignals& subject : subjects) Sort(subject.values);
  return subjects;
}

std::optional<std::uint64_t> AckTimeoutRetransmissions(const Collection& collection,
                                                       const std::string& device,
                                                       std::uint32_t port,
                                                       std::string_view driver) {
  std::optional<std::uint64_t> total;
  for (const Reading& reading : collection.readings) {
    if (reading.source != Source::kHwCounters || reading.device != device || reading.port != port)
      continue;
    if (driver == kRxe) return RxeTimeouts(reading);
    for (const SignalValue& value : Signals(reading, driver)) {
      if (value.signal == kRetransmitTimeout || value.signal == kAdaptiveRetransmission)
        total = total.value_or(0) + value.value;
    }
  }
  return total;
}

}  // namespace rdmapulse::collectors
