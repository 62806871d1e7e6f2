// For tests: the built binary, run as a user runs it.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::cli {

// Found before SocketPath changes the working directory.
inline const std::string& Tool() {
  static const std::string tool = std::filesystem::current_path() / "daemon/cli/rdmapulse";
  return tool;
}

// A running tool. A test that waits longer than a minute for it has failed.
class Process {
 public:
  // `output`: where its standard output goes; -1: a pipe that Wait reads.
  explicit Process(std::vector<std::string> arguments, int output = -1) {
    arguments.insert(arguments.begin(), Tool());
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    std::array<int, 2> out{};
    std::array<int, 2> error{};
    EXPECT_EQ(pipe2(out.data(), O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(error.data(), O_CLOEXEC), 0);
    const UniqueFd out_end(out[1]);
    const UniqueFd error_end(error[1]);
    out_ = UniqueFd(out[0]);
    error_ = UniqueFd(error[0]);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output >= 0 ? output : out_end.get(), 1);
    posix_spawn_file_actions_adddup2(&actions, error_end.get(), 2);
    EXPECT_EQ(posix_spawn(&pid_, Tool().c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
  }

  // Until `text` was printed.
  void WaitFor(const std::string& text) {
    while (output_.find(text) == std::string::npos) {
      ASSERT_TRUE(ReadMore(out_.get(), output_)) << "only this came: " << output_;
    }
  }
  void Signal(int signal) const { ASSERT_EQ(kill(pid_, signal), 0); }

  struct Result {
    int exit_code = -1;
    std::string output;
    std::string error;

    bool operator==(const Result&) const = default;
  };
  Result Wait() {
    while (ReadMore(out_.get(), output_)) {
    }
    std::string error;
    while (ReadMore(error_.get(), error)) {
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), output_, error};
  }

 private:
  static bool ReadMore(int fd, std::string& text) {
    pollfd wait = {fd, POLLIN, 0};
    EXPECT_EQ(poll(&wait, 1, 60000), 1) << "the tool hangs";
    std::array<char, 4096> buffer{};
    const ssize_t size = wait.revents == 0 ? 0 : read(fd, buffer.data(), buffer.size());
    if (size > 0) text.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  pid_t pid_ = -1;
  UniqueFd out_;
  UniqueFd error_;
  std::string output_;
};

inline std::ostream& operator<<(std::ostream& out, const Process::Result& result) {
  return out << "exit code " << result.exit_code << "\noutput: " << result.output
             << "\nerror: " << result.error;
}

}  // namespace rdmapulse::cli
