// The curve of what led to a finding: of the snapshot's pages none has it, since only the loop
// holds what it is made of. Called on the HTTP thread; the implementation (daemon/recordings.h)
// posts to the loop.
#pragma once

#include <functional>
#include <string>

namespace rdmapulse::http {

struct TraceAnswer {
  unsigned status = 200;
  std::string text{};  // JSON of a 200, else one sentence
};

class Traces {
 public:
  virtual ~Traces() = default;
  // `handler` is called once, on the loop thread, and must hand over to the HTTP thread itself. Not
  // at all when the daemon stops.
  virtual void Draw(const std::string& id, std::function<void(TraceAnswer)> handler) = 0;
};

}  // namespace rdmapulse::http
