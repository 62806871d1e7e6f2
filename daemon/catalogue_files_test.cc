#include "daemon/catalogue_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/tree.h"

namespace rdmapulse {
namespace {

using collectors::Source;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CatalogueFilesTest, WithoutFilesItIsWhatIsBuiltIn) {
  const LoadedCatalogue loaded = LoadCatalogue({});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_EQ(loaded.catalogue->Rows().size(), collectors::Catalogue::BuiltIn().Rows().size());
}

TEST(CatalogueFilesTest, ANicThatNobodyKnewIsKnown) {
  const fakes::Tree tree("");
  tree.Write("mynic.yaml", "drivers: [mynic]\nethtool: [{signal: cnp_sent, name: cnps}]\n");
  const LoadedCatalogue loaded = LoadCatalogue({tree.Root() + "/mynic.yaml"});
  EXPECT_THAT(loaded.problems, IsEmpty());
  EXPECT_TRUE(loaded.catalogue->Find("cnps", {"mynic", Source::kEthtool}));
}

TEST(CatalogueFilesTest, MistakesAreSaidWithFileLineAndReason) {
  const fakes::Tree tree("");
  tree.Write("bad.yaml", "drivers: [mynic]\nethtool:\n  - {signal: cnp_snt, name: cnps}\n");
  const std::string path = tree.Root() + "/bad.yaml";
  EXPECT_THAT(
      LoadCatalogue({path, "/nowhere/at/all.yaml"}).problems,
      ElementsAre(
          path + ":3:6: ethtool[0].signal: \"cnp_snt\" is no signal; did you mean cnp_sent?",
          "collect.catalogue: opening the configuration /nowhere/at/all.yaml: No such file "
          "or directory"));
}

}  // namespace
}  // namespace rdmapulse
