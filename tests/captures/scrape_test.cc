// The whole exposition of five hosts that differ most, and promtool's opinion of it. Written anew
// by SCRAPE_GOLDEN=$PWD/tests/captures/scrape bazel run //tests/captures:scrape_test; see
// README.md.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/fakes/tree.h"

namespace rdmapulse::captures {
namespace {

constexpr const char* kFolder = "tests/captures/";

struct Host {
  const char* capture;
  const char* folder;  // below it
};

constexpr std::array kHosts = {
    Host{"004-gpud-h100-8xndr-bond-linkdowned-255", ""},  // InfiniBand beside RoCE
    Host{"010-ethtool-bnxt-ring-discards", ""},           // a netdev without a device
    Host{"024-mana-rdma-stats-fatal-errors", ""},         // RDMA netlink beside sysfs
    Host{"084-fault-rnr-retry-exceeded-status13", "server"},
    Host{"106-dcb-pfc-off-then-on-cx3", ""},  // one device, two netdevs, DCB
};

struct Said {
  int exit_code = -1;
  std::string text{};
};

Said Ask(const std::string& command) {
  Said said;
  FILE* const program = popen(command.c_str(), "r");
  if (program == nullptr) return said;
  std::array<char, 4096> chunk{};
  for (std::size_t size = 0; (size = fread(chunk.data(), 1, chunk.size(), program)) > 0;)
    said.text.append(chunk.data(), size);
  const int status = pclose(program);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

// Without what no two runs have in common.
std::string Lasting(const std::string& exposition) {
  std::string lasting;
  std::size_t at = 0;
  while (at < exposition.size()) {
    const std::size_t end = exposition.find('\n', at);
    const std::string line = exposition.substr(at, end - at);
    at = end == std::string::npos ? exposition.size() : end + 1;
    if (line.find("_duration_seconds") == std::string::npos &&
        line.find("_age_seconds") == std::string::npos &&
        line.find("rdmapulse_build_info") == std::string::npos)
      lasting += line + "\n";
  }
  return lasting;
}

class WholeScrapeTest : public ::testing::TestWithParam<Host> {
 protected:
  static std::string Scrape() {
    const auto tree =
        fakes::Tree::FromFile(kFolder + (std::string("data/") + GetParam().capture) + ".tree");
    const Said said = Ask("daemon/cli/rdmapulse scrape --root '" + tree.Root() + "/" +
                          GetParam().folder + "' 2>/dev/null");
    EXPECT_EQ(said.exit_code, 0) << said.text;
    // The host is named after its folder, which has a new name each time.
    std::string text = said.text;
    const std::string name = tree.Root().substr(tree.Root().rfind('/') + 1);
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
      text.replace(at, name.size(), "h1");
    return text;
  }
};

TEST_P(WholeScrapeTest, IsAsItIsKnownToBe) {
  const std::string scraped = Lasting(Scrape());
  const std::string file = std::string(GetParam().capture) + ".prom";
  if (const char* const folder = std::getenv("SCRAPE_GOLDEN")) {
    std::ofstream(std::string(folder) + "/" + file) << scraped;
    GTEST_SKIP() << "written";
  }
  std::ifstream golden(kFolder + ("scrape/" + file));
  EXPECT_EQ(scraped, std::string(std::istreambuf_iterator<char>(golden), {}));
}

TEST_P(WholeScrapeTest, PromtoolReadsIt) {
  const std::string file = ::testing::TempDir() + "/scrape.prom";
  std::ofstream(file) << Scrape();
  const Said said = Ask("/usr/bin/promtool check metrics 2>&1 < '" + file + "'");
  std::string rest = said.text;
  // Their names are part of the contract with dashboards and rules.
  for (const std::string known :
       {"rdmapulse_counter_quality metric name should not include type 'counter'\n",
        "rdmapulse_raw_counter_total metric name should not include type 'counter'\n",
        "rdmapulse_raw_gauge metric name should not include type 'gauge'\n"}) {
    if (const std::size_t at = rest.find(known); at != std::string::npos)
      rest.erase(at, known.size());
  }
  EXPECT_EQ(rest, "");
  EXPECT_TRUE(said.exit_code == 0 || said.exit_code == 3) << said.exit_code;
}

std::string CaptureNumber(const ::testing::TestParamInfo<Host>& tested) {
  return std::string(tested.param.capture).substr(0, 3);
}

INSTANTIATE_TEST_SUITE_P(Hosts, WholeScrapeTest, ::testing::ValuesIn(kHosts), CaptureNumber);

}  // namespace
}  // namespace rdmapulse::captures
