// Standard output, unbuffered: what was printed is seen at once, by a person or through a pipe.
#pragma once

#include <string_view>

#include "daemon/base/result.h"

namespace rdmapulse::cli {

enum class Printed {
  kDone,
  kNobodyReads,  // the pipe's reader is gone (`| head`): a reason to stop, not an error
};

// Needs SIGPIPE ignored.
Result<Printed> Print(std::string_view text);

}  // namespace rdmapulse::cli
