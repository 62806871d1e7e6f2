#include "daemon/base/background.h"

#include <sys/resource.h>
#include <unistd.h>

namespace rdmapulse {

void YieldToTheLoop() {
  thread_local bool done = false;
  if (done) return;
  done = true;
  const auto thread = static_cast<id_t>(gettid());
  const int now = getpriority(PRIO_PROCESS, thread);
  static_cast<void>(setpriority(PRIO_PROCESS, thread, now + 10));
}

}  // namespace rdmapulse
