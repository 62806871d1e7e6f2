#include "config/validate.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "config/address.h"
#include "config/labels.h"
#include "config/network.h"
#include "config/patterns.h"
#include "config/units.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

constexpr std::size_t kSocketPathMax = 107;  // sun_path has 108 bytes with its final zero
// Less would overwrite itself within a second of recording.
constexpr std::uint64_t kRecorderBytesMin = 1ULL << 20;

std::string Item(const std::string& key, std::size_t index) {
  return key + "[" + std::to_string(index) + "]";
}

void ValidatePath(const std::string& path, const std::string& key, Report& report) {
  if (!path.starts_with('/')) {
    report.Error(key, Quoted(path) + " is not an absolute path; begin it with /");
  }
}

void ValidatePatterns(const std::vector<std::string>& patterns, const std::string& key,
                      Report& report) {
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const Result<Patterns> compiled = Patterns::Compile({patterns[i]});
    if (!compiled) report.Error(Item(key, i), compiled.error().Text());
  }
}

void ValidateListen(const std::string& listen, const std::string& key, Report& report) {
  if (listen.empty()) return;  // off
  const Result<ListenAddress> parsed = ParseListenAddress(listen);
  if (!parsed) report.Error(key, parsed.error().Text());
}

// Two listeners meet at one port if either listens at all addresses or both at the same.
void ValidateListenersDiffer(const Config& config, Report& report) {
  const Result<ListenAddress> http = ParseListenAddress(config.http.listen);
  const Result<ListenAddress> control = ParseListenAddress(config.control.listen);
  if (!http || !control || http->port != control->port || http->port == 0) return;
  if (!http->host.empty() && !control->host.empty() && http->host != control->host) return;
  report.Error("control.listen", Quoted(config.control.listen) + " is where http.listen (" +
                                     Shown(config.http.listen) +
                                     ") is already; give one of them another port");
}

void ValidateHost(const Host& host, Report& report) {
  if (!IsHostName(host.name)) {
    report.Error("host.name", Quoted(host.name) + " is not a name; " +
                                  std::string(kHostNameAdvice) + ", or auto");
  }
  ValidateLabels(host.labels, "host.labels", "host", report);
}

void ValidateHttp(const Http& http, Report& report) {
  ValidateListen(http.listen, "http.listen", report);
  ValidatePath(http.socket, "http.socket", report);
  if (http.socket.size() > kSocketPathMax) {
    report.Error("http.socket", "has " + std::to_string(http.socket.size()) +
                                    " bytes; a Unix socket's path has at most " +
                                    std::to_string(kSocketPathMax));
  }
  for (std::size_t i = 0; i < http.api_allow.size(); ++i) {
    const Result<Network> network = ParseNetwork(http.api_allow[i]);
    if (!network) report.Error(Item("http.api_allow", i), network.error().Text());
  }
}

void ValidateCollect(const Collect& collect, Report& report) {
  ValidatePatterns(collect.allow, "collect.allow", report);
  ValidatePatterns(collect.deny, "collect.deny", report);
  for (std::size_t i = 0; i < collect.catalogue.size(); ++i)
    ValidatePath(collect.catalogue[i], Item("collect.catalogue", i), report);
  const bool known = !report.Failed("collect.interval") && !report.Failed("collect.fast_interval");
  if (known && collect.fast_interval > collect.interval) {
    report.Error("collect.fast_interval",
                 DurationText(collect.fast_interval) + " is slower than collect.interval (" +
                     DurationText(collect.interval) + "); make it shorter or equal");
  }
}

void ValidateDevices(const Config& config, Report& report) {
  ValidatePatterns(config.devices.include, "devices.include", report);
  ValidatePatterns(config.devices.exclude, "devices.exclude", report);
  ValidatePatterns(config.polling.devices, "polling.devices", report);
  ValidatePatterns(config.ports.ignore, "ports.ignore", report);
  if (config.devices.include.empty()) {
    report.Warn("devices.include", "is empty, so no device is looked at; [\".*\"] means all");
  }
}

}  // namespace

void Validate(const Config& config, Report& report) {
  ValidateHost(config.host, report);
  ValidateHttp(config.http, report);
  ValidateListen(config.control.listen, "control.listen", report);
  ValidateListenersDiffer(config, report);
  ValidatePath(config.sysfs_root, "sysfs_root", report);
  ValidatePath(config.proc_root, "proc_root", report);
  ValidateDevices(config, report);
  ValidateCollect(config.collect, report);
  ValidatePeers(config, report);
  ValidateSources(config, report);
  ValidateClasses(config, report);
  ValidatePath(config.recorder.dir, "recorder.dir", report);
  const auto holds_one = [&report](std::uint64_t bytes, const std::string& key) {
    if (bytes >= kRecorderBytesMin) return;
    report.Error(key, BytesText(bytes) + " holds no recording; use at least " +
                          BytesText(kRecorderBytesMin));
  };
  holds_one(config.recorder.max_bytes, "recorder.max_bytes");
  holds_one(config.recorder.memory_bytes, "recorder.memory_bytes");
  ValidateTls(config, report);
}

}  // namespace rdmapulse::config
