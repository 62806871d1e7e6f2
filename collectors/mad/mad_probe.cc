// Reads one port by MADs and prints the values: what the test runs on a simulated fabric.
#include <cstdlib>
#include <iostream>

#include "collectors/mad/mad_counters.h"

int main(int argc, char** argv) {
  using namespace rdmapulse::collectors;
  if (argc != 4) {
    std::cerr << "usage: mad_probe DEVICE PORT own|switch\n";
    return 2;
  }
  mad::MadCounters counters(argv[1], std::string_view(argv[3]) == "switch");
  Reading reading;
  const SourceRead read = counters.Read(rdmapulse::Clock::now(),
                                        static_cast<std::uint32_t>(std::atoi(argv[2])), reading);
  for (const Value& value : reading.values) std::cout << value.name << " " << value.value << "\n";
  for (const Problem& problem : reading.problems)
    std::cout << "problem " << problem.name << ": " << problem.reason << "\n";
  std::cout << "exists " << read.exists << " success " << read.success << "\n";
  return 0;
}
