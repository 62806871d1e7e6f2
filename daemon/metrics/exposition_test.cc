// What others hold against the exposition: promtool's opinion, and the table in docs/metrics.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "collectors/catalogue.h"
#include "daemon/metrics/family_table.h"

namespace rdmapulse::metrics {
namespace {

constexpr const char* kExample = "daemon/metrics/testdata/example.txt";

struct Documented {
  std::string family;
  std::string type;

  bool operator==(const Documented&) const = default;
  bool operator<(const Documented& other) const {
    return std::tie(family, type) < std::tie(other.family, other.type);
  }
};

void PrintTo(const Documented& row, std::ostream* out) { *out << row.family << ' ' << row.type; }

// The rows of every table of docs/metrics.md: family, type, and what its labels' cell says.
std::map<Documented, std::string> DocumentedFamilies() {
  std::map<Documented, std::string> rows;
  std::ifstream file("docs/metrics.md");
  const std::regex row(R"(\| `([a-z_]+)` \| ([a-z]+) \| ([^|]*) ?\|.*)");
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_match(line, match, row)) {
      const bool first = rows.emplace(Documented{match[1], match[2]}, match[3]).second;
      EXPECT_TRUE(first) << "twice in docs/metrics.md: " << match[1];
    }
  }
  return rows;
}

std::string TypeName(MetricType type) {
  switch (type) {
    case MetricType::kCounter: return "counter";
    case MetricType::kGauge: return "gauge";
    case MetricType::kHistogram: return "histogram";
  }
  return "?";
}

TEST(ExpositionTest, TheDocumentedFamiliesAreThoseOfTheCode) {
  std::vector<Documented> documented;
  for (const auto& [row, labels] : DocumentedFamilies()) documented.push_back(row);
  std::vector<Documented> exported;
  for (std::size_t i = 0; i < kFamilyCount; ++i) {
    const FamilyInfo& info = Info(static_cast<Family>(i));
    exported.push_back({std::string(info.name), TypeName(info.type)});
  }
  std::sort(exported.begin(), exported.end());
  EXPECT_EQ(documented, exported);
}

TEST(ExpositionTest, TheDocumentedSignalsAreThoseOfTheCatalogue) {
  std::ifstream file("docs/metrics.md");
  std::set<std::pair<std::string, std::string>> documented;  // name, unit
  std::string unit;
  bool in_signals = false;
  const std::regex item("- ([a-z]+): .*");
  const std::regex name("`([a-z0-9_]+)`");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) in_signals = line == "## Signals";
    if (!in_signals || !(line.starts_with("- ") || line.starts_with("  "))) continue;
    std::smatch match;
    if (std::regex_match(line, match, item)) unit = match[1];
    for (std::sregex_iterator it(line.begin(), line.end(), name), end; it != end; ++it)
      documented.emplace((*it)[1], unit);
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const collectors::SignalInfo& signal : collectors::CanonicalSignals())
    known.emplace(signal.name, signal.unit);
  EXPECT_EQ(documented, known);
}

TEST(ExpositionTest, EveryLabelOfTheExampleIsDocumentedAtItsFamily) {
  std::map<std::string, std::string> labels_of;
  for (const auto& [row, labels] : DocumentedFamilies()) labels_of[row.family] = labels;
  // The labels that the example's configuration gives its host and peers, and the histograms' own.
  const std::set<std::string> free = {"fabric", "tor", "le"};
  std::ifstream file(kExample);
  const std::regex label(R"re(([a-z_]+)="(?:[^"\\]|\\.)*")re");
  int checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::string family = line.substr(0, line.find_first_of("{ "));
    family = std::regex_replace(family, std::regex("_seconds_(bucket|sum|count)$"), "_seconds");
    ASSERT_TRUE(labels_of.contains(family)) << line;
    for (std::sregex_iterator it(line.begin(), line.end(), label), end; it != end; ++it) {
      const std::string name = (*it)[1];
      if (free.contains(name)) continue;
      ++checked;
      EXPECT_NE(labels_of[family].find('`' + name + '`'), std::string::npos) << line;
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(ExpositionTest, PromtoolHasNoComplaintButTheNamesThatAreFixed) {
  // Their names are part of the contract with dashboards and rules.
  const std::string expected =
      "rdmapulse_counter_quality metric name should not include type 'counter'\n"
      "rdmapulse_raw_counter_total metric name should not include type 'counter'\n"
      "rdmapulse_raw_gauge metric name should not include type 'gauge'\n";
  const std::string command = std::string("/usr/bin/promtool check metrics 2>&1 < ") + kExample;
  FILE* promtool = popen(command.c_str(), "r");
  ASSERT_NE(promtool, nullptr);
  std::string said;
  std::array<char, 4096> chunk{};
  for (std::size_t size = 0; (size = fread(chunk.data(), 1, chunk.size(), promtool)) > 0;) {
    said.append(chunk.data(), size);
  }
  EXPECT_EQ(said, expected);
  EXPECT_EQ(WEXITSTATUS(pclose(promtool)), 3) << "3: parsed, but something to say about the style";
}

}  // namespace
}  // namespace rdmapulse::metrics
