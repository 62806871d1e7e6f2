// Every name that the drivers are known to have, and what the built-in catalogue makes of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collectors/catalogue.h"

namespace rdmapulse::collectors {
namespace {

struct Known {
  std::string driver;
  std::string source;
  std::string name;
  std::string signal;
  std::string apart;  // "prio3", "cos0", "lane2", "tc1"
  std::string scale;

  bool operator==(const Known&) const = default;
};

void PrintTo(const Known& k, std::ostream* out) {
  *out << k.driver << ' ' << k.source << ' ' << k.name << " is " << k.signal << ' ' << k.apart
       << " × " << k.scale;
}

std::vector<Known> KnownNames() {
  std::vector<Known> names;
  std::ifstream file("collectors/testdata/kernel_names.tsv");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    Known known;
    for (std::string* field :
         {&known.driver, &known.source, &known.name, &known.signal, &known.apart, &known.scale}) {
      std::getline(fields, *field, '\t');
    }
    names.push_back(std::move(known));
  }
  return names;
}

Source SourceOf(const std::string& name) {
  for (std::size_t i = 0; i < kSourceCount; ++i) {
    if (Name(static_cast<Source>(i)) == name) return static_cast<Source>(i);
  }
  ADD_FAILURE() << "no source is named " << name;
  return Source::kCounters;
}

std::string ApartOf(const NameMeaning& meaning) {
  if (!meaning.match.kind || meaning.row->signal == nullptr) return {};
  const std::string label(LabelOf(*meaning.match.kind));
  return (label == "priority" ? "prio" : label) + std::to_string(meaning.match.number);
}

std::string SignalOf(const CatalogueRow& row) {
  if (row.signal != nullptr) return row.signal->name;
  if (!row.frozen.empty()) return "-frozen";
  return row.per_queue ? "-queue" : "-raw";
}

Known Found(const Known& known, std::set<const CatalogueRow*>& used) {
  const auto meaning =
      Catalogue::BuiltIn().Find(known.name, {known.driver, SourceOf(known.source)});
  Known found{known.driver, known.source, known.name, "-none", "", "1"};
  if (!meaning) return found;
  used.insert(meaning->row);
  found.signal = SignalOf(*meaning->row);
  found.apart = ApartOf(*meaning);
  found.scale = std::to_string(meaning->row->scale);
  return found;
}

TEST(KernelNamesTest, EveryNameMeansWhatItsDriverPutsThere) {
  const std::vector<Known> names = KnownNames();
  ASSERT_GT(names.size(), 1000U);
  std::set<const CatalogueRow*> used;
  for (const Known& known : names) EXPECT_EQ(Found(known, used), known);
}

TEST(KernelNamesTest, EveryRowIsOfANameThatSomeKernelHas) {
  std::set<const CatalogueRow*> used;
  for (const Known& known : KnownNames()) Found(known, used);
  for (const CatalogueRow& row : Catalogue::BuiltIn().Rows()) {
    if (row.link || row.of_virtual_functions) continue;  // catalogue_test looks at those
    EXPECT_TRUE(used.contains(&row))
        << row.name.Text() << " of " << (row.drivers.empty() ? "any" : row.drivers.front());
  }
}

}  // namespace
}  // namespace rdmapulse::collectors
