// What waking costs here, with no work at all: a timer so many times a second.
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

int main(int argc, char** argv) {
  const long hertz = argc > 1 ? std::atol(argv[1]) : 128;
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const timespec every{.tv_sec = 0, .tv_nsec = 1'000'000'000L / hertz};
  const itimerspec spec{.it_interval = every, .it_value = every};
  timerfd_settime(fd, 0, &spec, nullptr);
  std::uint64_t expirations = 0;
  while (read(fd, &expirations, sizeof expirations) > 0) {
  }
  return 1;
}
