#include "daemon/discovery/test_servers.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

namespace rdmapulse::discovery {
namespace {

constexpr std::uint16_t kA = 1, kAaaa = 28, kSrv = 33;
constexpr std::size_t kUdpBytesMax = 512;

UniqueFd Bound(int type, std::uint16_t& port) {
  UniqueFd fd(socket(AF_INET, type | SOCK_CLOEXEC, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  const int on = 1;
  setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd.get(), reinterpret_cast<sockaddr*>(&where), size) != 0) return {};
  getsockname(fd.get(), reinterpret_cast<sockaddr*>(&where), &size);
  port = ntohs(where.sin_port);
  if (type == SOCK_STREAM && listen(fd.get(), 16) != 0) return {};
  return fd;
}

std::string U16(std::size_t value) {
  return {static_cast<char>(value >> 8 & 0xFF), static_cast<char>(value & 0xFF)};
}

std::string WireName(const std::string& name) {
  std::string wire;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    wire += static_cast<char>(end - begin);
    wire += name.substr(begin, end - begin);
    begin = end + 1;
  }
  return wire + '\0';
}

std::pair<std::uint16_t, std::string> WireAddress(const std::string& address) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, address.c_str(), bytes.data()) == 1) return {kA, {bytes.data(), 4}};
  if (inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1) return {kAaaa, {bytes.data(), 16}};
  std::abort();
}

std::string WireRecord(const std::string& name, std::uint16_t type, const std::string& data) {
  return WireName(name) + U16(type) + U16(1) + std::string(4, '\0') + U16(data.size()) + data;
}

std::string ReadAll(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t got = 0;
  while (got < size) {
    const ssize_t part = read(fd, bytes.data() + got, size - got);
    if (part <= 0) return {};
    got += static_cast<std::size_t>(part);
  }
  return bytes;
}

}  // namespace

TestDns::TestDns() {
  // The same port for both: another is tried when TCP's is taken.
  while (!tcp_) {
    port_ = 0;
    udp_ = Bound(SOCK_DGRAM, port_);
    tcp_ = Bound(SOCK_STREAM, port_);
  }
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { Run(); });
}

TestDns::~TestDns() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

void TestDns::Set(bool& flag) {
  const std::lock_guard lock(mutex_);
  flag = true;
}

int TestDns::tcp_queries() const {
  const std::lock_guard lock(mutex_);
  return tcp_queries_;
}

void TestDns::Add(const std::string& name, const std::string& address) {
  const auto [type, data] = WireAddress(address);
  const std::lock_guard lock(mutex_);
  records_.emplace(name, Record{type, data, {}});
}

void TestDns::AddService(const std::string& name, const std::string& target, std::uint16_t port,
                         const std::string& address) {
  Record record{kSrv, U16(0) + U16(0) + U16(port) + WireName(target), {}};
  if (!address.empty()) {
    const auto [type, data] = WireAddress(address);
    record.extra = WireRecord(target, type, data);
  }
  const std::lock_guard lock(mutex_);
  records_.emplace(name, std::move(record));
}

void TestDns::Run() {
  std::array<pollfd, 3> fds = {
      {{udp_.get(), POLLIN, 0}, {tcp_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (poll(fds.data(), fds.size(), -1) > 0 && (fds[2].revents & POLLIN) == 0) {
    if ((fds[0].revents & POLLIN) != 0) {
      std::string query(kUdpBytesMax, '\0');
      sockaddr_in from{};
      socklen_t size = sizeof from;
      const ssize_t got = recvfrom(udp_.get(), query.data(), query.size(), 0,
                                   reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 12) continue;
      query.resize(static_cast<std::size_t>(got));
      const std::string answer = Answer(query, false);
      sendto(udp_.get(), answer.data(), answer.size(), 0, reinterpret_cast<sockaddr*>(&from), size);
    }
    if ((fds[1].revents & POLLIN) != 0) {
      const UniqueFd client(accept4(tcp_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      const std::string length = ReadAll(client.get(), 2);
      if (length.size() < 2) continue;
      const std::string query = ReadAll(
          client.get(), static_cast<std::size_t>(static_cast<unsigned char>(length[0])) << 8 |
                            static_cast<unsigned char>(length[1]));
      if (query.size() < 12) continue;
      const std::string answer = Answer(query, true);
      const std::string bytes = U16(answer.size()) + answer;
      if (write(client.get(), bytes.data(), bytes.size()) < 0) continue;
    }
  }
}

std::string TestDns::Answer(const std::string& query, bool tcp) {
  std::string name;
  std::size_t at = 12;
  while (at < query.size() && query[at] != 0) {
    const auto length = static_cast<unsigned char>(query[at]);
    name += (name.empty() ? "" : ".") + query.substr(at + 1, length);
    at += length + 1;
  }
  const std::string question = query.substr(12, at + 5 - 12);
  const auto type = static_cast<std::uint16_t>(static_cast<unsigned char>(query[at + 2]));

  const std::lock_guard lock(mutex_);
  if (tcp) ++tcp_queries_;
  std::string answers;
  std::string extra;
  std::size_t count = 0;
  std::size_t extra_count = 0;
  const auto [begin, end] = records_.equal_range(name);
  for (auto record = begin; record != end; ++record) {
    if (record->second.type != type) continue;
    ++count;
    answers += WireRecord(name, type, record->second.data);
    extra += record->second.extra;
    extra_count += record->second.extra.empty() ? 0 : 1;
  }
  const std::size_t code = fails_ ? 2 : begin == end ? 3 : 0;
  if (code != 0) answers.clear(), extra.clear(), count = extra_count = 0;
  const bool truncated =
      !tcp && 12 + question.size() + answers.size() + extra.size() > kUdpBytesMax;
  if (truncated) answers.clear(), extra.clear(), count = extra_count = 0;
  const std::size_t flags = 0x8580U | (truncated ? 0x0200U : 0U) | code;
  return query.substr(0, 2) + U16(flags) + U16(1) + U16(count) + U16(0) + U16(extra_count) +
         question + answers + extra;
}

TestHttp::TestHttp() : listener_(Bound(SOCK_STREAM, port_)), stop_(eventfd(0, EFD_CLOEXEC)) {
  thread_ = std::thread([this] { Run(); });
}

TestHttp::~TestHttp() {
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

std::string TestHttp::Url(const std::string& target) const {
  return "http://127.0.0.1:" + std::to_string(port_) + target;
}

void TestHttp::Say(std::string response) {
  const std::lock_guard lock(mutex_);
  response_ = std::move(response);
}

void TestHttp::SayList(const std::string& json) {
  Say("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: " +
      std::to_string(json.size()) + "\r\n\r\n" + json);
}

std::vector<std::string> TestHttp::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

void TestHttp::Run() {
  std::array<pollfd, 2> fds = {{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
  while (poll(fds.data(), fds.size(), -1) > 0 && (fds[1].revents & POLLIN) == 0) {
    UniqueFd client(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    std::string request;
    for (char c = 0; !request.ends_with("\r\n\r\n") && read(client.get(), &c, 1) == 1;)
      request += c;
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    if (response_.empty()) {
      silent_.push_back(std::move(client));
    } else if (send(client.get(), response_.data(), response_.size(), MSG_NOSIGNAL) < 0) {
      continue;
    }
  }
}

}  // namespace rdmapulse::discovery
