// ports, peers, status: one question each.
#include <string>
#include <string_view>

#include "daemon/cli/api_client.h"
#include "daemon/cli/commands.h"
#include "daemon/cli/output.h"
#include "daemon/cli/views.h"

namespace rdmapulse::cli {
namespace {

using View = Result<std::string> (*)(std::string_view json);

Result<int> Show(const Daemon& daemon, const std::string& target, View view) {
  Result<std::string> answer = Ask(daemon.socket, {.target = target});
  if (!answer) return tl::unexpected(answer.error());
  // Made in both cases: what is not the daemon's answer must not pass for one with --json either.
  const Result<std::string> text = view(*answer);
  if (!text) return tl::unexpected(text.error());
  if (!answer->ends_with('\n')) *answer += '\n';
  const Result<Printed> printed = Print(daemon.json ? *answer : *text);
  if (!printed) return tl::unexpected(printed.error());
  return kExitDone;
}

}  // namespace

Result<int> Run(const PortsCommand& command) {
  return Show(command.daemon, "/api/v1/ports", PortsText);
}

Result<int> Run(const PeersCommand& command) {
  return Show(command.daemon, "/api/v1/peers", PeersText);
}

Result<int> Run(const StatusCommand& command) {
  if (command.maintenance) {
    const auto answer = Ask(command.daemon.socket,
                            {.method = "POST",
                             .target = "/api/v1/maintenance",
                             .body = *command.maintenance ? R"({"on":true})" : R"({"on":false})"});
    if (!answer) return tl::unexpected(answer.error());
  }
  return Show(command.daemon, "/api/v1/status", StatusText);
}

}  // namespace rdmapulse::cli
