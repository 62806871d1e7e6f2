// For tests of the server: clients as blunt as the tests need them. Every read gives up after 10 s,
// so that a server that does not answer fails a test instead of hanging it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::http {

// A blocking socket.
class TestClient {
 public:
  // Both abort the test's process when nobody listens: nothing that follows would make sense.
  static TestClient Tcp(std::uint16_t port, const std::string& address = "127.0.0.1");
  static TestClient Unix(const std::string& path);

  // False: the server closed the connection.
  bool Send(std::string_view bytes);
  void ShutDownSending();
  // All that comes until the server closes; what there was when it reset or after 10 s of silence.
  std::string ReadToEnd();
  // What comes, until `what` was in it (inclusive); everything when the server closed before.
  std::string ReadUntil(std::string_view what);

  // Whether the last read ended because the server closed (or reset), and not for want of bytes.
  bool closed() const { return closed_; }

 private:
  explicit TestClient(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::string ahead_;  // read past what ReadUntil was asked for
  bool closed_ = false;
};

// One request on a connection of its own, and what came back until the server closed.
std::string Ask(TestClient client, std::string_view method, std::string_view target,
                std::string_view body = {});

// Of a whole response: 0 when it is none.
int StatusOf(std::string_view response);
std::string BodyOf(std::string_view response);
std::string FieldOf(std::string_view response, std::string_view name);

}  // namespace rdmapulse::http
