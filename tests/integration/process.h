// A program under test as its own process, with both outputs read back. Used by tests only.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::tests {

class Process {
 public:
  // arguments[0] is the program's path. Both outputs go to one pipe: what a terminal would show.
  explicit Process(const std::vector<std::string>& arguments);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Kills it if it still runs.
  ~Process();

  // Until it has said `text` after what was already waited for; false: it ended or a minute passed.
  bool WaitFor(const std::string& text);
  void Signal(int signal) const;
  // The exit code, or minus the signal that ended it. Kills it after a minute.
  int Wait();

  const std::string& output() const { return output_; }

 private:
  bool ReadMore(std::chrono::milliseconds patience);

  pid_t pid_ = -1;
  UniqueFd out_;
  std::string output_;
  std::size_t waited_for_ = 0;
};

}  // namespace rdmapulse::tests
