// The commands: each does its work, prints it, and gives its exit code. The error is for standard
// error, with exit code kExitError.
#pragma once

#include "daemon/base/result.h"
#include "daemon/cli/arguments.h"

namespace rdmapulse::cli {

Result<int> Run(const ScrapeCommand& command);
// Does not come back when it has begun: it ends the program when all is written.
Result<int> Run(const RecordCommand& command);
Result<int> Run(const ReplayCommand& command);
Result<int> Run(const PortsCommand& command);
Result<int> Run(const PeersCommand& command);
Result<int> Run(const FindingsCommand& command);
Result<int> Run(const StatusCommand& command);
Result<int> Run(const ProbeCommand& command);
Result<int> Run(const TopCommand& command);
Result<int> Run(const LocateCommand& command);

}  // namespace rdmapulse::cli
