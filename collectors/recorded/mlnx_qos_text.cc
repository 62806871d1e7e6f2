#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "collectors/kernel_files.h"
#include "collectors/recorded/qos_text.h"
#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

// What stands behind `key` up to `end`: "vendor" of "tc: 0 ratelimit: 0, tsa: vendor".
std::optional<std::string_view> After(std::string_view line, std::string_view key, char end = ',') {
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  return Trim(rest.substr(0, rest.find(end)));
}

// Of "31,30,29,".
std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (const auto item = Trim(list.substr(0, comma)); !item.empty()) items.push_back(item);
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return items;
}

class MlnxQos {
 public:
  explicit MlnxQos(PortQos& qos, NamedValues& complaints) : qos_(qos), complaints_(complaints) {}

  void TakeLine(std::string_view line) {
    const std::string_view text = Trim(line);
    if (!(TakeTrust(text) && TakeDscp(text) && TakeBuffers(text) && TakePfc(text) && TakeTc(text)))
      complaints_.Complain(text, "not understood");
  }

 private:
  // Each: whether the line is none of its own, or one that it understood.
  bool TakeTrust(std::string_view line) {
    const auto trust = After(line, "Priority trust state:");
    if (!trust) return true;
    if (*trust == "dscp") qos_.trust = Trust::kDscp;
    if (*trust == "pcp") qos_.trust = Trust::kPcp;
    return *trust == "dscp" || *trust == "pcp";
  }

  // "prio:3 dscp:31,30,29,"; one priority may have several such lines.
  bool TakeDscp(std::string_view line) {
    if (line.starts_with("dscp2prio mapping") && !qos_.dscp_priority) qos_.dscp_priority.emplace();
    const std::size_t list = line.find("dscp:");
    if (!line.starts_with("prio:") || list == std::string_view::npos) return true;
    const auto priority = NumberUpTo(line.substr(5, list - 5), kPriorities - 1);
    if (!priority) return false;
    if (!qos_.dscp_priority) qos_.dscp_priority.emplace();
    for (const std::string_view item : Items(line.substr(list + 5))) {
      const auto dscp = NumberUpTo(item, 63);
      if (!dscp) return false;
      (*qos_.dscp_priority)[*dscp] = *priority;
    }
    return true;
  }

  // "Receive buffer size (bytes): 80256,80256,896,max_buffer_size=262016"
  bool TakeBuffers(std::string_view line) {
    if (!line.starts_with("Receive buffer size") || !After(line, ":")) return true;
    qos_.buffer_bytes.clear();
    for (const std::string_view item : Items(*After(line, ":", '\0'))) {
      const auto bytes = ParseNumber(item);
      if (!bytes || qos_.buffer_bytes.size() == kPriorities) break;
      qos_.buffer_bytes.push_back(*bytes);
    }
    return !qos_.buffer_bytes.empty();
  }

  // The rows of the table under "PFC configuration".
  bool TakePfc(std::string_view line) {
    const auto words = Words(line);
    const bool enabled = !words.empty() && words[0] == "enabled";
    if (words.empty() || !(enabled || words[0] == "buffer")) return true;
    std::array<std::uint32_t, kPriorities> row{};
    if (words.size() != kPriorities + 1) return false;
    for (std::size_t i = 0; i < kPriorities; ++i) {
      const auto cell = NumberUpTo(words[i + 1], enabled ? 1 : kPriorities - 1);
      if (!cell) return false;
      row[i] = *cell;
    }
    if (!enabled) {
      qos_.priority_buffer = row;
      return true;
    }
    qos_.pfc_priorities.emplace();
    for (std::size_t i = 0; i < kPriorities; ++i) qos_.pfc_priorities->set(i, row[i] == 1);
    return true;
  }

  // "tc: 0 ratelimit: unlimited, tsa: ets, bw: 50%", and below it the priorities of that class:
  // "priority:  1", in old versions "up:  1" and then the kernel's own.
  bool TakeTc(std::string_view line) {
    if (line.starts_with("tc:")) return BeginTc(line);
    std::optional<std::string_view> priority;
    if (line.starts_with("priority:")) priority = After(line, "priority:");
    if (line.starts_with("up:")) priority = After(line, "up:");
    if (!priority) return true;
    const auto number = NumberUpTo(*priority, kPriorities - 1);
    if (!number || tc_ == kPriorities) return false;
    if (!qos_.priority_tc) qos_.priority_tc.emplace();
    (*qos_.priority_tc)[*number] = tc_;
    return true;
  }

  bool BeginTc(std::string_view line) {
    const auto words = Words(line.substr(3));
    const auto number = words.empty() ? std::nullopt : NumberUpTo(words[0], kPriorities - 1);
    tc_ = number.value_or(kPriorities);
    const auto selection = After(line, "tsa:");
    if (!number || !selection) return number.has_value();
    if (!qos_.tc_selection) qos_.tc_selection.emplace();
    auto& chosen = (*qos_.tc_selection)[*number];
    if (*selection == "strict") {
      chosen = Selection::kStrict;
    } else if (*selection == "ets") {
      chosen = Selection::kEnhanced;
    } else if (*selection == "vendor") {
      chosen = Selection::kVendor;
    } else {
      return false;
    }
    auto share = After(line, "bw:");
    if (!share) return true;
    if (share->ends_with('%')) share->remove_suffix(1);
    const auto percent = NumberUpTo(*share, 100);
    if (!percent) return false;
    if (!qos_.tc_bandwidth_percent) qos_.tc_bandwidth_percent.emplace();
    (*qos_.tc_bandwidth_percent)[*number] = *percent;
    return true;
  }

  PortQos& qos_;
  NamedValues& complaints_;
  std::uint32_t tc_ = kPriorities;  // that number: none has begun
};

}  // namespace

QosText ParseMlnxQos(std::string_view text, PortQos& qos) {
  NamedValues complaints(Source::kDcb);
  if (IsBinary(text)) {
    complaints.Complain("", "not what mlnx_qos prints");
    return {.problems = complaints.TakeProblems()};
  }
  const PortQos before = qos;
  MlnxQos reader(qos, complaints);
  Lines lines(text);
  while (const auto line = lines.Next()) {
    if (line->whole) {
      reader.TakeLine(line->text);
    } else if (!Trim(line->text).empty()) {
      complaints.Complain(Trim(line->text), "the file ends within this line");
    }
  }
  if (!Trim(text).empty() && qos == before && !complaints.HasProblems())
    complaints.Complain("", "nothing that mlnx_qos prints");
  return {.problems = complaints.TakeProblems()};
}

}  // namespace rdmapulse::collectors::recorded
