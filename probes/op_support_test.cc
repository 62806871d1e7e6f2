#include "probes/op_support.h"

#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

QpEndpoint End(std::uint32_t mtu_bytes, std::uint32_t buffer_bytes) {
  QpEndpoint end;
  end.port = {"rxe0", 1};
  end.protocol = Protocol::kRoceV2;
  end.mtu_bytes = mtu_bytes;
  end.buffer_bytes = buffer_bytes;
  return end;
}

TEST(OpSupportTest, AWriteOfThePathMtuIsAsLargeAsTheSmallerEnds) {
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(4096, 4096), End(1024, 4096)), 1024U);
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(1024, 4096), End(4096, 4096)), 1024U);
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(4096, 4096), End(4096, 4096)), 4096U);
}

TEST(OpSupportTest, WhatFitsThePeersBufferIsSent) {
  for (const Op op : {Op::kWrite0, Op::kWrite, Op::kWriteMtu, Op::kRead}) {
    EXPECT_EQ(WhyNot(op, End(4096, 4096), End(4096, 4096)), "") << Name(op);
  }
  EXPECT_EQ(WhyNot(Op::kWrite, End(1024, 4096), End(1024, 64)), "");
  EXPECT_EQ(WhyNot(Op::kWrite0, End(1024, 4096), End(1024, 0)), "");
}

TEST(OpSupportTest, WhatDoesNotFitIsOneSentence) {
  EXPECT_EQ(WhyNot(Op::kWriteMtu, End(4096, 4096), End(4096, 4095)),
            "write_mtu needs 4096 bytes at the peer, whose rxe0/1 offers 4095: update rdmapulse "
            "there");
  EXPECT_EQ(WhyNot(Op::kRead, End(4096, 4096), End(4096, 7)),
            "read needs 8 bytes at the peer, whose rxe0/1 offers 7: update rdmapulse there");
}

TEST(OpSupportTest, OverIwarpOnlyAReadIsSent) {
  QpEndpoint here = End(1024, 4096);
  here.protocol = Protocol::kIwarp;
  EXPECT_EQ(WhyNot(Op::kRead, here, End(1024, 4096)), "");
  for (const Op op : {Op::kWrite0, Op::kWrite, Op::kWriteMtu}) {
    EXPECT_EQ(WhyNot(op, here, End(1024, 4096)),
              std::string(Name(op)) +
                  " says nothing on iWARP, where a write completes before it has arrived: use "
                  "--op read");
  }
}

}  // namespace
}  // namespace rdmapulse::probes
