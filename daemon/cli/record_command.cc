// record: this host for a while, as a recorded host and a trace. Needs no daemon; the probes are
// those of one that runs.
#include <sys/utsname.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "config/wanted_devices.h"
#include "daemon/base/host_name.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/config_file.h"
#include "daemon/cli/record/record.h"

namespace rdmapulse::cli {
namespace {

Result<RecordOptions> OptionsOf(const RecordCommand& command) {
  const auto config = ReadConfigOrInstalled(command.config);
  if (!config) return tl::unexpected(config.error());
  utsname own = {};
  if (uname(&own) != 0) return Fail(errno, {"asking for the kernel's release"});
  RecordOptions options;
  options.folder = command.folder;
  options.host = HostName(config->host.name);
  options.kernel = &own.release[0];
  options.duration = command.duration;
  options.anonymise = command.anonymise;
  options.socket = command.socket.value_or(config->http.socket);
  options.catalogue = config->collect.catalogue;
  options.lossless_priority = config::DetectorSettings(*config).lossless_priority;
  options.live = {.sysfs_root = config->sysfs_root,
                  .proc_root = config->proc_root,
                  .every = command.every,
                  .qp_counters = config->collect.qp_counters,
                  .wanted = config::WantedDevices(config->devices)};
  return options;
}

int Say(const RecordCommand& command, const Result<Recorded>& recorded) {
  if (!recorded) {
    std::fprintf(stderr, "rdmapulse record: %s\n", recorded.error().Text().c_str());
    return kExitError;
  }
  for (const std::string& warning : recorded->warnings) {
    std::fprintf(stderr, "rdmapulse record: %s\n", warning.c_str());
  }
  std::printf(
      "recorded %.1f s in %s: %zu RDMA devices, %zu rows of hosts.csv, %zu of probes.csv, %zu "
      "files "
      "that could not be read\n",
      Seconds(recorded->duration), command.folder.c_str(), recorded->devices, recorded->host_rows,
      recorded->probe_rows, recorded->unreadable);
  return kExitDone;
}

}  // namespace

Result<int> Run(const RecordCommand& command) {
  const auto options = OptionsOf(command);
  if (!options) return tl::unexpected(options.error());
  Record(*options, [&command](const Result<Recorded>& recorded) {
    const int code = Say(command, recorded);
    std::fflush(nullptr);
    // All is written. A read that a driver does not answer would keep its thread, and with it this
    // program, for as long as the driver likes.
    std::_Exit(code);
  });
  return kExitError;  // unreachable: Record has called back
}

}  // namespace rdmapulse::cli
