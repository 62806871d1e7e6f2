// Threads that give way to the loop, which measures time.
#pragma once

namespace rdmapulse {

// kBackground: the loop runs first. For what is much work and in no hurry.
enum class Urgency { kNormal, kBackground };

// Raises the nice value of the calling thread by 10 (setpriority(2) on Linux is per thread), the
// first time that it is called on it. Where that is forbidden, nothing happens.
void YieldToTheLoop();

}  // namespace rdmapulse
