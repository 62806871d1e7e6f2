#include "collectors/catalogue.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "collectors/builtin_catalogue.h"
#include "collectors/catalogue_file.h"

namespace rdmapulse::collectors {
namespace {

constexpr std::string_view kSignalFile = "signals.yaml";

// A program that cannot read what was built into it was built wrong; its tests say so first.
[[noreturn]] void BuiltWrong(std::string_view file, const config::Problem& problem) {
  std::fprintf(stderr, "the built-in catalogue: %.*s:%d:%d: %s: %s\n",
               static_cast<int>(file.size()), file.data(), problem.line, problem.column,
               problem.key.c_str(), problem.message.c_str());
  std::abort();
}

std::vector<SignalInfo> ReadSignals() {
  for (const BuiltInFile& file : BuiltInFiles()) {
    if (file.name != kSignalFile) continue;
    SignalFile parsed = ParseSignalFile(file.text);
    if (!parsed.problems.empty()) BuiltWrong(file.name, parsed.problems.front());
    return std::move(parsed.signals);
  }
  return {};
}

bool Applies(const CatalogueRow& row, const NameOwner& owner) {
  if (std::find(row.sources.begin(), row.sources.end(), owner.source) == row.sources.end())
    return false;
  if (row.link && *row.link != owner.link_layer) return false;
  if (row.of_virtual_functions && !owner.virtual_function) return false;
  return row.drivers.empty() ||
         std::find(row.drivers.begin(), row.drivers.end(), owner.driver) != row.drivers.end();
}

}  // namespace

std::span<const SignalInfo> CanonicalSignals() {
  static const std::vector<SignalInfo> signals = ReadSignals();
  return signals;
}

const SignalInfo* FindSignal(std::string_view name) {
  const auto signals = CanonicalSignals();
  const auto found = std::lower_bound(
      signals.begin(), signals.end(), name,
      [](const SignalInfo& have, std::string_view wanted) { return have.name < wanted; });
  return found == signals.end() || found->name != name ? nullptr : &*found;
}

Catalogue Catalogue::ReadBuiltIn() {
  Catalogue catalogue;
  for (const BuiltInFile& file : BuiltInFiles()) {
    if (file.name == kSignalFile) continue;
    const auto problems = catalogue.Add(file.text);
    if (!problems.empty()) BuiltWrong(file.name, problems.front());
  }
  catalogue.built_in_ = catalogue.files_;
  return catalogue;
}

const Catalogue& Catalogue::BuiltIn() {
  static const Catalogue catalogue = ReadBuiltIn();
  return catalogue;
}

std::vector<config::Problem> Catalogue::Add(std::string_view yaml) {
  CatalogueFile file = ParseCatalogueFile(yaml);
  if (!file.problems.empty()) return std::move(file.problems);
  ++files_;
  for (CatalogueRow& row : file.rows) {
    row.file = files_;
    row.order += next_order_;
    const auto index = static_cast<std::uint32_t>(rows_.size());
    if (row.name.IsExact()) {
      exact_[row.name.Text()].push_back(index);
    } else {
      patterns_.push_back(index);
    }
    rows_.push_back(std::move(row));
  }
  if (!rows_.empty()) next_order_ = rows_.back().order + 1;
  return {};
}

// Built-in files are one level: what an operator adds holds before all of it.
Catalogue::Authority Catalogue::AuthorityOf(const CatalogueRow& row, Source source) const {
  return {row.file > built_in_ ? row.file : 0, !row.drivers.empty(), row.sources.front() == source};
}

bool Catalogue::Prefers(const CatalogueRow& a, const CatalogueRow& b) const {
  const auto authority = [this](const CatalogueRow& row) {
    return std::pair(row.file > built_in_ ? row.file : 0, !row.drivers.empty());
  };
  return authority(a) != authority(b) ? authority(a) > authority(b) : a.order < b.order;
}

std::optional<NameMeaning> Catalogue::Find(std::string_view name, const NameOwner& owner) const {
  const auto rank = [this, &owner](const CatalogueRow& row) {
    const bool conditional = row.link || row.of_virtual_functions;
    return std::tuple(AuthorityOf(row, owner.source), conditional, row.name.IsExact());
  };
  std::optional<NameMeaning> best;
  const auto consider = [&best, &rank, &owner](const CatalogueRow& row,
                                               const NamePattern::Match& match) {
    if (Applies(row, owner) && (!best || rank(row) > rank(*best->row)))
      best = NameMeaning{&row, match};
  };
  if (const auto exact = exact_.find(name); exact != exact_.end()) {
    for (const std::uint32_t index : exact->second) consider(rows_[index], {});
  }
  for (const std::uint32_t index : patterns_) {
    const CatalogueRow& row = rows_[index];
    if (!Applies(row, owner)) continue;
    if (const auto match = row.name.Matches(name)) consider(row, *match);
  }
  return best;
}

std::vector<std::string_view> Catalogue::Drivers() const {
  std::set<std::string_view> drivers;
  for (const CatalogueRow& row : rows_) drivers.insert(row.drivers.begin(), row.drivers.end());
  return {drivers.begin(), drivers.end()};
}

}  // namespace rdmapulse::collectors
