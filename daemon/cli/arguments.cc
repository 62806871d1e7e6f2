#include "daemon/cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "config/units.h"
#include "daemon/version.h"

namespace rdmapulse::cli {
namespace {

// Faster would only measure the queue that the probes themselves make (design.md 5.5: a NIC's
// budget is 200 a second); slower is a cron job.
constexpr double kIntervalSecondsMin = 0.01;
constexpr double kIntervalSecondsMax = 3600;

// Below, a path has no probe in it; above, a fault is over before it is named.
constexpr double kWindowSecondsMin = 1;
constexpr double kWindowSecondsMax = 3600;

// Every option of every command; which command was named decides which of them count.
struct Options {
  ScrapeCommand scrape;
  RecordCommand record;
  std::string record_for = "60s";
  std::string record_every = "100ms";
  ReplayCommand replay;
  PortsCommand ports;
  PeersCommand peers;
  FindingsCommand findings;
  StatusCommand status;
  std::optional<std::string> maintenance;
  ProbeCommand probe;
  TopCommand top;
  LocateCommand locate;
  std::optional<std::string> op;
  std::string traffic_class = "lossless";
};

std::string VersionText() {
  return fmt::format("rdmapulse {}{}", kVersion,
                     kRevision.empty() ? "" : fmt::format(" ({})", kRevision));
}

CLI::App* AddCommand(CLI::App& app, const char* name, const char* description) {
  CLI::App* const command = app.add_subcommand(name, description);
  command->set_version_flag("--version", VersionText(), "Print the version and exit");
  return command;
}

void AddDaemonOptions(CLI::App& command, Daemon& daemon) {
  command.add_option("--socket", daemon.socket, "The daemon's Unix socket")
      ->type_name("PATH")
      ->capture_default_str();
  command.add_flag("--json", daemon.json, "Print the daemon's JSON unchanged");
}

void AddProbe(CLI::App& app, Options& options) {
  CLI::App* const probe =
      AddCommand(app, "probe", "Send probes to a peer over RDMA, like ping; Ctrl-C ends it");
  probe->add_option("PEER", options.probe.target.peer, "Name of a peer of the configuration")
      ->type_name("")
      ->required();
  probe
      ->add_option("--op", options.op,
                   "What is sent: " + probes::OpNames() + "; without it write0, on iWARP read")
      ->type_name("OP");
  probe->add_option("--class", options.traffic_class, "Traffic class: lossless or control")
      ->type_name("CLASS")
      ->capture_default_str();
  probe->add_option("-c,--count", options.probe.count, "Stop after so many; without it: Ctrl-C")
      ->type_name("N")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  probe->add_option("-i,--interval", options.probe.interval_seconds, "Time between probes")
      ->type_name("SECONDS")
      ->capture_default_str();
  probe->add_flag("--trace", options.probe.trace,
                  "Also show which hops the path has (RoCE v2; the daemon needs CAP_NET_RAW)");
  AddDaemonOptions(*probe, options.probe.daemon);
}

void AddTop(CLI::App& app, Options& options) {
  CLI::App* const top = AddCommand(
      app, "top", "Live rates of every port and priority: traffic, pause, marks, losses");
  top->add_option("-c,--count", options.top.count, "Stop after so many; without it: Ctrl-C")
      ->type_name("N")
      ->check(CLI::Range(std::uint32_t{1}, std::uint32_t{1000000}));
  top->add_option("-i,--interval", options.top.interval_seconds, "Time between two looks")
      ->type_name("SECONDS")
      ->capture_default_str();
  AddDaemonOptions(*top, options.top.daemon);
}

void AddLocate(CLI::App& app, Options& options) {
  CLI::App* const locate = AddCommand(
      app, "locate", "Which host, ToR, link or path loses probes or holds them up, and how surely");
  locate
      ->add_option("--prometheus", options.locate.prometheus,
                   "Judge all hosts that this Prometheus scrapes; without it only what this host's "
                   "daemon sees")
      ->type_name("URL");
  locate
      ->add_option(
          "--window", options.locate.window_seconds,
          "Length of a window: five are judged with --prometheus (default 60), one without "
          "it (default 10)")
      ->type_name("SECONDS");
  locate->add_option("--socket", options.locate.daemon.socket, "The daemon's Unix socket")
      ->type_name("PATH")
      ->capture_default_str();
  locate->add_flag("--json", options.locate.daemon.json, "Print one JSON object");
}

void AddRecord(CLI::App& app, Options& options) {
  CLI::App* const record =
      AddCommand(app, "record",
                 "Record this host for scrape --root and replay; no daemon; Ctrl-C ends it early");
  record->add_option("DIR", options.record.folder, "A new folder for the recording")
      ->type_name("")
      ->required();
  record->add_option("--for", options.record_for, "How long: 90s, 5m")
      ->type_name("TIME")
      ->capture_default_str();
  record->add_option("--every", options.record_every, "How often the counters are read: 100ms, 1s")
      ->type_name("TIME")
      ->capture_default_str();
  record->add_flag("--anonymise", options.record.anonymise,
                   "Replace addresses, GUIDs, peers' names and the host's name");
  record
      ->add_option("--config", options.record.config,
                   "Leave out the devices that this configuration of the daemon excludes; without "
                   "it: the installed one")
      ->type_name("FILE");
  record->add_option("--socket", options.record.socket, "The daemon's Unix socket")
      ->type_name("PATH");
}

void Declare(CLI::App& app, Options& options) {
  app.set_version_flag("--version", VersionText(), "Print the version and exit");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 done, 1 probe got no reply, 2 usage, bad input or no daemon.");

  CLI::App* const scrape = AddCommand(
      app, "scrape", "Read this host's counters once and print them for Prometheus; no daemon");
  scrape
      ->add_option("--root", options.scrape.root,
                   "Read a recorded host (DIR/sysfs/, DIR/ethtool-S/, …) instead, every device and "
                   "every queue of it")
      ->type_name("DIR");
  scrape
      ->add_option("--config", options.scrape.config,
                   "Read this host as this configuration of the daemon says (devices, collect); "
                   "without it: the installed one")
      ->type_name("FILE")
      ->excludes("--root");

  AddRecord(app, options);
  CLI::App* const replay =
      AddCommand(app, "replay",
                 "Run the detectors over a trace or a recorded host, on its own clock; no daemon");
  replay
      ->add_option("DIR", options.replay.folder,
                   "Holds hosts.csv[.gz] and probes.csv[.gz], or moments t0/, t1/, …")
      ->type_name("")
      ->required();
  replay
      ->add_option("--config", options.replay.config,
                   "Take thresholds and expectations from this configuration of the daemon")
      ->type_name("FILE");
  replay->add_flag("--json", options.replay.json, "Print one JSON object a transition");

  AddDaemonOptions(
      *AddCommand(app, "ports", "The host's RDMA ports, and the GID each is probed by"),
      options.ports.daemon);
  CLI::App* const peers = AddCommand(app, "peers", "Every path to every peer, and how it does");
  peers->add_flag("--hops", options.peers.hops,
                  "Show the hops of every path that was traced, not only of those in trouble");
  AddDaemonOptions(*peers, options.peers.daemon);

  CLI::App* const findings =
      AddCommand(app, "findings", "What is wrong: where, since when, and why");
  AddDaemonOptions(*findings, options.findings.daemon);
  findings->add_option("ID", options.findings.id, "All that is known of this one");
  findings->add_flag("--trace", options.findings.trace,
                     "Draw what led to it: what was counted and what probes met");

  CLI::App* const status = AddCommand(app, "status", "The daemon in a few lines");
  AddDaemonOptions(*status, options.status.daemon);
  status->add_option("--maintenance", options.maintenance, "Switch maintenance on or off first")
      ->type_name("on|off");

  AddTop(app, options);
  AddProbe(app, options);
  AddLocate(app, options);
}

Finished UsageError(std::string_view command, std::string_view what) {
  const std::string name = command.empty() ? "rdmapulse" : fmt::format("rdmapulse {}", command);
  return {kExitError, {}, fmt::format("{}: {}; see {} --help", name, what, name)};
}

bool HasCommand(const CLI::App& app, const std::string& name) {
  const auto is_it = [&name](const CLI::App* command) { return command->get_name() == name; };
  return !app.get_subcommands(is_it).empty();
}

// The command that was named, or nullptr.
const CLI::App* Chosen(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? nullptr : commands.front();
}

// CLI11's sentence, but for the commonest mistake shorter.
std::string Unexpected(const CLI::ParseError& error) {
  std::string what = error.what();
  const std::size_t names = what.rfind(": ");
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || names == std::string::npos) {
    return what;
  }
  return "unexpected argument" + what.substr(names);
}

Command CheckStatus(Options& options) {
  if (options.maintenance) {
    const std::string& word = *options.maintenance;
    if (word != "on" && word != "off") {
      return UsageError("status", fmt::format("--maintenance is on or off, not \"{}\"", word));
    }
    options.status.maintenance = word == "on";
  }
  return options.status;
}

std::optional<Finished> WrongInterval(std::string_view command, double seconds) {
  // NaN is neither.
  if (seconds >= kIntervalSecondsMin && seconds <= kIntervalSecondsMax) return std::nullopt;
  return UsageError(command, fmt::format("--interval is {} to {} seconds, not {}",
                                         kIntervalSecondsMin, kIntervalSecondsMax, seconds));
}

Command CheckFindings(const Options& options) {
  if (options.findings.trace && options.findings.id.empty()) {
    return UsageError("findings", "--trace needs the ID of a finding");
  }
  return options.findings;
}

Command CheckTop(const Options& options) {
  if (const auto wrong = WrongInterval("top", options.top.interval_seconds)) return *wrong;
  return options.top;
}

// Faster than the drivers' own refresh (counters.md 7.5) only costs; slower is no trace.
constexpr std::chrono::milliseconds kEveryMin{10};
constexpr std::chrono::milliseconds kEveryMax{60000};

Command CheckRecord(Options& options) {
  const auto duration = config::ParseDuration(options.record_for);
  if (!duration) return UsageError("record", "--for: " + duration.error().Text());
  const auto every = config::ParseDuration(options.record_every);
  if (!every) return UsageError("record", "--every: " + every.error().Text());
  if (*every < kEveryMin || *every > kEveryMax) {
    return UsageError("record",
                      fmt::format("--every is 10ms to 60s, not {}", options.record_every));
  }
  if (*duration < *every) {
    return UsageError("record",
                      fmt::format("--for is at least --every, not {}", options.record_for));
  }
  if (options.record.folder.empty()) return UsageError("record", "DIR is empty");
  options.record.duration = *duration;
  options.record.every = *every;
  return options.record;
}

Command CheckProbe(Options& options) {
  if (options.op) {
    options.probe.target.op = probes::ParseOp(*options.op);
    if (!options.probe.target.op) {
      return UsageError(
          "probe", fmt::format("--op is one of {}, not \"{}\"", probes::OpNames(), *options.op));
    }
  }
  const auto traffic_class = probes::ParseClass(options.traffic_class);
  if (!traffic_class) {
    return UsageError(
        "probe", fmt::format("--class is lossless or control, not \"{}\"", options.traffic_class));
  }
  if (options.probe.target.peer.empty()) return UsageError("probe", "PEER is empty");
  if (const auto wrong = WrongInterval("probe", options.probe.interval_seconds)) return *wrong;
  options.probe.target.traffic_class = *traffic_class;
  return options.probe;
}

Command CheckLocate(const CLI::App& app, Options& options) {
  // A variable of a script that is empty must not silently ask one host instead of all.
  if (app.count("--prometheus") > 0 && options.locate.prometheus.empty())
    return UsageError("locate", "the address after --prometheus is empty");
  const double seconds = options.locate.window_seconds.value_or(kWindowSecondsMin);
  // NaN is on neither side.
  if (!(seconds >= kWindowSecondsMin && seconds <= kWindowSecondsMax)) {
    return UsageError("locate", fmt::format("--window is from {} to {} seconds", kWindowSecondsMin,
                                            kWindowSecondsMax));
  }
  return options.locate;
}

Command Checked(const CLI::App& app, Options& options) {
  const std::string name = Chosen(app)->get_name();
  if (name == "replay") return options.replay;
  if (name == "ports") return options.ports;
  if (name == "peers") return options.peers;
  if (name == "findings") return CheckFindings(options);
  if (name == "status") return CheckStatus(options);
  if (name == "top") return CheckTop(options);
  if (name == "probe") return CheckProbe(options);
  if (name == "locate") return CheckLocate(*Chosen(app), options);
  if (name == "record") return CheckRecord(options);
  return options.scrape;
}

}  // namespace

Command ParseArguments(int argc, const char* const* argv) {
  Options options;
  CLI::App app("Asks rdmapulsed, the RDMA fabric diagnostics daemon of this host.", "rdmapulse");
  Declare(app, options);
  // CLI11 would say of a wrong command only that it did not expect it.
  if (argc > 1 && argv[1][0] != '-' && !HasCommand(app, argv[1])) {
    return UsageError("", fmt::format("there is no command \"{}\"", argv[1]));
  }
  try {
    app.parse(argc, argv);
    return Checked(app, options);
  } catch (const CLI::CallForVersion&) {
    return Finished{kExitDone, VersionText() + "\n", {}};
  } catch (const CLI::CallForHelp&) {
    return Finished{kExitDone, app.help(), {}};
  } catch (const CLI::ParseError& error) {
    const CLI::App* const command = Chosen(app);
    if (command != nullptr) return UsageError(command->get_name(), Unexpected(error));
    if (argc < 2)
      return UsageError(
          "",
          "a command is missing: scrape, record, replay, ports, peers, findings, status, top, "
          "probe, locate");
    return UsageError("", fmt::format("there is no option \"{}\" before a command", argv[1]));
  }
}

}  // namespace rdmapulse::cli
