// Whatever a file of a recording holds, it is values under different names and problems, both
// within their limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/recorded/ethtool_text.h"
#include "collectors/recorded/qos_text.h"
#include "collectors/recorded/rdma_statistic_text.h"
#include "collectors/recorded/tool_text.h"

namespace rdmapulse::collectors::recorded {
namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckValues(const std::vector<Value>& values) {
  Check(values.size() <= kMaxValues);
  std::set<std::string_view> names;
  for (const Value& value : values) {
    const std::string& name = value.name.Text();
    Check(!name.empty() && name.size() <= kMaxNameLength);
    for (const char c : name) Check(c >= ' ' && c <= '~');
    Check(names.insert(name).second);
  }
}

void CheckProblems(const std::vector<Problem>& problems, std::size_t parts = 1) {
  Check(problems.size() <= parts * kMaxProblems);
  for (const Problem& problem : problems) Check(!problem.reason.empty());
}

void CheckQos(const PortQos& qos) {
  if (qos.dscp_priority) {
    for (const auto& [dscp, priority] : *qos.dscp_priority) Check(dscp <= 63 && priority <= 7);
  }
  Check(qos.buffer_bytes.size() <= kPriorities);
}

void TryAll(std::string_view text) {
  const auto statistics = ParseEthtoolStatistics(text);
  CheckValues(statistics.driver);
  CheckValues(statistics.standard);
  CheckProblems(statistics.problems);
  const auto pause = ParseEthtoolPause(text);
  CheckValues(pause.statistics);
  CheckProblems(pause.problems);
  CheckProblems(ParseEthtoolDriver(text).problems);
  PortQos qos;
  for (const DcbPart part : {DcbPart::kPfc, DcbPart::kApp, DcbPart::kEts}) {
    const auto said = ParseDcb(part, text, qos);
    CheckValues(said.statistics);
    CheckProblems(said.problems);
  }
  CheckProblems(ParseMlnxQos(text, qos).problems);
  CheckQos(qos);
  const auto links = ParseRdmaStatistics(text);
  Check(links.links.size() <= kMaxLinks);
  for (const auto& link : links.links) {
    Check(!link.device.empty() && link.port >= 1 && link.port <= kMaxPortNumber);
    CheckValues(link.values);
  }
  CheckProblems(links.problems);
}

}  // namespace
}  // namespace rdmapulse::collectors::recorded

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rdmapulse::collectors::recorded::TryAll(
      {static_cast<const char*>(static_cast<const void*>(data)), size});
  return 0;
}
