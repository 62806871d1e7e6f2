#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/recorded/json_text.h"
#include "collectors/recorded/qos_text.h"
#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

constexpr std::uint32_t kMaxDscp = 63;

std::optional<std::uint32_t> Index(std::string_view text) {
  return NumberUpTo(text, kPriorities - 1);
}

// "CS3", "AF31", "EF", and the numbers that have no name (RFC 2474, 2597, 3246, 5865, 8622).
std::optional<std::uint32_t> ParseDscp(std::string_view text) {
  if (const auto number = NumberUpTo(text, kMaxDscp)) return number;
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  const auto digit = [&name](std::size_t at) { return static_cast<std::uint32_t>(name[at] - '0'); };
  if (name.size() == 3 && name.starts_with("CS") && digit(2) <= 7) return digit(2) * 8;
  if (name.size() == 4 && name.starts_with("AF") && digit(2) >= 1 && digit(2) <= 4 &&
      digit(3) >= 1 && digit(3) <= 3)
    return digit(2) * 8 + digit(3) * 2;
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 7> kNames = {
      {{"DEFAULT", 0},
       {"DF", 0},
       {"BE", 0},
       {"LE", 1},
       {"VA", 44},
       {"VOICE-ADMIT", 44},
       {"EF", 46}}};
  for (const auto& [known, value] : kNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

std::optional<Selection> ParseSelection(std::string_view text) {
  if (text == "strict") return Selection::kStrict;
  if (text == "cbs") return Selection::kCreditBased;
  if (text == "ets") return Selection::kEnhanced;
  if (text == "vendor") return Selection::kVendor;
  return std::nullopt;
}

// Takes "KEY ITEM:VALUE …" and "KEY VALUE" apart from how they are written down.
class Settings {
 public:
  Settings(PortQos& qos, NamedValues& values) : qos_(qos), values_(values) {}

  static bool IsKey(std::string_view word) {
    constexpr std::string_view kKeys[] = {"pfc-cap",  "delay",       "prio-pfc",
                                          "requests", "indications", "tc-bw",
                                          "tc-tsa",   "prio-tc",     "dscp-prio"};
    return std::find(std::begin(kKeys), std::end(kKeys), word) != std::end(kKeys);
  }

  void TakeScalar(std::string_view key, std::string_view value) {
    if (key != "pfc-cap" && key != "delay") return;
    const auto number = NumberUpTo(value, UINT32_MAX);
    if (!number) return Misunderstood(key, value);
    (key == "delay" ? qos_.pfc_delay : qos_.pfc_capability) = number;
  }

  void TakeItem(std::string_view key, std::string_view item, std::string_view value) {
    if (!Take(key, item, value)) Misunderstood(key, std::string(item) + ":" + std::string(value));
  }

 private:
  template <typename T>
  static bool Put(std::optional<std::array<T, kPriorities>>& to, std::uint32_t index,
                  std::optional<T> value) {
    if (!value) return false;
    if (!to) to.emplace();
    (*to)[index] = *value;
    return true;
  }

  bool Take(std::string_view key, std::string_view item, std::string_view value) {
    if (key == "dscp-prio") {
      const auto dscp = ParseDscp(item);
      const auto priority = Index(value);
      if (!dscp || !priority) return false;
      if (!qos_.dscp_priority) qos_.dscp_priority.emplace();
      // One DSCP may have several entries; the kernel uses the highest priority (dcb_app.c).
      auto& entry = (*qos_.dscp_priority)[*dscp];
      entry = std::max(entry, *priority);
      return true;
    }
    const auto index = Index(item);
    if (!index) return false;
    if (key == "prio-pfc") return TakePfc(*index, value);
    if (key == "prio-tc") return Put(qos_.priority_tc, *index, Index(value));
    if (key == "tc-bw")
      return Put(qos_.tc_bandwidth_percent, *index, NumberUpTo(WithoutPercent(value), 100));
    if (key == "tc-tsa") return Put(qos_.tc_selection, *index, ParseSelection(value));
    if (key == "requests" || key == "indications")
      values_.Add(std::string(key) + "[" + std::to_string(*index) + "]", value);
    return true;
  }

  bool TakePfc(std::uint32_t index, std::string_view value) {
    const bool on = value == "on" || value == "true" || value == "1";
    if (!on && value != "off" && value != "false" && value != "0") return false;
    if (!qos_.pfc_priorities) qos_.pfc_priorities.emplace();
    qos_.pfc_priorities->set(index, on);
    return true;
  }

  static std::string_view WithoutPercent(std::string_view text) {
    if (text.ends_with('%')) text.remove_suffix(1);
    return text;
  }

  void Misunderstood(std::string_view key, std::string_view what) {
    values_.Complain(key, "not understood: '" + Printable(what) + "'");
  }

  PortQos& qos_;
  NamedValues& values_;
};

// `key` is what the words since belong to; empty: to something that is not wanted.
void TakeWord(std::string_view word, std::string_view& key, Settings& settings) {
  if (Settings::IsKey(word)) {
    key = word;
    return;
  }
  const std::size_t colon = word.rfind(':');
  if (key.empty()) return;
  if (colon != std::string_view::npos) {
    settings.TakeItem(key, word.substr(0, colon), word.substr(colon + 1));
    return;
  }
  settings.TakeScalar(key, word);
  key = {};
}

void TakeText(std::string_view text, Settings& settings, NamedValues& values) {
  Lines lines(text);
  while (const auto line = lines.Next()) {
    auto words = Words(line->text);
    if (!line->whole && !words.empty() && line->text.ends_with(words.back())) {
      values.Complain(words.back(), "the file ends within this word");
      words.pop_back();
    }
    std::string_view key;
    for (const std::string_view word : words) TakeWord(word, key, settings);
  }
}

std::string TextOf(const Json& value) {
  if (const auto* const text = value.if_string()) return {text->data(), text->size()};
  if (const bool* const on = value.if_bool()) return *on ? "on" : "off";
  const auto number = NumberOf(value);
  return number ? std::to_string(*number) : std::string("?");
}

void TakeJsonItem(std::string_view key, const Json& item, std::size_t index, Settings& settings) {
  // A list of pairs is written as pairs; what is listed for each priority goes by its place.
  if (const auto* const pair = item.if_array()) {
    if (pair->size() == 2) settings.TakeItem(key, TextOf((*pair)[0]), TextOf((*pair)[1]));
  } else if (const auto* const object = item.if_object()) {
    for (const auto& [name, value] : *object)
      settings.TakeItem(key, std::string_view(name.data(), name.size()), TextOf(value));
  } else {
    settings.TakeItem(key, std::to_string(index), TextOf(item));
  }
}

void TakeJson(std::string_view text, Settings& settings, NamedValues& values) {
  const Result<Json> document = ParseJson(text);
  if (!document) return values.Complain("", document.error().doing);
  const auto* const of = OnlyObject(*document);
  // With nothing configured some releases print an empty array.
  const auto* const array = document->if_array();
  if (of == nullptr && array != nullptr && array->empty()) return;
  if (of == nullptr) return values.Complain("", "not what dcb prints as JSON");
  for (const auto& [name, value] : *of) {
    std::string key(name.data(), name.size());
    std::replace(key.begin(), key.end(), '_', '-');
    if (!Settings::IsKey(key)) continue;
    const auto* const list = value.if_array();
    if (list == nullptr) {
      settings.TakeScalar(key, TextOf(value));
      continue;
    }
    for (std::size_t i = 0; i < list->size(); ++i) TakeJsonItem(key, (*list)[i], i, settings);
  }
}

}  // namespace

QosText ParseDcb(DcbPart part, std::string_view text, PortQos& qos) {
  NamedValues values(Source::kDcb);
  Settings settings(qos, values);
  const PortQos before = qos;
  if (IsBinary(text)) {
    values.Complain("", "not what dcb prints");
  } else {
    // The table is printed entry by entry: none of them is an answer too.
    if (part == DcbPart::kApp && !qos.dscp_priority) qos.dscp_priority.emplace();
    if (IsJson(text)) {
      TakeJson(text, settings, values);
    } else {
      TakeText(text, settings, values);
      const bool said_nothing = qos == before && values.Empty() && !values.HasProblems();
      if (said_nothing && part != DcbPart::kApp && !Trim(text).empty())
        values.Complain("", "nothing that dcb prints");
    }
  }
  QosText said;
  said.problems = values.TakeProblems();
  said.statistics = values.TakeValues();
  return said;
}

}  // namespace rdmapulse::collectors::recorded
