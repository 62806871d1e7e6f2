// What the drivers' counters mean: from a driver, a source and a name in the kernel's spelling to a
// canonical signal. Data, not code: collectors/catalogue/*.yaml are built in, an operator's own
// files are laid over them (docs/configuration.md, `collect.catalogue`). Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "collectors/name_pattern.h"
#include "collectors/reading.h"
#include "config/problem.h"
#include "daemon/base/rdma.h"

namespace rdmapulse::collectors {

// A counter's meaning, whichever driver counts it.
struct SignalInfo {
  std::string name;             // "pfc_rx_pause_frames"
  std::string unit;             // "frames", "us", "bytes", …
  bool gauge = false;           // of the moment: it may fall
  std::vector<Source> sources;  // believed first, in this order, where several offer it
};

// In order of their names. Static storage: a name found here can be kept as a string_view.
std::span<const SignalInfo> CanonicalSignals();
const SignalInfo* FindSignal(std::string_view name);  // nullptr: there is no such signal

// What a narrow counter does at its limit.
enum class Limit : std::uint8_t {
  kUnknown,  // either: firmware decides
  kSticks,   // stays at all ones until somebody clears it
  kWraps,
};

// One line of the catalogue, for one name of it.
struct CatalogueRow {
  NamePattern name;
  std::vector<std::string> drivers;   // empty: any
  std::vector<Source> sources;        // where it was written first, then those that share the names
  std::optional<LinkLayer> link;      // only on ports of this kind
  bool of_virtual_functions = false;  // only of those

  const SignalInfo* signal = nullptr;  // nullptr: raw only
  std::string part;                    // tells values of one signal apart that must not be added up
  bool adds = false;        // with the others of its line; else the first of a line counts
  std::uint64_t scale = 1;  // from the counter's unit to the signal's
  unsigned bits = 64;
  Limit limit = Limit::kUnknown;
  std::optional<bool> gauge;            // nullopt: as the signal; without one a counter
  std::optional<std::uint64_t> absent;  // by which the driver says that it has no value
  bool per_queue = false;
  std::string frozen;  // why the value cannot move; such a value has no signal
  // Where such a name is listed, a reading of nothing but zeros, which has never had anything else,
  // was not measured.
  bool all_zero_is_unmeasured = false;
  bool missing_is_pfc_off = false;  // the driver lists the name only for priorities with PFC

  std::uint32_t order = 0;  // in the text; the rows of a sum have the same
  std::uint32_t file = 0;   // a later file's row holds before an earlier one's
};

// Whose names are looked up.
struct NameOwner {
  std::string_view driver;  // empty: not known
  Source source = Source::kCounters;
  LinkLayer link_layer = LinkLayer::kUnknown;
  bool virtual_function = false;
};

struct NameMeaning {
  const CatalogueRow* row = nullptr;  // lives as long as the catalogue
  NamePattern::Match match;

  bool operator==(const NameMeaning&) const = default;
};

class Catalogue {
 public:
  // Made once, then shared by all threads.
  static const Catalogue& BuiltIn();

  // Lays the rows of a file over those that are there: for the drivers that it names, its lines
  // hold. All or nothing: with a problem, nothing changes. At most 1 MiB, one YAML document. The
  // problems are in the order of their lines.
  std::vector<config::Problem> Add(std::string_view yaml);

  // nullopt: nothing is said of this name. An unknown driver has only what holds for any.
  std::optional<NameMeaning> Find(std::string_view name, const NameOwner& owner) const;

  // Of two rows that offer one signal in one reading: whether `a` is believed rather than `b`. What
  // an operator wrote comes first, then what is said of the driver, of the source; then the order
  // of the text.
  bool Prefers(const CatalogueRow& a, const CatalogueRow& b) const;

  // The drivers that have rows of their own, each once, in order.
  std::vector<std::string_view> Drivers() const;
  const std::vector<CatalogueRow>& Rows() const { return rows_; }

 private:
  // An operator's file, says the driver, says the source: larger is believed. Then what holds under
  // a condition, and names that are written out.
  using Authority = std::tuple<std::uint32_t, bool, bool>;

  static Catalogue ReadBuiltIn();
  Authority AuthorityOf(const CatalogueRow& row, Source source) const;

  std::vector<CatalogueRow> rows_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> exact_;  // into rows_
  std::vector<std::uint32_t> patterns_;
  std::uint32_t files_ = 0;
  std::uint32_t built_in_ = 0;  // so many of the files
  std::uint32_t next_order_ = 0;
};

}  // namespace rdmapulse::collectors
