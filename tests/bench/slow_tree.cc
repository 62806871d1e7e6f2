// Shows a folder through FUSE, one file of which takes its time whenever it is read, as a NIC's
// counter does whose firmware is slow. Prints where, until its input ends.
#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "tests/fakes/slow_files.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 4) {
    fmt::print(stderr, "usage: slow_tree FOLDER FILE MILLISECONDS   (0: as fast as the others)\n");
    return 2;
  }
  auto files = rdmapulse::fakes::SlowFiles::Mount(argv[1]);
  if (!files) {
    fmt::print(stderr, "slow_tree: {}\n", files.error().Text());
    return 1;
  }
  const std::string slow = argv[2];
  const auto stall = std::chrono::milliseconds(std::stoi(argv[3]));
  fmt::print("{}\n", (*files)->Root());
  std::fflush(stdout);
  std::jthread stalls([&](const std::stop_token& over) {
    while (stall > 0ms && !over.stop_requested()) {
      (*files)->Block(slow);
      while ((*files)->Waiting() == 0 && !over.stop_requested()) std::this_thread::sleep_for(1ms);
      std::this_thread::sleep_for(stall);
      (*files)->Release();
    }
  });
  while (std::getchar() != EOF) {
  }
  // Whoever has a mount namespace of his own (a build's sandbox) may hold the mount for as long as
  // he lives; closing it in good order would wait for him.
  const std::string root = (*files)->Root();
  umount2(root.c_str(), MNT_DETACH);
  rmdir(root.c_str());
  std::quick_exit(0);
}
