#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "config/units.h"
#include "config/validate.h"
#include "config/wording.h"

namespace rdmapulse::config {
namespace {

// What a class sends; probes::Op names the same, and `ud` (validate_test holds them together).
constexpr std::array<std::string_view, 6> kOps = {"write0", "write", "write_mtu",
                                                  "read",   "echo",  "atomic"};
// Measured beside what is sent (config.h, GoesToPeers).
constexpr std::array<std::string_view, 2> kBesideOps = {"loopback", "connect"};
// The other name of an op.
std::string_view Plain(std::string_view op) { return op == "send" ? "echo" : op; }

template <std::size_t kSize>
bool Holds(const std::array<std::string_view, kSize>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Why `op` cannot be sent; empty: it can.
std::string WhyNot(const std::string& op) {
  if (Holds(kOps, Plain(op)) || !GoesToPeers(op)) return {};
  if (op == "ud") return "ud goes out beside a class's ops, as ud.interval says";
  const std::string use = "use " + Join(kOps) + ", " + Join(kBesideOps);
  std::string_view nearest = Nearest(op, kOps);
  if (nearest.empty()) nearest = Nearest(op, kBesideOps);
  return Quoted(op) + " is not an op; " +
         (nearest.empty() ? use : "did you mean " + std::string(nearest) + "?");
}

void ValidateOps(const Class& traffic_class, const std::string& key, Report& report) {
  const std::vector<std::string>& ops = traffic_class.ops;
  if (ops.empty()) {
    report.Error(key, "is empty, so the class would send nothing; use some of " + Join(kOps));
  } else if (SentOps(traffic_class) == 0) {
    report.Error(key, "holds nothing that is sent to a peer; add one of " + Join(kOps));
  }
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const std::string item = key + "[" + std::to_string(i) + "]";
    const std::string why_not = WhyNot(ops[i]);
    const auto here = ops.begin() + static_cast<std::ptrdiff_t>(i);
    if (!why_not.empty()) {
      report.Error(item, why_not);
    } else if (std::any_of(ops.begin(), here, [&op = ops[i]](const std::string& before) {
                 return Plain(before) == Plain(op);
               })) {
      report.Error(item, ops[i] + " is listed twice; once is enough");
    }
  }
}

// An op that is outstanding when its path's next op is due makes that one be skipped. Past the
// interval, no overdue probe could be told from one that was never sent; past an op's share of it,
// probes that are in time still cost others their turn.
void ValidateDeadline(const Class& traffic_class, const std::string& key, Report& report) {
  if (report.Failed(key + ".interval") || report.Failed(key + ".deadline")) return;
  const std::string deadline = DurationText(traffic_class.deadline);
  const std::string interval = DurationText(traffic_class.interval);
  if (traffic_class.deadline > traffic_class.interval) {
    report.Error(key + ".deadline", deadline + " is longer than the interval (" + interval +
                                        "): the next probe would be due before this one counts "
                                        "as overdue; make the deadline shorter or equal");
    return;
  }
  const auto ops = static_cast<std::int64_t>(SentOps(traffic_class));
  if (ops > 1 && traffic_class.deadline * ops > traffic_class.interval) {
    report.Warn(key + ".deadline",
                deadline + " is longer than the " + std::to_string(ops) + " ops of one interval (" +
                    interval +
                    ") are apart: a probe that is slow but in time makes the next be skipped");
  }
}

void ValidateClass(const Class& traffic_class, const std::string& key, Report& report) {
  if (!report.Failed(key + ".ops")) ValidateOps(traffic_class, key + ".ops", report);
  ValidateDeadline(traffic_class, key, report);
  if (traffic_class.retry_cnt == 7) {
    report.Warn(key + ".retry_cnt",
                "7 means for ever on some devices (soft-RoCE among them), where a lost peer is "
                "then never reported; use 6");
  }
}

}  // namespace

void ValidateClasses(const Config& config, Report& report) {
  ValidateClass(config.classes.lossless, "classes.lossless", report);
  ValidateClass(config.classes.control, "classes.control", report);
}

// One that is missing would leave a session in clear that somebody believes to be safe.
void ValidateTls(const Config& config, Report& report) {
  const Tls& tls = config.control.tls;
  if (tls == Tls{}) return;
  for (const auto& [name, file] :
       {std::pair<std::string_view, const std::string&>{"cert", tls.cert},
        {"key", tls.key},
        {"ca", tls.ca}}) {
    if (file.empty()) {
      report.Error(Under("control.tls", name), "is missing; TLS needs cert, key and ca");
    }
  }
}

}  // namespace rdmapulse::config
