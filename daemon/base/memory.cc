#include "daemon/base/memory.h"

#include <malloc.h>

namespace rdmapulse {

void KeepMemorySmall() {
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_TRIM_THRESHOLD, 256 * 1024);
}

}  // namespace rdmapulse
