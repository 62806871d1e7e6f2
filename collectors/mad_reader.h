// The seam to performance management by MADs, so that only collectors/mad knows libibmad.
#pragma once

#include <cstdint>

#include "collectors/counter_folder.h"
#include "collectors/reading.h"

namespace rdmapulse::collectors {

class MadReader {
 public:
  virtual ~MadReader() = default;
  // Appends what the fabric's own management says of this port. Blocks for as long as answers take,
  // bounded.
  virtual SourceRead Read(TimePoint now, std::uint32_t port, Reading& reading) = 0;
};

}  // namespace rdmapulse::collectors
