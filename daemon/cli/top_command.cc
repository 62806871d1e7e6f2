// top: /api/v1/ports again and again; in place on a terminal, one table after another in a pipe.
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>

#include "daemon/base/time.h"
#include "daemon/base/unix_time.h"
#include "daemon/cli/api_client.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/interrupt.h"
#include "daemon/cli/output.h"
#include "daemon/cli/top_view.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

// ECMA-48: to the upper left; to the end of the line, of the screen; another screen and back.
constexpr const char* kHome = "\x1b[H";
constexpr const char* kClearLine = "\x1b[K";
constexpr const char* kClearBelow = "\x1b[J";
constexpr const char* kOwnScreen = "\x1b[?1049h\x1b[?25l";
constexpr const char* kOldScreen = "\x1b[?25h\x1b[?1049l";

// What was longer before leaves nothing behind.
std::string InPlace(const std::string& text) {
  std::string placed = kHome;
  for (const char c : text) {
    if (c == '\n') placed += kClearLine;
    placed += c;
  }
  return placed + kClearBelow;
}

// True: interrupted.
bool Sleep(TimePoint until, int interrupt_fd) {
  pollfd wait{.fd = interrupt_fd, .events = POLLIN, .revents = 0};
  for (;;) {
    const Duration left = until - Clock::now();
    if (left <= Duration::zero()) return false;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    if (poll(&wait, 1, static_cast<int>(ms)) > 0) return true;
  }
}

std::string Shown(const TopCommand& command, const std::string& answer, const std::string& table,
                  bool first, bool in_place) {
  if (command.daemon.json) return answer + "\n";
  std::string shown = HumanTime(UnixTimeNowUs()) + "\n" + table;
  if (in_place) return InPlace(shown);
  return first ? shown : "\n" + shown;
}

Result<void> Look(const TopCommand& command, int interrupt_fd, bool in_place) {
  const auto interval =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(command.interval_seconds));
  TimePoint next = Clock::now();
  for (std::uint32_t seen = 1;; ++seen) {
    const Result<std::string> answer = Ask(command.daemon.socket, {.target = "/api/v1/ports"});
    if (!answer) return tl::unexpected(answer.error());
    const Result<std::string> text = TopText(*answer);
    if (!text) return tl::unexpected(text.error());
    const Result<Printed> printed = Print(Shown(command, *answer, *text, seen == 1, in_place));
    if (!printed) return tl::unexpected(printed.error());
    if (*printed == Printed::kNobodyReads || seen == command.count) return {};
    next = std::max(next + interval, Clock::now());  // what was missed is not made up for
    if (Sleep(next, interrupt_fd)) return {};
  }
}

}  // namespace

Result<int> Run(const TopCommand& command) {
  const Result<Interrupt> interrupt = Interrupt::Open();
  if (!interrupt) return tl::unexpected(interrupt.error());
  // With an end, what was seen last shall stay to be read.
  const bool in_place = isatty(STDOUT_FILENO) == 1 && command.count == 0 && !command.daemon.json;
  if (in_place) (void)Print(kOwnScreen);
  const Result<void> looked = Look(command, interrupt->Fd(), in_place);
  if (in_place) (void)Print(kOldScreen);
  if (!looked) return tl::unexpected(looked.error());
  return kExitDone;
}

}  // namespace rdmapulse::cli
