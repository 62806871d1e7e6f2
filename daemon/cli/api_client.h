// Asks the daemon over its Unix socket (design.md 5.1; the routes are daemon/http's). Blocking; for
// a tool that does one thing. Errors are whole sentences: "asking the daemon at /run/…: …".
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::cli {

inline constexpr const char* kDefaultSocket = "/run/rdmapulse/rdmapulse.sock";

// A daemon that renders thousands of paths on a busy host answers well within this.
inline constexpr Duration kAnswerTime = std::chrono::seconds(10);

struct ApiRequest {
  std::string method = "GET";
  std::string target = {};  // "/api/v1/ports"
  std::string body = {};    // JSON; empty: none
};

// The body of the answer, at most 64 MiB, within kAnswerTime. An answer other than 200 is an error
// that says what the daemon said.
Result<std::string> Ask(const std::string& socket, const ApiRequest& request);

// An answer that comes line by line, for as long as it takes; that it begins is said within
// kAnswerTime of Start, or it is an error.
class ApiLines {
 public:
  static Result<ApiLines> Start(const std::string& socket, const ApiRequest& request);
  ApiLines(ApiLines&&) noexcept;
  ApiLines& operator=(ApiLines&&) noexcept;
  ~ApiLines();  // closes the connection, which tells the daemon to stop

  enum class Event { kLine, kNothingYet, kInterrupted, kEnd };
  // The next line (at most 64 KiB, without its end) goes to `line`. kNothingYet: none came within
  // `patience`; call again. kInterrupted: `interrupt_fd` (-1: none) became readable.
  Result<Event> Next(Duration patience, int interrupt_fd, std::string& line);

 private:
  class Answer;
  friend Result<std::string> Ask(const std::string& socket, const ApiRequest& request);
  friend Result<bool> StillAnswers(const std::string& socket, Duration patience, int interrupt_fd);
  explicit ApiLines(std::unique_ptr<Answer> answer);

  std::unique_ptr<Answer> answer_;
};

// Whether the daemon says anything at all within `patience`: an error when not, since an answer
// that comes line by line may rightly be silent for long. False: interrupted before it was known.
Result<bool> StillAnswers(const std::string& socket, Duration patience, int interrupt_fd);

}  // namespace rdmapulse::cli
