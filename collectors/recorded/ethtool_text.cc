#include "collectors/recorded/ethtool_text.h"

#include <array>
#include <utility>

#include "collectors/kernel_files.h"
#include "collectors/recorded/json_text.h"
#include "collectors/recorded/pause_names.h"
#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

struct NameAndText {
  std::string_view name;
  std::string_view text;  // empty: nothing follows the colon
};

// At the last colon, since names of rings hold one: "[3]: rx_discards: 7".
std::optional<NameAndText> SplitAtLastColon(std::string_view line) {
  const std::size_t colon = line.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  return NameAndText{Trim(line.substr(0, colon)), Trim(line.substr(colon + 1))};
}

bool IsIndented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

// "no stats available", and what ethtool says where the driver has none.
bool SaysThatThereAreNone(std::string_view line) {
  return line == "no stats available" ||
         (line.starts_with("Cannot get stats") && line.ends_with("Operation not supported"));
}

constexpr std::array<std::string_view, 4> kGroups = {"eth-phy", "eth-mac", "eth-ctrl", "rmon"};

// "eth-mac-FramesReceivedOK" → "eth-mac/FramesReceivedOK"; what is of no group stays.
std::string StandardName(std::string_view name) {
  for (const std::string_view group : kGroups) {
    if (name.starts_with(group) && name.substr(group.size()).starts_with('-')) {
      return std::string(group) + "/" + std::string(name.substr(group.size() + 1));
    }
  }
  return std::string(name);
}

std::optional<bool> ParseOnOff(std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  return std::nullopt;
}

void Append(std::vector<Problem> from, std::vector<Problem>& to) {
  for (Problem& problem : from) {
    if (to.size() < kMaxProblems) to.push_back(std::move(problem));
  }
}

EthtoolPause PauseFromJson(std::string_view text) {
  EthtoolPause pause;
  const Result<Json> document = ParseJson(text);
  if (!document) {
    pause.problems.push_back({"", document.error().doing});
    return pause;
  }
  const boost::json::object* const of = OnlyObject(*document);
  if (of == nullptr) {
    pause.problems.push_back({"", "not what ethtool prints as JSON"});
    return pause;
  }
  pause.autonegotiated = BoolAt(*of, "autonegotiate");
  pause.rx = BoolAt(*of, "rx");
  pause.tx = BoolAt(*of, "tx");
  NamedValues values(Source::kEthtoolNl);
  if (const auto* const statistics = ObjectAt(*of, "statistics")) {
    for (const auto& [name, value] : *statistics) {
      AddJsonValue(PauseNameOfKernel(name), value, values);
    }
  }
  pause.problems = values.TakeProblems();
  pause.statistics = values.TakeValues();
  return pause;
}

// One line of `ethtool -a`: a setting before the statistics, a statistic after.
void TakePauseLine(const Line& line, bool statistics, EthtoolPause& pause, NamedValues& values) {
  const auto split = SplitAtLastColon(line.text);
  if (!split) return values.Complain(line.text, "not understood");
  if (statistics) {
    if (!line.whole) return values.Complain(split->name, "the file ends within this value");
    return values.Add(PauseNameOfKernel(split->name), split->text);
  }
  const bool known = split->name == "Autonegotiate" || split->name == "RX" || split->name == "TX";
  if (!known) return;  // the heading; what was negotiated, which some versions add
  const std::optional<bool> on = ParseOnOff(split->text);
  if (!on) return values.Complain(split->name, "neither on nor off");
  if (split->name == "RX") {
    pause.rx = on;
  } else if (split->name == "TX") {
    pause.tx = on;
  } else {
    pause.autonegotiated = on;
  }
}

}  // namespace

EthtoolStatistics ParseEthtoolStatistics(std::string_view text) {
  EthtoolStatistics statistics;
  if (IsBinary(text) || IsJson(text)) {
    statistics.problems.push_back({"", "not what `ethtool -S` prints"});
    return statistics;
  }
  NamedValues driver(Source::kEthtool);
  NamedValues standard(Source::kEthtoolNl);
  bool in_standard = false;
  Lines lines(text);
  while (const auto line = lines.Next()) {
    const std::string_view trimmed = Trim(line->text);
    if (trimmed.empty() || SaysThatThereAreNone(trimmed)) continue;
    const auto split = SplitAtLastColon(line->text);
    if (!split) {
      driver.Complain(trimmed, "no `name: value`");
    } else if (split->text.empty() && !IsIndented(line->text)) {
      in_standard = trimmed.starts_with("Standard stats for");
    } else if (split->text.empty()) {
      driver.Complain(split->name, "no value");
    } else if (!line->whole) {
      driver.Complain(split->name, "the file ends within this value");
    } else if (in_standard) {
      standard.Add(StandardName(split->name), split->text);
    } else {
      driver.Add(split->name, split->text);
    }
  }
  statistics.problems = driver.TakeProblems();
  Append(standard.TakeProblems(), statistics.problems);
  statistics.driver = driver.TakeValues();
  statistics.standard = standard.TakeValues();
  return statistics;
}

EthtoolPause ParseEthtoolPause(std::string_view text) {
  if (IsJson(text)) return PauseFromJson(text);
  EthtoolPause pause;
  if (IsBinary(text)) {
    pause.problems.push_back({"", "not what `ethtool -a` prints"});
    return pause;
  }
  NamedValues values(Source::kEthtoolNl);
  bool statistics = false;
  Lines lines(text);
  while (const auto line = lines.Next()) {
    const std::string_view trimmed = Trim(line->text);
    if (trimmed.empty()) continue;
    if (trimmed == "Statistics:") {
      statistics = true;
      continue;
    }
    TakePauseLine(*line, statistics, pause, values);
  }
  pause.problems = values.TakeProblems();
  pause.statistics = values.TakeValues();
  return pause;
}

EthtoolDriver ParseEthtoolDriver(std::string_view text) {
  EthtoolDriver driver;
  if (IsBinary(text)) {
    driver.problems.push_back({"", "not what `ethtool -i` prints"});
    return driver;
  }
  Lines lines(text);
  while (const auto line = lines.Next()) {
    // At the first colon: a PCI address holds two more.
    const std::size_t colon = line->text.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view name = Trim(line->text.substr(0, colon));
    const std::string value = Printable(Trim(line->text.substr(colon + 1)));
    if (name == "driver") driver.driver = value;
    if (name == "firmware-version") driver.firmware = value;
    if (name == "bus-info") driver.bus_info = value;
  }
  if (driver.driver.empty()) driver.problems.push_back({"", "it names no driver"});
  return driver;
}

}  // namespace rdmapulse::collectors::recorded
