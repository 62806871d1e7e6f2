#include "collectors/catalogue_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include "config/document.h"
#include "config/report.h"
#include "config/value.h"
#include "config/wording.h"

namespace rdmapulse::collectors {
namespace {

using config::ForEachEntry;
using config::ForEachItem;
using config::Node;
using Entry = config::Value;  // `Value` is a counter's here

// The largest is the upper half of a 64-bit counter in two pieces.
constexpr std::uint64_t kScaleMax = 1ULL << 32;

std::optional<Source> SourceNamed(std::string_view name) {
  for (std::size_t i = 0; i < kSourceCount; ++i) {
    if (Name(static_cast<Source>(i)) == name) return static_cast<Source>(i);
  }
  return std::nullopt;
}

// The names of ports/N/hw_counters are also what RDMA netlink says and what devices say in
// switchdev mode; our own MADs ask for the attributes that counters/ shows.
std::vector<Source> WithSharers(Source source) {
  if (source == Source::kHwCounters) return {source, Source::kRdmaNl, Source::kDeviceHwCounters};
  if (source == Source::kCounters) return {source, Source::kMad};
  return {source};
}

std::vector<std::string_view> SourceNames() {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kSourceCount; ++i) names.push_back(Name(static_cast<Source>(i)));
  return names;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view nearest = config::Nearest(word, known);
  return nearest.empty() ? "known here: " + config::Join(known)
                         : "did you mean " + std::string(nearest) + "?";
}

const SignalInfo* ReadSignal(const Entry& value) {
  std::string name;
  Read(value, name);
  if (name.empty()) return nullptr;
  if (const SignalInfo* signal = FindSignal(name)) return signal;
  std::vector<std::string_view> names;
  for (const SignalInfo& signal : CanonicalSignals()) names.push_back(signal.name);
  const std::string_view nearest = config::Nearest(name, names);
  value.Error(config::Quoted(name) + " is no signal; " +
              (nearest.empty() ? "docs/metrics.md lists them"
                               : "did you mean " + std::string(nearest) + "?"));
  return nullptr;
}

void ReadScale(const Entry& value, std::uint64_t& scale) {
  std::string text;
  Read(value, text);
  if (value.report.Failed(value.key)) return;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || scale == 0 || scale > kScaleMax) {
    scale = 1;
    value.Error(config::Quoted(text) + " is no scale; use a whole number from 1 to " +
                std::to_string(kScaleMax));
  }
}

void ReadBits(const Entry& value, unsigned& bits) {
  if (const auto number = ReadNumber(value, {2, 64, "a width in bits"})) bits = *number;
}

void ReadAbsent(const Entry& value, std::optional<std::uint64_t>& absent) {
  std::string text;
  Read(value, text);
  if (value.report.Failed(value.key)) return;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return value.Error(config::Quoted(text) + " is no value of a counter; use a whole number");
  absent = number;
}

void ReadLimit(const Entry& value, Limit& limit) {
  constexpr std::array<std::string_view, 2> kWords = {"sticks", "wraps"};
  std::string word;
  ReadChoice(value, kWords, word);
  if (!word.empty()) limit = word == "sticks" ? Limit::kSticks : Limit::kWraps;
}

void ReadGauge(const Entry& value, std::optional<bool>& gauge) {
  constexpr std::array<std::string_view, 2> kWords = {"counter", "gauge"};
  std::string word;
  ReadChoice(value, kWords, word);
  if (!word.empty()) gauge = word == "gauge";
}

void ReadLink(const Entry& value, std::optional<LinkLayer>& link) {
  constexpr std::array<std::string_view, 2> kWords = {"ethernet", "infiniband"};
  std::string word;
  ReadChoice(value, kWords, word);
  if (!word.empty()) link = word == "ethernet" ? LinkLayer::kEthernet : LinkLayer::kInfiniband;
}

void ReadFunction(const Entry& value, bool& is_virtual) {
  constexpr std::array<std::string_view, 1> kWords = {"virtual"};
  std::string word;
  ReadChoice(value, kWords, word);
  is_virtual = !word.empty();
}

void ReadAllZero(const Entry& value, bool& is_unmeasured) {
  constexpr std::array<std::string_view, 1> kWords = {"not_measured"};
  std::string word;
  ReadChoice(value, kWords, word);
  is_unmeasured = !word.empty();
}

void ReadMissing(const Entry& value, bool& is_pfc_off) {
  constexpr std::array<std::string_view, 1> kWords = {"pfc_off"};
  std::string word;
  ReadChoice(value, kWords, word);
  is_pfc_off = !word.empty();
}

struct NameItem {
  NamePattern pattern;
  std::optional<std::uint64_t> scale;
};

void ReadNameItem(const Entry& item, std::vector<NameItem>& names) {
  std::string text;
  std::optional<std::uint64_t> scale;
  if (item.node.kind == Node::Kind::kMapping) {
    ForEachEntry(item, "{name: rx_msd, scale: 4}",
                 [&text, &scale](const std::string& name, const Entry& entry) {
                   if (name == "name") return Read(entry, text);
                   if (name == "scale") return ReadScale(entry, scale.emplace(1));
                   entry.Error("unknown key; known here: name, scale");
                 });
  } else {
    Read(item, text);
  }
  if (item.report.Failed(item.key)) return;
  auto pattern = NamePattern::Parse(text);
  if (!pattern) return item.Error(pattern.error().Text());
  names.push_back({std::move(*pattern), scale});
}

void ReadNames(const Entry& value, std::vector<NameItem>& names) {
  if (value.node.kind != Node::Kind::kSequence) return ReadNameItem(value, names);
  ForEachItem(value, "[old_name, new_name]",
              [&names](const Entry& item) { ReadNameItem(item, names); });
}

// One line of the file: one row for each of its names.
struct Line {
  CatalogueRow common;
  std::vector<NameItem> names;
};

struct LineKey {
  std::string_view name;
  void (*read)(const Entry& value, Line& line);
};

constexpr std::array<LineKey, 14> kLineKeys = {{
    {"signal", [](const Entry& v, Line& l) { l.common.signal = ReadSignal(v); }},
    {"name", [](const Entry& v, Line& l) { ReadNames(v, l.names); }},
    {"sum",
     [](const Entry& v, Line& l) {
       l.common.adds = true;
       ReadNames(v, l.names);
     }},
    {"part", [](const Entry& v, Line& l) { Read(v, l.common.part); }},
    {"scale", [](const Entry& v, Line& l) { ReadScale(v, l.common.scale); }},
    {"bits", [](const Entry& v, Line& l) { ReadBits(v, l.common.bits); }},
    {"at_limit", [](const Entry& v, Line& l) { ReadLimit(v, l.common.limit); }},
    {"kind", [](const Entry& v, Line& l) { ReadGauge(v, l.common.gauge); }},
    {"link", [](const Entry& v, Line& l) { ReadLink(v, l.common.link); }},
    {"function", [](const Entry& v, Line& l) { ReadFunction(v, l.common.of_virtual_functions); }},
    {"per_queue", [](const Entry& v, Line& l) { Read(v, l.common.per_queue); }},
    {"frozen", [](const Entry& v, Line& l) { Read(v, l.common.frozen); }},
    {"all_zero", [](const Entry& v, Line& l) { ReadAllZero(v, l.common.all_zero_is_unmeasured); }},
    {"missing", [](const Entry& v, Line& l) { ReadMissing(v, l.common.missing_is_pfc_off); }},
}};

std::vector<std::string_view> LineKeyNames() {
  std::vector<std::string_view> names;
  for (const LineKey& key : kLineKeys) names.push_back(key.name);
  return names;
}

bool Has(const Entry& value, std::string_view key) {
  return std::any_of(value.node.children.begin(), value.node.children.end(),
                     [key](const config::Child& child) { return child.key == key; });
}

// What a line must not say at once.
void CheckLine(const Entry& item, const Line& line) {
  if (Has(item, "name") == Has(item, "sum")) {
    return item.Error("needs either name (one of them counts) or sum (all of them add up)");
  }
  if (line.names.empty() && !item.report.Failed(item.key)) {
    return item.Error("names no counter");
  }
  const CatalogueRow& row = line.common;
  if (row.limit != Limit::kUnknown && row.bits == 64) {
    item.Error("at_limit needs bits: a 64-bit counter does not reach its limit");
  }
  if (row.signal != nullptr && !row.frozen.empty()) {
    item.Error("a frozen value says nothing, so it can have no signal; delete one of the two");
  }
  if (row.signal == nullptr && !item.report.Failed(item.key) && (!row.part.empty() || row.adds)) {
    item.Error("part and sum are of a signal, which is missing");
  }
  if (row.signal != nullptr && row.gauge && *row.gauge != row.signal->gauge) {
    item.Error("kind contradicts the signal, which is a " +
               std::string(row.signal->gauge ? "gauge" : "counter"));
  }
}

class FileReader {
 public:
  explicit FileReader(CatalogueFile& file) : file_(file) {}

  void ReadRoot(const Entry& root) {
    std::vector<std::string_view> known = SourceNames();
    known.emplace_back("drivers");
    known.emplace_back("absent");
    ForEachEntry(root, "{drivers: [mynic], ethtool: […]}",
                 [this, &known](const std::string& name, const Entry& entry) {
                   if (name == "drivers") return ReadDrivers(entry);
                   if (name == "absent") return ReadAbsent(entry, absent_);
                   if (const auto source = SourceNamed(name)) return ReadSection(entry, *source);
                   entry.Error("unknown key; " + DidYouMean(name, known));
                 });
    if (root.node.kind == Node::Kind::kMapping && !Has(root, "drivers")) {
      root.Error("drivers is missing: name the drivers whose counters these are, or any");
    }
    for (CatalogueRow& row : file_.rows) {
      row.drivers = drivers_;
      row.absent = absent_;
    }
  }

 private:
  void ReadDrivers(const Entry& value) {
    if (value.node.kind == Node::Kind::kScalar && value.node.text == "any") return;
    if (value.node.kind != Node::Kind::kSequence || value.node.children.empty()) {
      return value.Error("write a list of drivers, such as [mynic], or any");
    }
    Read(value, drivers_);
  }

  void ReadSection(const Entry& value, Source source) {
    ForEachItem(value, "[{signal: rdma_tx_bytes, name: tx_bytes}]",
                [this, source](const Entry& item) { ReadLine(item, source); });
  }

  void ReadLine(const Entry& item, Source source) {
    Line line;
    const bool is_mapping = ForEachEntry(
        item, "{signal: rdma_tx_bytes, name: tx_bytes}",
        [&line](const std::string& name, const Entry& entry) {
          const auto* key = std::find_if(kLineKeys.begin(), kLineKeys.end(),
                                         [&name](const LineKey& k) { return k.name == name; });
          if (key != kLineKeys.end()) return key->read(entry, line);
          entry.Error("unknown key; " + DidYouMean(name, LineKeyNames()));
        });
    if (!is_mapping) return;
    CheckLine(item, line);
    if (file_.rows.size() + line.names.size() > kRowsMax) {
      return item.Error("the file has more than " + std::to_string(kRowsMax) + " names");
    }
    // Alternatives: the first is believed. What adds up is one offer.
    std::uint32_t order = next_order_;
    for (NameItem& name : line.names) {
      CatalogueRow row = line.common;
      row.name = std::move(name.pattern);
      row.sources = WithSharers(source);
      row.scale = name.scale.value_or(row.scale);
      row.order = line.common.adds ? next_order_ : order++;
      file_.rows.push_back(std::move(row));
    }
    next_order_ = std::max(order, next_order_ + 1);
  }

  CatalogueFile& file_;
  std::vector<std::string> drivers_;
  std::optional<std::uint64_t> absent_;
  std::uint32_t next_order_ = 0;
};

// The root of the document in `yaml`, read by `read`; all that is wrong with it, by line.
std::vector<config::Problem> ReadDocument(std::string_view yaml,
                                          const std::function<void(const Entry& root)>& read) {
  const auto document = config::ParseDocument(yaml);
  if (!document) return {document.error()};
  config::Report report;
  const std::string whole_file;
  if (document->Root() == nullptr || document->Root()->kind == Node::Kind::kNull) {
    report.Error("", "the file is empty");
  } else {
    read(Entry{*document->Root(), whole_file, report});
  }
  return report.Sorted();
}

void ReadSignalLine(const Entry& item, std::vector<SignalInfo>& signals) {
  SignalInfo info;
  std::optional<bool> gauge;
  ForEachEntry(item, "{signal: cnp_sent, unit: packets}",
               [&info, &gauge](const std::string& name, const Entry& entry) {
                 if (name == "signal") return Read(entry, info.name);
                 if (name == "unit") return Read(entry, info.unit);
                 if (name == "kind") return ReadGauge(entry, gauge);
                 if (name != "sources") return entry.Error("unknown key");
                 ForEachItem(entry, "[ethtool]", [&info](const Entry& source) {
                   const auto known = SourceNamed(source.node.text);
                   if (!known) return source.Error("no source has this name");
                   info.sources.push_back(*known);
                 });
               });
  info.gauge = gauge.value_or(false);
  signals.push_back(std::move(info));
}

}  // namespace

CatalogueFile ParseCatalogueFile(std::string_view yaml) {
  CatalogueFile file;
  FileReader reader(file);
  file.problems = ReadDocument(yaml, [&reader](const Entry& root) { reader.ReadRoot(root); });
  if (!file.problems.empty()) file.rows.clear();
  return file;
}

SignalFile ParseSignalFile(std::string_view yaml) {
  SignalFile file;
  file.problems = ReadDocument(yaml, [&file](const Entry& root) {
    ForEachEntry(root, "{signals: […]}", [&file](const std::string& /*name*/, const Entry& list) {
      ForEachItem(list, "[{signal: cnp_sent, unit: packets}]",
                  [&file](const Entry& item) { ReadSignalLine(item, file.signals); });
    });
  });
  std::sort(file.signals.begin(), file.signals.end(),
            [](const SignalInfo& a, const SignalInfo& b) { return a.name < b.name; });
  return file;
}

}  // namespace rdmapulse::collectors
