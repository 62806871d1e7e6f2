#include "tests/integration/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

namespace rdmapulse::tests {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 60s;

}  // namespace

Process::Process(const std::vector<std::string>& arguments) {
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  argv.reserve(copies.size() + 1);
  for (std::string& argument : copies) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
  out_ = UniqueFd(ends[0]);
  const UniqueFd in(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, in.get(), STDERR_FILENO);
  if (posix_spawn(&pid_, argv[0], &actions, nullptr, argv.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
}

Process::~Process() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool Process::WaitFor(const std::string& text) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    const std::size_t found = output_.find(text, waited_for_);
    if (found != std::string::npos) {
      waited_for_ = found + text.size();
      return true;
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - std::chrono::steady_clock::now());
    if (left <= 0ms || !ReadMore(left)) return false;
  }
}

void Process::Signal(int signal) const { kill(pid_, signal); }

int Process::Wait() {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (ReadMore(std::chrono::duration_cast<std::chrono::milliseconds>(
      end - std::chrono::steady_clock::now()))) {
  }
  if (std::chrono::steady_clock::now() >= end) kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// False: the program has closed its output, or it said nothing for that long.
bool Process::ReadMore(std::chrono::milliseconds patience) {
  pollfd wait = {out_.get(), POLLIN, 0};
  if (patience <= 0ms || poll(&wait, 1, static_cast<int>(patience.count())) != 1) return false;
  std::array<char, 4096> buffer{};
  const ssize_t size = read(out_.get(), buffer.data(), buffer.size());
  if (size <= 0) return false;
  output_.append(buffer.data(), static_cast<std::size_t>(size));
  return true;
}

}  // namespace rdmapulse::tests
