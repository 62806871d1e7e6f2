#include "collectors/driver_names.h"

#include <gtest/gtest.h>

namespace rdmapulse::collectors {
namespace {

TEST(DriverNameTest, TakesTheCataloguesNameOfTheBoundDriver) {
  EXPECT_EQ(DriverName({.device = "rocep59s0f0", .bound = "mlx5_core"}), "mlx5");
  EXPECT_EQ(DriverName({.device = "irdma0", .bound = "ice"}), "irdma_gen2");
  EXPECT_EQ(DriverName({.device = "irdma0", .bound = "i40e", .node_type = "4: RNIC"}),
            "irdma_gen1");
  EXPECT_EQ(DriverName({.device = "bnxt_re0", .bound = "bnxt_en"}), "bnxt");
}

TEST(DriverNameTest, UnheardOfDriverKeepsItsName) {
  EXPECT_EQ(DriverName({.device = "hrn3_0", .bound = "hiroce3"}), "hiroce3");
  EXPECT_EQ(
      DriverName(
          {.device = "cxgb3_0", .bound = "cxgb3", .node_type = "4: RNIC", .hca_type = "T3C20"}),
      "cxgb3");
}

TEST(DriverNameTest, SoftwareDevicesDoNotTakeTheNameOfTheNicBelow) {
  EXPECT_EQ(DriverName({.device = "r0", .bound = "mlx5_core", .has_parent_file = true}), "rxe");
  EXPECT_EQ(DriverName({.device = "s0",
                        .bound = "ice",
                        .node_type = "4: RNIC",
                        .node_desc = "Software iWARP stack"}),
            "siw");
  // A renamed description still leaves that mlx5 hardware is never iWARP.
  EXPECT_EQ(
      DriverName(
          {.device = "s0", .bound = "mlx5_core", .node_type = "4: RNIC", .node_desc = "host7 s0"}),
      "siw");
  EXPECT_EQ(DriverName({.device = "s0", .bound = "virtio_net", .node_type = "4: RNIC"}), "siw");
}

TEST(DriverNameTest, WithoutABoundDriverOtherFactsTell) {
  EXPECT_EQ(DriverName({.device = "enp0s3rxe", .has_completer_retries = true}), "rxe");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MT4129"}), "mlx5");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MT41692"}), "mlx5");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MT4113"}), "mlx5");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MT4107"}), "mlx4");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MT25418"}), "");
  EXPECT_EQ(DriverName({.device = "ibp3s0", .hca_type = "MTx"}), "");
  EXPECT_EQ(DriverName({.device = "i0", .node_type = "4: RNIC", .hca_type = "I40IW"}),
            "irdma_gen1");
}

TEST(DriverNameTest, DeviceNameIsTheLastResort) {
  EXPECT_EQ(DriverName({.device = "bnxt_re0"}), "bnxt");
  EXPECT_EQ(DriverName({.device = "irdma1"}), "irdma");
  EXPECT_EQ(DriverName({.device = "rxe_eth0"}), "rxe");
  EXPECT_EQ(DriverName({.device = "rocep59s0f0"}), "");
}

TEST(IsIwarpOnlyTest, LeavesOutDriversThatAlsoSpeakRoce) {
  EXPECT_TRUE(IsIwarpOnly("siw"));
  EXPECT_TRUE(IsIwarpOnly("cxgb4"));
  EXPECT_FALSE(IsIwarpOnly("irdma_gen2"));
  EXPECT_FALSE(IsIwarpOnly("rxe"));
  EXPECT_FALSE(IsIwarpOnly(""));
}

}  // namespace
}  // namespace rdmapulse::collectors
