// For tests: a Unix socket that takes one connection, reads its request, and sends canned bytes.
#pragma once

#include <string>
#include <thread>
#include <vector>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::cli {

enum class Afterwards {
  kClose,
  kHold,  // keep the connection open until the client closes it
};

class FakeDaemon {
 public:
  // Listens before it returns. `path` must not exist.
  FakeDaemon(std::string path, std::string answer, Afterwards afterwards = Afterwards::kClose);
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon();  // waits until a connection that was taken is served

  const std::string& Path() const { return path_; }
  // What it was asked, whole. Waits until the connection was served.
  const std::string& Request();

 private:
  void Serve(const std::string& answer, Afterwards afterwards);

  std::string path_;
  UniqueFd listener_;
  std::string request_;
  std::thread thread_;
};

// An answer with this JSON and a Content-Length.
std::string JsonAnswer(const std::string& body, const std::string& status = "200 OK");
// A chunked answer, one chunk a piece. `ended`: the last chunk is there.
std::string ChunkedAnswer(const std::vector<std::string>& pieces, bool ended = true);
// A path for a socket of this test; short, since a socket's path must be.
std::string SocketPath(const std::string& name);

}  // namespace rdmapulse::cli
