#include "tests/integration/scrape.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <thread>

namespace rdmapulse::tests {
namespace {

using namespace std::chrono_literals;

sockaddr_in Loopback(const std::string& address, std::uint16_t port) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  inet_pton(AF_INET, address.c_str(), &where.sin_addr);
  return where;
}

}  // namespace

BoundPort Bind(const std::string& address) {
  BoundPort bound;
  bound.fd = UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where = Loopback(address, 0);
  socklen_t size = sizeof where;
  EXPECT_EQ(bind(bound.fd.get(), reinterpret_cast<sockaddr*>(&where), size), 0);
  EXPECT_EQ(listen(bound.fd.get(), 1), 0);
  getsockname(bound.fd.get(), reinterpret_cast<sockaddr*>(&where), &size);
  bound.port = ntohs(where.sin_port);
  return bound;
}

std::uint16_t FreePort(const std::string& address) { return Bind(address).port; }

std::string Get(const std::string& address, std::uint16_t port, const std::string& target) {
  const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in where = Loopback(address, port);
  if (connect(fd.get(), reinterpret_cast<sockaddr*>(&where), sizeof where) != 0) return {};
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  if (send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) return {};
  std::string answer;
  std::array<char, 4096> buffer{};
  for (ssize_t size = 0; (size = read(fd.get(), buffer.data(), buffer.size())) > 0;) {
    answer.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

bool Eventually(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

}  // namespace rdmapulse::tests
