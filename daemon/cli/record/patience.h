// Waits for what may block, but not for ever.
#pragma once

#include <future>
#include <optional>
#include <thread>
#include <utility>

#include "daemon/base/time.h"

namespace rdmapulse::cli {

// What `ask` gives, asked on a thread of its own; nullopt: it took longer than `patience`, and its
// thread is left to itself. `ask` must own all that it uses.
template <typename Ask>
auto Patiently(Duration patience, Ask ask) -> std::optional<decltype(ask())> {
  std::packaged_task<decltype(ask())()> task(std::move(ask));
  auto answer = task.get_future();
  std::thread thread(std::move(task));
  if (answer.wait_for(patience) != std::future_status::ready) {
    thread.detach();
    return std::nullopt;
  }
  thread.join();
  return answer.get();
}

}  // namespace rdmapulse::cli
