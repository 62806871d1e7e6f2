#include "daemon/cli/fake_daemon.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rdmapulse::cli {
namespace {

void Check(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

// Until the header's end, and the body that Content-Length promises.
bool Complete(const std::string& request) {
  const std::size_t end = request.find("\r\n\r\n");
  if (end == std::string::npos) return false;
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t length = request.find(kLength);
  if (length == std::string::npos || length > end) return true;
  return request.size() - end - 4 >= std::strtoul(&request[length + kLength.size()], nullptr, 10);
}

}  // namespace

FakeDaemon::FakeDaemon(std::string path, std::string answer, Afterwards afterwards)
    : path_(std::move(path)), listener_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  Check(path_.size() < sizeof(address.sun_path), "the path of the test's socket is too long");
  std::memcpy(address.sun_path, path_.data(), path_.size());
  const auto* const generic = reinterpret_cast<const sockaddr*>(&address);
  Check(bind(listener_.get(), generic, sizeof(address)) == 0, "bind");
  Check(listen(listener_.get(), 1) == 0, "listen");
  thread_ =
      std::thread([this, answer = std::move(answer), afterwards] { Serve(answer, afterwards); });
}

FakeDaemon::~FakeDaemon() {
  shutdown(listener_.get(), SHUT_RD);  // wakes the accept that nobody came for
  if (thread_.joinable()) thread_.join();
  unlink(path_.c_str());
}

const std::string& FakeDaemon::Request() {
  if (thread_.joinable()) thread_.join();
  return request_;
}

void FakeDaemon::Serve(const std::string& answer, Afterwards afterwards) {
  const UniqueFd connection(accept(listener_.get(), nullptr, nullptr));
  if (!connection) return;
  std::array<char, 4096> buffer{};
  while (!Complete(request_)) {
    const ssize_t size = recv(connection.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) return;
    request_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::string_view left = answer;
  while (!left.empty()) {
    const ssize_t sent = send(connection.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent < 0) return;  // the client has seen enough
    left.remove_prefix(static_cast<std::size_t>(sent));
  }
  while (afterwards == Afterwards::kHold &&
         recv(connection.get(), buffer.data(), buffer.size(), 0) > 0) {
  }
}

std::string JsonAnswer(const std::string& body, const std::string& status) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", status,
      body.size(), body);
}

std::string ChunkedAnswer(const std::vector<std::string>& pieces, bool ended) {
  std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& piece : pieces) {
    answer += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  }
  return ended ? answer + "0\r\n\r\n" : answer;
}

std::string SocketPath(const std::string& name) {
  const char* const folder = std::getenv("TEST_TMPDIR");
  Check(folder != nullptr, "TEST_TMPDIR");
  // sun_path holds 108 bytes and Bazel's folders are long: through the working directory.
  Check(chdir(folder) == 0, folder);
  return name + ".sock";
}

}  // namespace rdmapulse::cli
