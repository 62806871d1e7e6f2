// How the process keeps its memory.
#pragma once

namespace rdmapulse {

// Before the first thread. glibc would keep an arena for every thread and megabytes of what was
// freed in each (mallopt(3)); a daemon on every host should take what it uses. What was freed goes
// back to the kernel beyond 256 KiB, and two arenas are enough for one loop and its workers.
void KeepMemorySmall();

}  // namespace rdmapulse
