// The lab's hand inside a guest: runs commands for `lab exec`, whatever state the daemon is in.
// One process a connection; whoever hangs up has his command killed.
//   lab_agent PORT GREETING CONSOLE_MARKER
// The greeting tells the lab that it reached its own guest and not whoever got its port later.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/unique_fd.h"
#include "tests/lab/guest/framing.h"

namespace rdmapulse::lab {
namespace {

// What a child leaves in its pipes when it ends is there already; this bounds a grandchild that
// keeps writing.
constexpr int kDrainReadsMax = 256;
// A command that ignores the hang-up gets this long before it is killed.
constexpr auto kHangUpPatience = std::chrono::seconds(1);

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

std::optional<Pipe> OpenPipe() {
  std::array<int, 2> fds{};
  if (pipe2(fds.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

// Runs in the child, between fork and exec.
[[noreturn]] void Exec(const std::vector<std::string>& arguments, int in, int out, int error) {
  setsid();
  dup2(in, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  signal(SIGPIPE, SIG_DFL);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    pointers.push_back(const_cast<char*>(argument.c_str()));  // execvp's signature is C's
  }
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  std::fprintf(stderr, "lab: running %s: %s\n", pointers[0], std::strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

// One command and the connection that asked for it.
class Session {
 public:
  Session(UniqueFd connection, MessageReader reader)
      : connection_(std::move(connection)), reader_(std::move(reader)) {}

  void Run(const std::vector<std::string>& arguments) {
    if (!Start(arguments)) return;
    TakeInput();  // what came in one piece with the command
    while (!Step()) {
    }
    if (hung_up_) {
      EndCommand();
      return;
    }
    Drain(out_, kOutput);
    Drain(error_, kErrorOutput);
    SendAll(connection_.get(), Encode(kExit, std::to_string(exit_code_)));
  }

 private:
  bool Start(const std::vector<std::string>& arguments) {
    std::optional<Pipe> in = OpenPipe();
    std::optional<Pipe> out = OpenPipe();
    std::optional<Pipe> error = OpenPipe();
    if (!in || !out || !error) return false;
    child_ = fork();
    if (child_ < 0) return false;
    if (child_ == 0) {
      Exec(arguments, in->read_end.get(), out->write_end.get(), error->write_end.get());
    }
    in_ = std::move(in->write_end);
    out_ = std::move(out->read_end);
    error_ = std::move(error->read_end);
    for (const int fd : {in_.get(), out_.get(), error_.get()}) fcntl(fd, F_SETFL, O_NONBLOCK);
    return true;
  }

  // One turn of the loop; true when it is over.
  bool Step() {
    std::array<pollfd, 4> polled = {pollfd{connection_.get(), POLLIN, 0},
                                    pollfd{out_.get(), POLLIN, 0}, pollfd{error_.get(), POLLIN, 0},
                                    pollfd{pending_.empty() ? -1 : in_.get(), POLLOUT, 0}};
    // While input waits for the command, the lab's next input waits in TCP.
    if (!pending_.empty()) polled[0].events = 0;
    // A child that ends without closing its pipes (they live on in a grandchild) is seen within
    // this time.
    constexpr int kChildCheckMs = 50;
    poll(polled.data(), polled.size(), kChildCheckMs);
    if (polled[1].revents != 0) Forward(out_, kOutput);
    if (polled[2].revents != 0) Forward(error_, kErrorOutput);
    if (polled[3].revents != 0) FeedInput();
    if (polled[0].revents != 0) ReadConnection();
    if (hung_up_) return true;
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) != child_) return false;
    exit_code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
  }

  // One read; false when there is nothing more for now or for good.
  bool Forward(UniqueFd& from, char type) {
    std::array<char, 16384> bytes{};
    const ssize_t size = read(from.get(), bytes.data(), bytes.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (size <= 0) {
      from = UniqueFd();
      return false;
    }
    if (!SendAll(connection_.get(), Encode(type, {bytes.data(), static_cast<std::size_t>(size)}))) {
      hung_up_ = true;
    }
    return !hung_up_;
  }

  void Drain(UniqueFd& from, char type) {
    for (int i = 0; i < kDrainReadsMax && from && Forward(from, type); ++i) {
    }
  }

  void ReadConnection() {
    std::array<char, 16384> bytes{};
    const ssize_t size = recv(connection_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      hung_up_ = true;
      return;
    }
    reader_.Append({bytes.data(), static_cast<std::size_t>(size)});
    TakeInput();
  }

  void TakeInput() {
    while (const std::optional<Message> message = reader_.Next()) {
      if (message->type != kInput) continue;
      if (message->body.empty()) input_ended_ = true;
      pending_ += message->body;
    }
    if (reader_.Broken()) hung_up_ = true;
    if (input_ended_ && pending_.empty()) in_ = UniqueFd();
  }

  void FeedInput() {
    const ssize_t written = write(in_.get(), pending_.data(), pending_.size());
    if (written > 0) pending_.erase(0, static_cast<std::size_t>(written));
    if (written < 0 && errno != EAGAIN && errno != EINTR) {
      pending_.clear();  // the command reads no more; what it does with that is its own affair
      in_ = UniqueFd();
    }
    if (input_ended_ && pending_.empty()) in_ = UniqueFd();
  }

  void EndCommand() {
    kill(-child_, SIGTERM);
    const auto patience_ends = std::chrono::steady_clock::now() + kHangUpPatience;
    while (waitpid(child_, nullptr, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > patience_ends) kill(-child_, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  UniqueFd connection_;
  MessageReader reader_;
  pid_t child_ = -1;
  UniqueFd in_;
  UniqueFd out_;
  UniqueFd error_;
  std::string pending_;
  bool input_ended_ = false;
  bool hung_up_ = false;
  int exit_code_ = 0;
};

std::vector<std::string> SplitArguments(std::string_view body) {
  std::vector<std::string> arguments;
  while (!body.empty()) {
    const std::size_t end = body.find('\0');
    arguments.emplace_back(body.substr(0, end));
    if (end == std::string_view::npos) break;
    body.remove_prefix(end + 1);
  }
  return arguments;
}

void Serve(UniqueFd connection, std::string_view greeting) {
  // A guest whose management network is cut must not collect these processes.
  timeval timeout{};
  timeout.tv_sec = 10;
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  if (!SendAll(connection.get(), std::string(greeting) + "\n")) return;
  MessageReader reader;
  std::array<char, 16384> bytes{};
  while (true) {
    const ssize_t size = recv(connection.get(), bytes.data(), bytes.size(), 0);
    if (size <= 0) return;
    reader.Append({bytes.data(), static_cast<std::size_t>(size)});
    if (reader.Broken()) return;
    const std::optional<Message> message = reader.Next();
    if (!message) continue;
    const std::vector<std::string> arguments = SplitArguments(message->body);
    if (message->type != kCommand || arguments.empty()) return;
    Session(std::move(connection), std::move(reader)).Run(arguments);
    return;
  }
}

void PrintOnConsole(const char* marker) {
  const UniqueFd console(open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC));
  // The kernel or the firmware may have left the cursor behind some text.
  const std::string line = "\n" + std::string(marker) + "\n";
  if (!console || write(console.get(), line.data(), line.size()) < 0) std::perror("console");
}

int Main(std::uint16_t port, const char* greeting, const char* marker) {
  signal(SIGPIPE, SIG_IGN);
  const UniqueFd listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener.get(), 64) != 0) {
    std::perror("lab_agent: listening");
    return 1;
  }
  PrintOnConsole(marker);
  while (true) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    pollfd polled{listener.get(), POLLIN, 0};
    if (poll(&polled, 1, 1000) <= 0) continue;
    UniqueFd connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!connection || fork() != 0) continue;
    Serve(std::move(connection), greeting);
    return 0;
  }
}

}  // namespace
}  // namespace rdmapulse::lab

int main(int argc, char** argv) {
  std::uint16_t port = 0;
  if (argc != 4 ||
      std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), port).ec != std::errc()) {
    std::fprintf(stderr, "usage: lab_agent PORT GREETING CONSOLE_MARKER\n");
    return 2;
  }
  return rdmapulse::lab::Main(port, argv[2], argv[3]);
}
