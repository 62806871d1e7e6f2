// How late this machine wakes a sleeper: sleeps 10 ms many times and prints by how much it
// overslept. Latencies measured in the lab mean something only next to this number.
//   lateness [COUNT]
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kSleep = std::chrono::milliseconds(10);
  constexpr std::size_t kCountMax = 100000;
  std::size_t count = 300;
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), count);
  count = std::clamp<std::size_t>(count, 1, kCountMax);
  std::vector<double> late_ms;
  late_ms.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto due = Clock::now() + kSleep;
    std::this_thread::sleep_until(due);
    late_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due).count());
  }
  std::sort(late_ms.begin(), late_ms.end());
  std::printf("count=%zu p50_ms=%.3f p99_ms=%.3f max_ms=%.3f\n", count, late_ms[count / 2],
              late_ms[std::min(count - 1, count * 99 / 100)], late_ms.back());
  return 0;
}
