// What the decoder and the encoder refuse, and how streams are cut into frames. wire_golden_test.cc
// has the bytes themselves.
#include "daemon/peers/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "daemon/peers/test_messages.h"
#include "daemon/peers/wire_pb.h"

namespace rdmapulse::peers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::uint8_t> Bytes(const std::string& text) { return {text.begin(), text.end()}; }

std::string EncodeError(const Message& message) {
  const auto frame = EncodeFrame(message);
  return frame ? "" : frame.error().Text();
}

std::string DecodeError(const pb::Envelope& envelope) {
  const auto message = DecodeEnvelope(Bytes(envelope.SerializeAsString()));
  return message ? "" : message.error().Text();
}

// What EncodeFrame makes of `message`, as protobuf, for a test to spoil.
pb::Envelope Envelope(const Message& message) {
  pb::Envelope envelope;
  EXPECT_TRUE(envelope.ParseFromString(EncodeFrame(message).value().substr(kFrameHeaderBytes)));
  return envelope;
}

TEST(WireTest, EndpointFieldsHaveBounds) {
  struct Case {
    std::function<void(probes::QpEndpoint&)> set;
    std::string error;  // empty: just within
  };
  const std::vector<Case> cases = {
      {[](auto& end) { end.qpn = 1; }, ""},
      {[](auto& end) { end.qpn = 0; }, "connect: QPN 0 is not between 1 and 16777215"},
      {[](auto& end) { end.qpn = 0xffffff; }, ""},
      {[](auto& end) { end.qpn = 0x1000000; }, "connect: QPN 16777216 is not between"},
      {[](auto& end) { end.psn = 0xffffff; }, ""},
      {[](auto& end) { end.psn = 0x1000000; }, "connect: PSN 16777216 is not between 0 and"},
      {[](auto& end) { end.lid = 0xffff; }, ""},
      {[](auto& end) { end.lid = 0x10000; }, "connect: LID 65536 is not between 0 and 65535"},
      {[](auto& end) { end.mtu_bytes = 256; }, ""},
      {[](auto& end) { end.mtu_bytes = 4096; }, ""},
      {[](auto& end) { end.mtu_bytes = 128; }, "connect: MTU 128 is none of 256 to 4096"},
      {[](auto& end) { end.mtu_bytes = 0; }, "connect: MTU 0 is none of"},
      {[](auto& end) { end.mtu_bytes = 8192; }, "connect: MTU 8192 is none of"},
      {[](auto& end) { end.buffer_bytes = 1U << 20; }, ""},
      {[](auto& end) { end.buffer_bytes = (1U << 20) + 1; }, "connect: buffer length 1048577"},
      {[](auto& end) { end.port.port = 255; }, ""},
      {[](auto& end) { end.port.port = 0; }, "connect: the endpoint's port number 0"},
      {[](auto& end) { end.port.port = 256; }, "connect: the endpoint's port number 256"},
      {[](auto& end) { end.port.device = std::string(64, 'a'); }, ""},
      {[](auto& end) { end.port.device = std::string(65, 'a'); }, "the endpoint's device is no"},
      {[](auto& end) { end.port.device = ""; }, "the endpoint's device is no name"},
      {[](auto& end) { end.port.device = "a\nb"; }, "the endpoint's device is no name"},
      {[](auto& end) { end.ud_qpn = 0xffffff, end.ud_token = 1; }, ""},
      {[](auto& end) { end.ud_qpn = 0x1000000, end.ud_token = 1; }, "UD QPN 16777216 is not"},
      {[](auto& end) { end.ud_qpn = 1; }, "datagrams without a token"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Connect connect = SomeConnect();
    cases[i].set(connect.leader);
    const std::string error = EncodeError({1, connect});
    if (cases[i].error.empty()) {
      EXPECT_EQ(error, "") << i;
    } else {
      EXPECT_THAT(error, HasSubstr(cases[i].error)) << i;
    }
  }
}

TEST(WireTest, FlowLabelHas20Bits) {
  Connect connect = SomeConnect();
  connect.flow_label = 0xfffff;
  EXPECT_EQ(EncodeError({1, connect}), "");
  connect.flow_label = 0x100000;
  EXPECT_EQ(EncodeError({1, connect}), "connect: flow label 1048576 is not between 0 and 1048575");
}

// The decoder's bounds are the encoder's (one CheckMessage); here that it asks for them at all.
TEST(WireTest, StreamsAreToldAndHaveBounds) {
  Message message{5, Connect{SomeConnect()}};
  std::get<Connect>(message.body).path.stream = 7;
  const auto told = DecodeEnvelope(Bytes(Envelope(message).SerializeAsString()));
  ASSERT_TRUE(told) << told.error().Text();
  EXPECT_EQ(*told, message);
  pb::Envelope spoilt = Envelope(message);
  spoilt.mutable_connect()->mutable_path()->set_stream(8);
  EXPECT_THAT(DecodeError(spoilt), HasSubstr("stream 8 is not below 8"));
  spoilt.mutable_connect()->mutable_path()->set_stream(257);
  EXPECT_THAT(DecodeError(spoilt), HasSubstr("stream 257 is not below 8"));

  Hello hello = SomeHello("h2", 7);
  hello.ports.front().streams = 8;
  EXPECT_EQ(EncodeError({0, hello}), "");
  hello.ports.front().streams = 9;
  EXPECT_THAT(EncodeError({0, hello}), HasSubstr("number of streams 9 is not between 1 and 8"));
  hello.ports.front().streams = 1;
  pb::Envelope older = Envelope({0, hello});
  older.mutable_hello()->mutable_ports(0)->clear_streams();
  const auto read = DecodeEnvelope(Bytes(older.SerializeAsString()));
  ASSERT_TRUE(read);
  EXPECT_EQ(std::get<Hello>(read->body).ports.front().streams, 1U);
}

TEST(WireTest, DecoderChecksValuesToo) {
  pb::Envelope envelope = Envelope({1, SomeConnect()});
  ASSERT_EQ(DecodeError(envelope), "");
  envelope.mutable_connect()->mutable_leader()->set_qpn(1U << 24);
  EXPECT_THAT(DecodeError(envelope), HasSubstr("connect: QPN 16777216"));
}

TEST(WireTest, DecoderRefusesWhatHasNoValue) {
  struct Case {
    std::function<void(pb::Envelope&)> spoil;
    std::string error;
  };
  const std::vector<Case> cases = {
      {[](auto& e) { e.mutable_connect()->mutable_leader()->set_gid("short"); },
       "a GID of 5 bytes instead of 16"},
      {[](auto& e) { e.mutable_connect()->mutable_leader()->set_gid(std::string(17, 'x')); },
       "a GID of 17 bytes instead of 16"},
      {[](auto& e) {
         e.mutable_connect()->mutable_leader()->set_protocol(static_cast<pb::Protocol>(5));
       },
       "protocol 5 is none that we know"},
      {[](auto& e) {
         e.mutable_connect()->mutable_leader()->set_protocol(static_cast<pb::Protocol>(-1));
       },
       "protocol -1 is none that we know"},
      {[](auto& e) {
         e.mutable_connect()->mutable_path()->set_traffic_class(pb::TRAFFIC_CLASS_NONE);
       },
       "class 0 is none that we know"},
      {[](auto& e) {
         e.mutable_connect()->mutable_path()->set_traffic_class(static_cast<pb::TrafficClass>(3));
       },
       "class 3 is none that we know"},
      {[](auto& e) { e.mutable_connect()->clear_path(); }, "class 0 is none"},
      {[](auto& e) { e.mutable_connect()->clear_leader(); }, "a GID of 0 bytes"},
      {[](auto& e) { e.set_id(0); }, "connect: the id is missing"},
      {[](auto& e) { e.clear_body(); }, "a message of a kind that we do not know"},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    pb::Envelope envelope = Envelope({1, SomeConnect()});
    cases[i].spoil(envelope);
    EXPECT_THAT(DecodeError(envelope), HasSubstr(cases[i].error)) << i;
  }
}

TEST(WireTest, HelloHasBounds) {
  Hello hello = SomeHello("h1", 1);
  hello.ports.assign(kPortsMax, hello.ports.front());
  EXPECT_EQ(EncodeError({0, hello}), "");
  hello.ports.push_back(hello.ports.front());
  EXPECT_EQ(EncodeError({0, hello}), "hello: number of ports 65 is not between 0 and 64");
  hello = SomeHello("h 1", 1);
  EXPECT_THAT(EncodeError({0, hello}), HasSubstr("hello: the host name is no name of 1 to 64"));
  hello = SomeHello("h1", 1);
  hello.epoch = 0;
  EXPECT_EQ(EncodeError({0, hello}), "hello: the epoch is missing");
  hello = SomeHello("h1", 1);
  hello.ports.front().mtu_bytes = 1500;
  EXPECT_EQ(EncodeError({0, hello}), "hello: MTU 1500 of mlx5_0/1 is none of 256 to 4096");
  hello.ports.front().mtu_bytes = 0;  // unknown
  EXPECT_EQ(EncodeError({0, hello}), "");
}

TEST(WireTest, TooManyPortsAreRefusedWhenTheyCome) {
  pb::Envelope envelope = Envelope({0, SomeHello("h1", 1)});
  for (std::size_t i = 0; i < kPortsMax; ++i) {
    *envelope.mutable_hello()->add_ports() = envelope.hello().ports(0);
  }
  EXPECT_THAT(DecodeError(envelope), HasSubstr("hello: number of ports 65"));
}

TEST(WireTest, HelloOfAnotherVersionIsNotLookedInto) {
  pb::Envelope envelope;
  envelope.mutable_hello()->set_version(2);
  envelope.mutable_hello()->set_agent_version("2.0");
  envelope.mutable_hello()->set_host("no legal name");
  const auto message = DecodeEnvelope(Bytes(envelope.SerializeAsString()));
  ASSERT_TRUE(message.has_value()) << message.error().Text();
  EXPECT_EQ(*message, (Message{0, OtherVersion{2, "2.0"}}));
}

TEST(WireTest, FieldsOfLaterDaemonsAreSkipped) {
  std::string bytes = EncodeFrame({3, Ping{}}).value().substr(kFrameHeaderBytes);
  bytes += "\xa2\x06\x03new";  // field 100, 3 bytes
  const auto message = DecodeEnvelope(Bytes(bytes));
  ASSERT_TRUE(message.has_value()) << message.error().Text();
  EXPECT_EQ(*message, (Message{3, Ping{}}));
}

TEST(WireTest, TextsAreCutAndMadePrintableWhenSent) {
  const auto frame = EncodeFrame({0, Lost{SomePath(), "5 \xc2\xb5s\n" + std::string(300, 'x')}});
  ASSERT_TRUE(frame.has_value());
  const auto message = DecodeEnvelope(Bytes(frame->substr(kFrameHeaderBytes)));
  ASSERT_TRUE(message.has_value()) << message.error().Text();
  EXPECT_EQ(*message, (Message{0, Lost{SomePath(), "5 ??s?" + std::string(250, 'x')}}));
}

TEST(WireTest, TextsThatAreNotPrintableAreRefused) {
  pb::Envelope envelope = Envelope({0, Refused{1, "no"}});
  envelope.mutable_refused()->set_reason("\x1b[2J");
  EXPECT_EQ(DecodeError(envelope), "the reason holds bytes that are not printable ASCII");
  envelope.mutable_refused()->set_reason(std::string(257, 'x'));
  EXPECT_EQ(DecodeError(envelope), "the reason is longer than 256 bytes");
  envelope.mutable_refused()->set_reason(std::string(256, 'x'));
  EXPECT_EQ(DecodeError(envelope), "");
}

TEST(WireTest, LargestHelloFitsAFrame) {
  Hello hello = SomeHello(std::string(kNameMax, 'h'), std::numeric_limits<std::uint64_t>::max());
  hello.agent_version = std::string(kTextMax, 'v');
  hello.epoch = hello.dial = hello.revision = hello.instance;
  hello.ports.front().id = {std::string(kNameMax, 'd'), 255};
  hello.ports.front().mtu_bytes = 4096;
  hello.ports.assign(kPortsMax, hello.ports.front());
  const auto frame = EncodeFrame({1, hello});
  ASSERT_TRUE(frame.has_value()) << frame.error().Text();
  EXPECT_LT(frame->size(), kEnvelopeBytesMax / 8);
}

// Everything that `reader` finds in `stream`, given `chunk` bytes at a time.
std::vector<std::string> Cut(const std::string& stream, std::size_t chunk) {
  FrameReader reader;
  std::vector<std::string> found;
  for (std::size_t at = 0; at < stream.size();) {
    const auto space = reader.Space();
    const std::size_t count = std::min({chunk, space.size(), stream.size() - at});
    std::copy_n(stream.begin() + static_cast<std::ptrdiff_t>(at), count, space.begin());
    reader.Commit(count);
    at += count;
    for (auto next = reader.Next(); !next || *next; next = reader.Next()) {
      if (!next) {
        found.push_back(next.error().Text());
        return found;
      }
      found.emplace_back((*next)->begin(), (*next)->end());
    }
  }
  return found;
}

TEST(FrameReaderTest, CutsTheSameFramesWhateverTheChunks) {
  const std::string large(kEnvelopeBytesMax, 'L');
  std::string stream("\0\0\0\x03one\0\0\0\x05three", 16);
  stream += std::string("\0\x01\0\0", 4) + large + std::string("\0\0\0\x01z\0\0\0\x09half", 13);
  for (const std::size_t chunk : {1U, 2U, 3U, 5U, 511U, 512U, 513U, 100000U}) {
    EXPECT_THAT(Cut(stream, chunk), ElementsAre("one", "three", large, "z")) << chunk;
  }
}

TEST(FrameReaderTest, LengthsOutOfBoundsAreErrors) {
  EXPECT_THAT(Cut(std::string("\0\x01\0\x01", 4), 4),
              ElementsAre("a frame of 65537 bytes, more than the 65536 that are allowed"));
  EXPECT_THAT(Cut(std::string("\0\0\0\x01x\0\0\0\0", 9), 9),
              ElementsAre("x", "a frame of 0 bytes"));
}

TEST(FrameReaderTest, MemoryFollowsTheFrameAndIsGivenBack) {
  FrameReader reader;
  EXPECT_EQ(reader.Space().size(), 512U);
  const std::string header("\0\x01\0\0", 4);
  std::copy(header.begin(), header.end(), reader.Space().begin());
  reader.Commit(4);
  ASSERT_TRUE(reader.Next().has_value());
  EXPECT_EQ(reader.Space().size(), kEnvelopeBytesMax);
  reader.Commit(kEnvelopeBytesMax);
  ASSERT_TRUE(reader.Next().value().has_value());
  EXPECT_EQ(reader.Space().size(), 512U);
}

}  // namespace
}  // namespace rdmapulse::peers
