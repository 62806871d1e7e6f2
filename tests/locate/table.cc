// Prints how often the localisation is right, as a table for tests/bench/README.md.
//
//   bazel run --config=release //tests/locate:table -- [TRIALS]
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "tests/locate/score.h"

namespace rdmapulse::locate {
namespace {

struct Line {
  const char* name;
  Kind kind;
  double loss;
  std::size_t faults;
};

constexpr Line kLines[] = {
    {"fabric link 100 %", Kind::kLink, 1, 1},
    {"fabric link 10 %", Kind::kLink, 0.1, 1},
    {"fabric link 5 %", Kind::kLink, 0.05, 1},
    {"fabric link 2 %", Kind::kLink, 0.02, 1},
    {"fabric link 1 %", Kind::kLink, 0.01, 1},
    {"fabric link 0.5 %", Kind::kLink, 0.005, 1},
    {"spine 1 %", Kind::kSwitch, 0.01, 1},
    {"spine 0.2 %", Kind::kSwitch, 0.002, 1},
    {"ToR 1 %", Kind::kTor, 0.01, 1},
    {"ToR 0.2 %", Kind::kTor, 0.002, 1},
    {"NIC 1 %", Kind::kNic, 0.01, 1},
    {"NIC 0.1 %", Kind::kNic, 0.001, 1},
    {"two links, 5 % each", Kind::kLink, 0.05, 2},
    {"two NICs, 1 % each", Kind::kNic, 0.01, 2},
    {"healthy", Kind::kLink, 0, 0},
};

std::string Percent(std::size_t part, std::size_t whole) {
  if (whole == 0) return "-";
  return std::to_string((part * 200 + whole) / (whole * 2)) + " %";
}

std::string Cell(const Score& score) {
  return Percent(score.exact, score.trials) + " (" + std::to_string(score.wrong) + ")";
}

constexpr std::uint64_t kSeed = 9000;

void PrintLine(const Line& line, const std::vector<ClosSettings>& fabrics, std::size_t trials) {
  std::printf("| %s |", line.name);
  for (const ClosSettings& fabric : fabrics) {
    const Scenario scenario{
        .fabric = fabric, .kind = line.kind, .loss = line.loss, .faults = line.faults};
    std::printf(" %s |", Cell(Play(scenario, trials, kSeed)).c_str());
    std::fflush(stdout);
  }
  std::printf("\n");
}

ClosSettings Seconds(double seconds, double rate = 1) {
  ClosSettings settings;
  settings.window_seconds = seconds;
  settings.probes_per_second = rate;
  return settings;
}

void PrintVariants(std::size_t trials) {
  std::printf(
      "\n| fault | 10 %% of paths stale | 30 %% stale | background 1e-3 | paths unknown |\n"
      "|---|---|---|---|---|\n");
  ClosSettings stale10 = Seconds(30);
  stale10.stale_paths = 0.1;
  ClosSettings stale30 = Seconds(30);
  stale30.stale_paths = 0.3;
  ClosSettings lossy = Seconds(30);
  lossy.background = 1e-3;
  ClosSettings unknown = Seconds(30);
  unknown.hops_known = false;
  for (const Line& line : kLines) PrintLine(line, {stale10, stale30, lossy, unknown}, trials);
}

int Main(int argc, char** argv) {
  const std::size_t trials = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 60;
  std::printf(
      "exact share of %zu trials (suspects that are wrong)\n\n"
      "| fault | 10 s | 30 s | 120 s | 30 s at 5x inter-ToR rate |\n|---|---|---|---|---|\n",
      trials);
  for (const Line& line : kLines) {
    PrintLine(line, {Seconds(10), Seconds(30), Seconds(120), Seconds(30, 5)}, trials);
  }
  PrintVariants(trials);
  return 0;
}

}  // namespace
}  // namespace rdmapulse::locate

int main(int argc, char** argv) {
  try {
    return rdmapulse::locate::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "table: %s\n", error.what());
    return 1;
  }
}
