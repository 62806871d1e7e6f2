// All that is read of a recorded host's folder, as text that a person can hold against its source.
#pragma once

#include <string>

namespace rdmapulse::captures {

// Every host and every moment below `root`, in the order of their names; where a folder is none of
// a recorded host, what `--root` says of it. Times and `root` itself are left out.
std::string CaptureText(const std::string& root);

}  // namespace rdmapulse::captures
