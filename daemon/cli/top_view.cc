#include "daemon/cli/top_view.h"

#include <fmt/format.h>

#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <optional>
#include <vector>

#include "daemon/cli/json_fields.h"
#include "daemon/cli/table.h"
#include "daemon/cli/units.h"

namespace rdmapulse::cli {
namespace {

namespace json = boost::json;

constexpr double kBitsPerByte = 8;
// A share below this rounds to 0 %, but is not nothing.
constexpr double kShareShown = 0.0005;

std::string Rate(const json::object& rates, std::string_view name, double scale = 1) {
  const std::optional<double> rate = NumberField(rates, name);
  return rate ? ShortNumber(*rate * scale) : kUnknown;
}

std::string Share(const json::object& rates, std::string_view name) {
  const std::optional<double> share = NumberField(rates, name);
  if (!share) return kUnknown;
  if (*share > 0 && *share < kShareShown) return "<.1%";
  return fmt::format("{:.3g}%", std::round(*share * 1000) / 10);
}

bool Moves(const json::object& rates) {
  for (const char* const name : {"receive_bytes_per_second", "transmit_bytes_per_second",
                                 "rx_pause_ratio", "tx_pause_ratio", "discards_per_second"}) {
    if (NumberField(rates, name).value_or(0) > 0) return true;
  }
  return false;
}

Row PriorityRow(const json::object& rates) {
  return {
      {"", CountOrDash(rates, "priority"), Rate(rates, "receive_bytes_per_second", kBitsPerByte),
       Rate(rates, "transmit_bytes_per_second", kBitsPerByte), Share(rates, "rx_pause_ratio"),
       Share(rates, "tx_pause_ratio"), "", "", "", Rate(rates, "discards_per_second")},
      ""};
}

// The port's worst priority stands for it: any of them holds its traffic up.
std::string WorstShare(const json::array* priorities, std::string_view name) {
  const json::object* worst = nullptr;
  if (priorities == nullptr) return kUnknown;
  for (const json::object* const priority : Objects(*priorities)) {
    const auto share = NumberField(*priority, name);
    if (share && (worst == nullptr || *share > *NumberField(*worst, name))) worst = priority;
  }
  return worst == nullptr ? kUnknown : Share(*worst, name);
}

void AddPort(const json::object& port, std::vector<Row>& rows) {
  const std::string name = PortName(port, "device", "port");
  const std::string state = TextField(port, "state").value_or("active");
  const std::string down = state == "active" ? "" : "the port is " + state;
  const json::object* const rates = ObjectField(port, "rates");
  if (rates == nullptr) {
    rows.push_back(
        {{name, "", kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown},
         down.empty() ? "nothing is counted of it yet" : down});
    return;
  }
  const json::array* const priorities = ArrayField(*rates, "priorities");
  rows.push_back(
      {{name, "", Rate(*rates, "receive_bytes_per_second", kBitsPerByte),
        Rate(*rates, "transmit_bytes_per_second", kBitsPerByte),
        WorstShare(priorities, "rx_pause_ratio"), WorstShare(priorities, "tx_pause_ratio"),
        Rate(*rates, "ecn_marked_per_second"), Rate(*rates, "cnps_per_second"),
        Rate(*rates, "retransmits_per_second"), Rate(*rates, "discards_per_second")},
       down});
  if (priorities == nullptr) return;
  for (const json::object* const priority : Objects(*priorities)) {
    if (Moves(*priority)) rows.push_back(PriorityRow(*priority));
  }
}

}  // namespace

std::string ShortNumber(double number) {
  constexpr std::array<const char*, 6> kLetters = {"", "k", "M", "G", "T", "P"};
  std::size_t letter = 0;
  // What would be printed as 1000 is 1 of the next.
  while (std::abs(number) >= 999.5 && letter + 1 < kLetters.size()) {
    number /= 1000;
    ++letter;
  }
  const double size = std::abs(number);
  const bool whole = letter == 0 && (size >= 9.95 || size == std::floor(size));
  if (size >= 99.95 || whole) {
    return fmt::format("{:.0f}{}", number, kLetters[letter]);
  }
  return fmt::format("{:.1f}{}", number, kLetters[letter]);
}

Result<std::string> TopText(std::string_view ports_json) {
  const Result<json::object> answer = ParseObject(ports_json, "the list of ports");
  if (!answer) return tl::unexpected(answer.error());
  const Result<const json::array*> ports = RequiredArray(*answer, "ports");
  if (!ports) return tl::unexpected(ports.error());
  if ((*ports)->empty()) return "This host has no RDMA ports.\n";
  std::vector<Row> rows;
  for (const json::object* const port : Objects(**ports)) AddPort(*port, rows);
  return RenderTable({{"PORT"},
                      {"PRI", Align::kRight},
                      {"RX b/s", Align::kRight},
                      {"TX b/s", Align::kRight},
                      {"PAUSED", Align::kRight},
                      {"PAUSING", Align::kRight},
                      {"ECN", Align::kRight},
                      {"CNP", Align::kRight},
                      {"RETX", Align::kRight},
                      {"DROP", Align::kRight}},
                     rows) +
         "Bits and events a second. PAUSED by the peer, PAUSING it: share of the time.\n";
}

}  // namespace rdmapulse::cli
