// The lab's switch: joins the data NICs of QEMU VMs, and impairs on command.
//   lab_switch --control PATH [--seed N] --port NAME,OUR_SOCKET,QEMU_SOCKET …
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"
#include "daemon/base/unique_fd.h"
#include "tests/lab/switch/control.h"
#include "tests/lab/switch/fabric_switch.h"
#include "tests/lab/switch/sockets.h"

namespace rdmapulse::lab {
namespace {

// A host that does not take frames is asked again this soon, then half as often each time.
constexpr Duration kRetryMin = std::chrono::microseconds(200);
constexpr Duration kRetryMax = std::chrono::milliseconds(10);
// Frames read of one port before the others have their turn.
constexpr int kBatch = 64;
constexpr std::size_t kFrameBytesMax = 65536;
constexpr std::size_t kControlLineBytesMax = 4096;

struct Options {
  std::string control_path;
  std::uint64_t seed = 1;
  std::vector<PortAddress> ports;
};

Result<PortAddress> ParsePort(std::string_view text) {
  const std::size_t first = text.find(',');
  const std::size_t second = first == std::string_view::npos ? first : text.find(',', first + 1);
  if (second == std::string_view::npos) {
    return Fail({"reading --port ", text, ": not NAME,OUR_SOCKET,QEMU_SOCKET"});
  }
  return PortAddress{std::string(text.substr(0, first)),
                     std::string(text.substr(first + 1, second - first - 1)),
                     std::string(text.substr(second + 1))};
}

Result<Options> ParseOptions(const std::vector<std::string_view>& arguments) {
  Options options;
  for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
    const std::string_view value = arguments[i + 1];
    if (arguments[i] == "--control") {
      options.control_path = value;
    } else if (arguments[i] == "--seed") {
      const auto parsed = std::from_chars(value.data(), value.data() + value.size(), options.seed);
      if (parsed.ec != std::errc()) return Fail({"reading --seed ", value, ": not a number"});
    } else if (arguments[i] == "--port") {
      Result<PortAddress> port = ParsePort(value);
      if (!port) return tl::unexpected(port.error());
      options.ports.push_back(std::move(*port));
    } else {
      return Fail({"unknown option ", arguments[i]});
    }
  }
  if (arguments.size() % 2 != 0) return Fail({"the last option has no value"});
  if (options.control_path.empty() || options.ports.empty()) {
    return Fail({"--control and at least one --port are needed"});
  }
  return options;
}

// Owns the sockets and the loop. One thread.
class Server {
 public:
  static Result<Server> Open(const Options& options);

  // Until SIGTERM or SIGINT.
  Result<void> Run();

 private:
  struct Link {
    PortAddress address;
    UniqueFd fd;
    Duration retry_after = kRetryMin;
    std::optional<TimePoint> retry_at{};
  };

  explicit Server(FabricSwitch fabric) : fabric_(std::move(fabric)) {}

  Result<void> Watch(int fd, std::uint64_t token);
  void ReadPort(PortId port);
  void AnswerControl();
  void AnswerConnection(UniqueFd connection);
  void FlushPort(PortId port, TimePoint now);
  void FlushAll();

  FabricSwitch fabric_;
  std::vector<Link> links_;
  UniqueFd epoll_;
  UniqueFd timer_;
  UniqueFd signals_;
  UniqueFd control_;
  std::vector<unsigned char> buffer_ = std::vector<unsigned char>(kFrameBytesMax);
};

// Epoll tokens: below this, a port's number.
constexpr std::uint64_t kTimerToken = 1u << 20;
constexpr std::uint64_t kSignalToken = kTimerToken + 1;
constexpr std::uint64_t kControlToken = kTimerToken + 2;

Result<void> Server::Watch(int fd, std::uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return Fail(errno, {"watching a descriptor"});
  }
  return {};
}

Result<Server> Server::Open(const Options& options) {
  std::vector<std::string> names;
  for (const PortAddress& port : options.ports) names.push_back(port.name);
  Server server(FabricSwitch(names, options.seed));
  server.epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  server.timer_ = UniqueFd(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  server.signals_ = UniqueFd(signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!server.epoll_ || !server.timer_ || !server.signals_) {
    return Fail(errno, {"opening the loop's descriptors"});
  }
  // One message a connection each way, so nothing is ever half read.
  Result<UniqueFd> control = BindUnixSocket(SOCK_SEQPACKET, options.control_path);
  if (!control) return tl::unexpected(control.error());
  server.control_ = std::move(*control);
  if (listen(server.control_.get(), 16) != 0) {
    return Fail(errno, {"listening on ", options.control_path});
  }
  for (const PortAddress& port : options.ports) {
    Result<UniqueFd> fd = BindUnixSocket(SOCK_DGRAM, port.switch_path);
    if (!fd) return tl::unexpected(fd.error());
    server.links_.push_back({port, std::move(*fd)});
  }
  std::vector<std::pair<int, std::uint64_t>> watched = {{server.timer_.get(), kTimerToken},
                                                        {server.signals_.get(), kSignalToken},
                                                        {server.control_.get(), kControlToken}};
  for (PortId port = 0; port < server.links_.size(); ++port) {
    watched.emplace_back(server.links_[port].fd.get(), port);
  }
  for (const auto& [fd, token] : watched) {
    const Result<void> added = server.Watch(fd, token);
    if (!added) return tl::unexpected(added.error());
  }
  return server;
}

void Server::ReadPort(PortId port) {
  for (int i = 0; i < kBatch; ++i) {
    const ssize_t size = recv(links_[port].fd.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (size < 0) return;
    fabric_.Receive(port, Frame(buffer_.begin(), buffer_.begin() + size), Clock::now());
  }
}

void Server::AnswerControl() {
  UniqueFd connection(accept4(control_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection) AnswerConnection(std::move(connection));
}

void Server::AnswerConnection(UniqueFd connection) {
  // The lab sends its line right behind the connect. Nobody else's silence may stop the switch.
  timeval timeout{};
  timeout.tv_usec = 100'000;
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  setsockopt(connection.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
  std::string line(kControlLineBytesMax, '\0');
  const ssize_t size = recv(connection.get(), line.data(), line.size(), 0);
  if (size <= 0) return;
  line.resize(static_cast<std::size_t>(size));
  const std::string reply = HandleControlLine(fabric_, line);
  if (send(connection.get(), reply.data(), reply.size(), MSG_NOSIGNAL) < 0) {
    std::perror("lab_switch: answering on the control socket");
  }
}

void Server::FlushPort(PortId port, TimePoint now) {
  Link& link = links_[port];
  SwitchPort& queue = fabric_.Ports()[port];
  if (link.retry_at && *link.retry_at > now) return;
  link.retry_at.reset();
  while (const Frame* frame = queue.Front()) {
    switch (SendFrame(link.fd.get(), link.address.host_path, *frame)) {
      case SendOutcome::kSent:
        queue.FrontSent();
        link.retry_after = kRetryMin;
        break;
      case SendOutcome::kHostAbsent: queue.FrontLost(); break;
      case SendOutcome::kHostBusy:
        link.retry_at = now + link.retry_after;
        link.retry_after = std::min(link.retry_after * 2, kRetryMax);
        return;
    }
  }
}

void Server::FlushAll() {
  const TimePoint now = Clock::now();
  std::optional<TimePoint> next = fabric_.Advance(now);
  for (PortId port = 0; port < links_.size(); ++port) {
    FlushPort(port, now);
    const std::optional<TimePoint>& retry_at = links_[port].retry_at;
    if (retry_at && (!next || *retry_at < *next)) next = retry_at;
  }
  itimerspec timer{};  // all zero: disarmed
  if (next) {
    const auto wait = std::max(*next - now, Duration(std::chrono::microseconds(1)));
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    timer.it_value.tv_sec = seconds.count();
    timer.it_value.tv_nsec = (wait - seconds).count();
  }
  timerfd_settime(timer_.get(), 0, &timer, nullptr);
}

Result<void> Server::Run() {
  while (true) {
    std::array<epoll_event, 32> events{};
    const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno != EINTR) return Fail(errno, {"waiting for frames"});
    for (int i = 0; i < count; ++i) {
      const std::uint64_t token = events[static_cast<std::size_t>(i)].data.u64;
      if (token == kSignalToken) return {};
      if (token == kControlToken) AnswerControl();
      if (token == kTimerToken) {
        std::uint64_t expirations = 0;  // read only to make the descriptor quiet again
        if (read(timer_.get(), &expirations, sizeof(expirations)) < 0) continue;
      }
      if (token < kTimerToken) ReadPort(token);
    }
    FlushAll();
  }
}

int Main(const std::vector<std::string_view>& arguments) {
  const Result<Options> options = ParseOptions(arguments);
  if (!options) {
    std::fprintf(stderr, "lab_switch: %s\n", options.error().Text().c_str());
    return 2;
  }
  Result<Server> server = Server::Open(*options);
  if (!server) {
    std::fprintf(stderr, "lab_switch: %s\n", server.error().Text().c_str());
    return 2;
  }
  // The lab starts VMs when it has read this: a VM may send only to sockets that exist.
  std::puts("ready");
  std::fflush(stdout);
  const Result<void> ran = server->Run();
  if (ran) return 0;
  std::fprintf(stderr, "lab_switch: %s\n", ran.error().Text().c_str());
  return 1;
}

}  // namespace
}  // namespace rdmapulse::lab

int main(int argc, char** argv) {
  try {
    return rdmapulse::lab::Main({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "lab_switch: %s\n", error.what());
    return 1;
  }
}
