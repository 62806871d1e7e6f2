// What is shipped agrees with the program: the example file and the operators' table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "config/keys.h"
#include "config/load.h"
#include "config/reload.h"

namespace rdmapulse::config {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string Text(const std::string& path) {
  const Result<std::string> text = ReadFile(path);
  EXPECT_TRUE(text) << text.error().Text();
  return text.value_or("");
}

// "a.b" and "1" → "{a: {b: 1}}".
std::string Nested(const std::string& path, const std::string& value) {
  std::string opened;
  std::string closed;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    opened += "{" + path.substr(begin, end - begin) + ": ";
    closed += "}";
    begin = end + 1;
  }
  return opened + value + closed;
}

struct Row {
  std::string default_value;  // as YAML; empty: none
  std::string changes;        // "reload", "reload, QPs", "restart"
};

std::string WithoutTicks(std::string text) {
  std::erase(text, '`');
  return text;
}

// The rows of the table under "## Keys" by key; " | " separates cells.
std::map<std::string, Row> DocumentedKeys() {
  std::map<std::string, Row> rows;
  const std::string text = Text("docs/configuration.md");
  for (std::size_t begin = text.find("\n| `"); begin != text.npos;
       begin = text.find("\n| `", begin + 1)) {
    std::vector<std::string> cells;
    const std::string line = text.substr(begin + 3, text.find('\n', begin + 1) - begin - 3);
    for (std::size_t at = 0; at <= line.size();) {
      const std::size_t end = std::min(line.find('|', at), line.size());
      std::string cell = line.substr(at, end - at);
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      cells.push_back(std::move(cell));
      at = end + 1;
    }
    if (cells.size() < 5) {
      ADD_FAILURE() << "too few cells: " << line;
      continue;
    }
    EXPECT_TRUE(rows.emplace(WithoutTicks(cells[0]), Row{WithoutTicks(cells[2]), cells[3]}).second)
        << cells[0] << " is there twice";
  }
  return rows;
}

TEST(ShippedConfigTest, ShowsEveryKeyAtItsDefault) {
  const std::string text = Text("config/rdmapulse.yaml");
  const LoadResult loaded = Load(text);
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.config, Config{});
  for (const std::string& key : KnownKeys()) {
    const std::string name = key.substr(key.find_last_of('.') + 1);
    EXPECT_NE(text.find(name + ":"), text.npos) << key;
  }
}

// A default that is written there but not read would go unseen above.
TEST(ShippedConfigTest, IsReadToTheLastKey) {
  std::string text = Text("config/rdmapulse.yaml");
  const std::string last = "256MiB";
  ASSERT_NE(text.find(last), text.npos);
  text.replace(text.find(last), last.size(), "512MiB");
  EXPECT_EQ(Load(text).config.recorder.max_bytes, 512U << 20);
}

TEST(DocumentationTest, ListsExactlyTheKnownKeys) {
  std::set<std::string> documented;
  for (const auto& [key, row] : DocumentedKeys()) documented.insert(key);
  const std::vector<std::string> known = KnownKeys();
  EXPECT_GT(known.size(), 40U);
  EXPECT_EQ(documented, std::set<std::string>(known.begin(), known.end()));
}

TEST(DocumentationTest, SaysTheTrueDefaults) {
  for (const auto& [key, row] : DocumentedKeys()) {
    if (key.starts_with("peers[]")) continue;
    const LoadResult loaded = Load(Nested(key, row.default_value));
    EXPECT_THAT(loaded.problems, IsEmpty()) << key;
    EXPECT_EQ(loaded.config, Config{}) << key;
  }
}

// For every key a value that is not its default.
const std::map<std::string, std::string>& OtherValues() {
  static const std::map<std::string, std::string> values = {
      {"host.name", "h1"},
      {"host.labels", "{tor: t7}"},
      {"http.listen", "':1'"},
      {"http.socket", "/tmp/s"},
      {"http.api_allow", "[10.0.0.0/8]"},
      {"control.listen", "':2'"},
      {"control.tls.cert", "/c"},
      {"control.tls.key", "/k"},
      {"control.tls.ca", "/a"},
      {"sysfs_root", "/host/sys"},
      {"proc_root", "/host/proc"},
      {"devices.include", "[mlx5_0]"},
      {"devices.exclude", "[mlx5_1]"},
      {"ports.ignore", "[mlx5_2/1]"},
      {"collect.interval", "2s"},
      {"collect.fast_interval", "200ms"},
      {"collect.qp_counters", "true"},
      {"collect.mad", "port"},
      {"collect.series_max", "1"},
      {"collect.allow", "[a]"},
      {"collect.deny", "[b]"},
      {"collect.catalogue", "[/c]"},
      {"peers", "[{name: h2, address: 192.0.2.2}]"},
      {"discovery.file", "[/f.json]"},
      {"discovery.http", "['http://a/']"},
      {"discovery.refresh", "30s"},
      {"discovery.dns", "[b]"},
      {"selection.tor_mesh", "false"},
      {"selection.sampled", "9"},
      {"selection.redraw", "2h"},
      {"selection.rails", "full"},
      {"paths.source_ports", "3"},
      {"paths.rotate", "off"},
      {"paths.connect", "rdma_cm"},
      {"ud.interval", "off"},
      {"ud.source_ports", "1"},
      {"polling.devices", "[a]"},
      {"polling.looks", "1"},
      {"budget.qps_per_nic", "1"},
      {"budget.probes_per_second_per_nic", "1"},
      {"gid.family", "ipv4"},
      {"expect.ecn", "false"},
      {"expect.out_of_order", "true"},
      {"expect.expected_agents", "3"},
      {"maintenance", "true"},
      {"trace.interval", "10s"},
      {"trace.packets_per_second", "1"},
      {"trace.hops_max", "1"},
      {"recorder.dir", "/r"},
      {"recorder.max_bytes", "1MiB"},
      {"recorder.max_recordings", "1"},
      {"recorder.window", "10s"},
      {"recorder.interval", "10s"},
      {"recorder.memory_bytes", "1MiB"},
      {"classes.lossless.dscp", "1"},
      {"classes.lossless.interval", "2s"},
      {"classes.lossless.deadline", "50ms"},
      {"classes.lossless.timeout", "1"},
      {"classes.lossless.retry_cnt", "1"},
      {"classes.lossless.ops", "[write]"},
      {"classes.control.dscp", "1"},
      {"classes.control.interval", "2s"},
      {"classes.control.deadline", "50ms"},
      {"classes.control.timeout", "1"},
      {"classes.control.retry_cnt", "1"},
      {"classes.control.ops", "[write]"},
  };
  return values;
}

// Of a threshold: in its range, whatever that is.
std::string OtherThreshold(const std::string& value) {
  if (value.find_first_of("smh") != value.npos) return value == "7s" ? "8s" : "7s";
  const double number = std::stod(value);
  return number >= 1 ? std::to_string(static_cast<int>(number) + 1)
                     : std::to_string(number / 2 + 1e-6);
}

TEST(DocumentationTest, SaysWhatAReloadDoesWithEachKey) {
  for (const auto& [key, row] : DocumentedKeys()) {
    if (key.starts_with("peers[]")) continue;
    const bool threshold = key.starts_with("health.");
    ASSERT_TRUE(threshold || OtherValues().contains(key)) << key;
    const Config other =
        Load(Nested(key, threshold ? OtherThreshold(row.default_value) : OtherValues().at(key)))
            .config;
    EXPECT_NE(other, Config{}) << key;
    const Changes changes = Diff(Config{}, other);
    if (row.changes == "restart") {
      EXPECT_THAT(changes.needs_restart, ElementsAre(key));
    } else {
      EXPECT_THAT(row.changes, ::testing::AnyOf("reload", "reload, QPs")) << key;
      EXPECT_TRUE(changes.Any()) << key;
      EXPECT_THAT(changes.needs_restart, IsEmpty()) << key;
    }
    const bool class_qps = changes.lossless.qp_attributes || changes.control.qp_attributes;
    const bool rebuilds = class_qps || changes.gid || changes.devices || changes.rails ||
                          changes.ud || changes.connect;
    EXPECT_EQ(rebuilds, row.changes == "reload, QPs") << key;
  }
}

}  // namespace
}  // namespace rdmapulse::config
