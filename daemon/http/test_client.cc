#include "daemon/http/test_client.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace rdmapulse::http {
namespace {

void CheckOrAbort(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

UniqueFd Connected(int family, const void* address, socklen_t size) {
  UniqueFd fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CheckOrAbort(static_cast<bool>(fd), "socket");
  const timeval patience{10, 0};
  CheckOrAbort(setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0,
               "setsockopt");
  CheckOrAbort(connect(fd.get(), static_cast<const sockaddr*>(address), size) == 0, "connect");
  return fd;
}

}  // namespace

TestClient TestClient::Tcp(std::uint16_t port, const std::string& address) {
  sockaddr_in6 v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    return TestClient(Connected(AF_INET6, &v6, sizeof(v6)));
  }
  sockaddr_in v4{};
  CheckOrAbort(inet_pton(AF_INET, address.c_str(), &v4.sin_addr) == 1, address.c_str());
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  return TestClient(Connected(AF_INET, &v4, sizeof(v4)));
}

TestClient TestClient::Unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  CheckOrAbort(path.size() < sizeof(address.sun_path), "the socket's path is too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  return TestClient(Connected(AF_UNIX, &address, sizeof(address)));
}

bool TestClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void TestClient::ShutDownSending() { shutdown(fd_.get(), SHUT_WR); }

std::string TestClient::ReadToEnd() { return ReadUntil({}); }

std::string TestClient::ReadUntil(std::string_view what) {
  std::string all = std::exchange(ahead_, {});
  closed_ = false;
  while (true) {
    const std::size_t found = what.empty() ? std::string::npos : all.find(what);
    if (found != std::string::npos) {
      ahead_ = all.substr(found + what.size());
      return all.substr(0, found + what.size());
    }
    std::array<char, 65536> chunk{};
    const ssize_t size = recv(fd_.get(), chunk.data(), chunk.size(), 0);
    if (size <= 0) {
      closed_ = size == 0 || errno == ECONNRESET;
      return all;
    }
    all.append(chunk.data(), static_cast<std::size_t>(size));
  }
}

std::string Ask(TestClient client, std::string_view method, std::string_view target,
                std::string_view body) {
  std::string request = std::string(method) + " " + std::string(target) +
                        " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n";
  if (!body.empty()) request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  client.Send(request + "\r\n" + std::string(body));
  return client.ReadToEnd();
}

int StatusOf(std::string_view response) {
  constexpr std::string_view kStart = "HTTP/1.1 ";
  int status = 0;
  if (response.starts_with(kStart)) {
    std::from_chars(response.data() + kStart.size(), response.data() + response.size(), status);
  }
  return status;
}

std::string BodyOf(std::string_view response) {
  const std::size_t end = response.find("\r\n\r\n");
  return end == std::string_view::npos ? "" : std::string(response.substr(end + 4));
}

std::string FieldOf(std::string_view response, std::string_view name) {
  const std::string key = "\r\n" + std::string(name) + ": ";
  const std::size_t begin = response.substr(0, response.find("\r\n\r\n") + 2).find(key);
  if (begin == std::string_view::npos) return "";
  response.remove_prefix(begin + key.size());
  return std::string(response.substr(0, response.find("\r\n")));
}

}  // namespace rdmapulse::http
