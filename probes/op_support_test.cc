#include "probes/op_support.h"

#include <gtest/gtest.h>

namespace rdmapulse::probes {
namespace {

QpEndpoint End(std::uint32_t mtu_bytes, std::uint32_t buffer_bytes) {
  QpEndpoint end;
  end.port = {"rxe0", 1};
  end.protocol = Protocol::kRoceV2;
  end.mtu_bytes = mtu_bytes;
  end.buffer_address = 0x1000;
  end.buffer_bytes = buffer_bytes;
  end.atomics = true;
  end.echo_receives = kEchoReceives;
  return end;
}

TEST(OpSupportTest, AWriteOfThePathMtuIsAsLargeAsTheSmallerEnds) {
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(4096, 4096), End(1024, 4096)), 1024U);
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(1024, 4096), End(4096, 4096)), 1024U);
  EXPECT_EQ(PayloadBytes(Op::kWriteMtu, End(4096, 4096), End(4096, 4096)), 4096U);
}

TEST(OpSupportTest, WhatFitsThePeersBufferIsSent) {
  for (const Op op : {Op::kWrite0, Op::kWrite, Op::kWriteMtu, Op::kRead, Op::kEcho, Op::kAtomic}) {
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

TEST(OpSupportTest, AnAtomicNeedsADeviceThatHasThemAtBothEnds) {
  QpEndpoint without = End(4096, 4096);
  without.atomics = false;
  EXPECT_EQ(WhyNot(Op::kAtomic, without, End(4096, 4096)),
            "atomic: rxe0/1 here has no atomic operations");
  EXPECT_EQ(WhyNot(Op::kAtomic, End(4096, 4096), without),
            "atomic: rxe0/1 at the peer has no atomic operations, or an older rdmapulse that does "
            "not tell");
  EXPECT_EQ(WhyNot(Op::kRead, without, without), "");
}

TEST(OpSupportTest, AnAtomicNeedsAnAlignedBufferThatHoldsIt) {
  QpEndpoint there = End(4096, 8);
  EXPECT_EQ(WhyNot(Op::kAtomic, End(4096, 4096), there), "");
  there.buffer_bytes = 7;
  EXPECT_EQ(WhyNot(Op::kAtomic, End(4096, 4096), there),
            "atomic needs 8 bytes at the peer, whose rxe0/1 offers 7: update rdmapulse there");
  there = End(4096, 4096);
  there.buffer_address += 4;
  EXPECT_EQ(WhyNot(Op::kAtomic, End(4096, 4096), there),
            "atomic: the peer's buffer is not aligned to 8 bytes");
}

TEST(OpSupportTest, AThirdOfTheFewerReceivesMayWait) {
  QpEndpoint fewer = End(4096, 4096);
  fewer.echo_receives = 3;
  EXPECT_EQ(UnansweredEchoesMax(End(4096, 4096), End(4096, 4096)), 2U);
  EXPECT_EQ(UnansweredEchoesMax(End(4096, 4096), fewer), 1U);
  EXPECT_EQ(UnansweredEchoesMax(fewer, End(4096, 4096)), 1U);
}

TEST(OpSupportTest, APeerThatAnswersNoEchoesIsSentNone) {
  for (const std::uint32_t receives : {0U, 2U}) {
    QpEndpoint there = End(4096, 4096);
    there.echo_receives = receives;
    EXPECT_EQ(WhyNot(Op::kEcho, End(4096, 4096), there),
              "echo: rxe0/1 at the peer answers none: update rdmapulse there");
  }
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
  EXPECT_EQ(WhyNot(Op::kAtomic, here, End(1024, 4096)),
            "atomic is not sent over iWARP, where only reads are: use --op read");
}

}  // namespace
}  // namespace rdmapulse::probes
