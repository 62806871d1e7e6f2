// An InfiniBand port's counters, and those of the switch port at the other end of its cable, by
// performance management MADs of our own (libibumad, libibmad). Sends only Gets: clears nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "collectors/mad/pma_attributes.h"
#include "collectors/mad_reader.h"
#include "collectors/reading.h"
#include "daemon/base/result.h"

struct ibmad_port;

namespace rdmapulse::collectors::mad {

// An answer that has not come after this is asked for once more, then given up. In a fabric an
// answer takes microseconds.
constexpr int kAnswerTimeoutMs = 100;
constexpr int kAttempts = 2;
// After a failure a port is left alone for this long: the subnet manager may be elsewhere, the
// switch's agent busy.
constexpr Duration kRestAfterFailure = std::chrono::minutes(1);

// Of one device. Needs read and write access to /dev/infiniband/umad*, as root has it. Stateful,
// one thread, blocks: at most kAttempts × kAnswerTimeoutMs for each of six questions.
class MadCounters final : public MadReader {
 public:
  // `with_switch`: also the attached switch port's counters, as "switch/NAME".
  MadCounters(std::string device, bool with_switch);
  ~MadCounters() override;

  // A port without a umad node is no source. Only InfiniBand ports have something to say.
  SourceRead Read(TimePoint now, std::uint32_t port, Reading& reading) override;

 private:
  struct Close {
    void operator()(ibmad_port* port) const noexcept;
  };
  struct Port {
    std::unique_ptr<ibmad_port, Close> handle;
    TimePoint rests_until{};
    std::map<int, Abilities> abilities;  // by LID
  };

  Result<void> ReadOwn(Port& port, std::uint32_t number, Reading& reading);
  Result<void> ReadSwitch(Port& port, std::uint32_t number, Reading& reading);

  std::string device_;
  bool with_switch_;
  std::map<std::uint32_t, Port> ports_;
};

}  // namespace rdmapulse::collectors::mad
