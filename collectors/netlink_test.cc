#include "collectors/netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <cerrno>
#include <cstring>

#include "collectors/netlink_message.h"

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kType = 0x1401;
constexpr std::uint32_t kSequence = 7;
constexpr std::string_view kWhat = "the list";

std::vector<std::byte> Word(std::uint32_t value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  return bytes;
}

// A datagram under construction, as the kernel would send it.
class Datagram {
 public:
  Datagram& Message(std::uint32_t payload, std::uint16_t flags = NLM_F_MULTI) {
    nlmsghdr* header = Begin(kType, flags);
    std::memcpy(mnl_nlmsg_put_extra_header(header, sizeof(payload)), &payload, sizeof(payload));
    return End(header);
  }
  Datagram& Done(std::uint16_t flags = NLM_F_MULTI, int code = 0) {
    nlmsghdr* header = Begin(NLMSG_DONE, flags);
    std::memcpy(mnl_nlmsg_put_extra_header(header, sizeof(code)), &code, sizeof(code));
    return End(header);
  }
  Datagram& Error(int code) {
    nlmsghdr* header = Begin(NLMSG_ERROR, 0);
    static_cast<nlmsgerr*>(mnl_nlmsg_put_extra_header(header, sizeof(nlmsgerr)))->error = code;
    return End(header);
  }
  Datagram& WithSequence(std::uint32_t sequence) {
    sequence_ = sequence;
    return *this;
  }
  Bytes All() const { return std::as_bytes(std::span(buffer_).first(size_)); }

 private:
  nlmsghdr* Begin(std::uint16_t type, std::uint16_t flags) {
    nlmsghdr* header = mnl_nlmsg_put_header(buffer_.data() + size_);
    header->nlmsg_type = type;
    header->nlmsg_flags = flags;
    header->nlmsg_seq = sequence_;
    return header;
  }
  Datagram& End(const nlmsghdr* header) {
    size_ += MNL_ALIGN(header->nlmsg_len);
    return *this;
  }

  alignas(nlmsghdr) std::array<char, 4096> buffer_{};
  std::size_t size_ = 0;
  std::uint32_t sequence_ = kSequence;
};

TEST(TakeDatagramTest, KeepsTheMessagesInOrderUntilTheEnd) {
  NetlinkAnswer answer;
  const Datagram first = Datagram().Message(1).Message(2);
  const Datagram last = Datagram().Message(3).Done();
  EXPECT_EQ(*TakeDatagram(first.All(), kSequence, kWhat, answer), Dump::kMore);
  EXPECT_EQ(*TakeDatagram(last.All(), kSequence, kWhat, answer), Dump::kDone);
  EXPECT_THAT(answer, ElementsAre(Word(1), Word(2), Word(3)));
}

TEST(TakeDatagramTest, AnAcknowledgementEndsTheAnswerToASingleQuestion) {
  NetlinkAnswer answer;
  EXPECT_EQ(*TakeDatagram(Datagram().Message(1, 0).Error(0).All(), kSequence, kWhat, answer),
            Dump::kDone);
  EXPECT_THAT(answer, ElementsAre(Word(1)));
}

TEST(TakeDatagramTest, ChangeDuringTheDumpAsksForAnother) {
  NetlinkAnswer answer;
  const Datagram datagram = Datagram().Message(1, NLM_F_MULTI | NLM_F_DUMP_INTR).Message(2);
  EXPECT_EQ(*TakeDatagram(datagram.All(), kSequence, kWhat, answer), Dump::kInterrupted);
  const Datagram end = Datagram().Done(NLM_F_MULTI | NLM_F_DUMP_INTR);
  EXPECT_EQ(*TakeDatagram(end.All(), kSequence, kWhat, answer), Dump::kInterrupted);
}

TEST(TakeDatagramTest, RestOfAnEarlierAnswerIsIgnored) {
  NetlinkAnswer answer;
  const Datagram datagram =
      Datagram().WithSequence(kSequence - 1).Message(1).Done().WithSequence(kSequence).Message(2);
  EXPECT_EQ(*TakeDatagram(datagram.All(), kSequence, kWhat, answer), Dump::kMore);
  EXPECT_THAT(answer, ElementsAre(Word(2)));
}

TEST(TakeDatagramTest, KernelsErrorIsTheErrorAlsoAtTheEndOfADump) {
  NetlinkAnswer answer;
  for (const Datagram& datagram :
       {Datagram().Error(-EPERM), Datagram().Message(1).Done(NLM_F_MULTI, -EPERM)}) {
    const auto dump = TakeDatagram(datagram.All(), kSequence, kWhat, answer);
    ASSERT_FALSE(dump.has_value());
    EXPECT_EQ(dump.error().Text(), "reading the list by netlink: Operation not permitted");
  }
}

TEST(TakeDatagramTest, BrokenBytesAreRefusedWithAReason) {
  NetlinkAnswer answer;
  const auto why = [&answer](Bytes bytes) {
    const auto dump = TakeDatagram(bytes, kSequence, kWhat, answer);
    return dump ? "accepted" : dump.error().doing;
  };
  const std::string prefix = "reading the list by netlink: ";
  const Datagram message = Datagram().Message(1);
  EXPECT_EQ(why({}), prefix + "an empty datagram");
  EXPECT_EQ(why(message.All().first(NLMSG_HDRLEN - 1)), prefix + "the datagram is cut short");
  EXPECT_EQ(why(message.All().first(message.All().size() - 1)),
            prefix + "the datagram is cut short");
  EXPECT_EQ(why(Datagram().Error(1).All()), prefix + "an unknown error");
  EXPECT_EQ(why(Datagram().Error(-4096).All()), prefix + "an unknown error");
  EXPECT_EQ(why(Datagram().Error(-4095).All()), "reading the list by netlink");
  EXPECT_THAT(answer, IsEmpty());
}

TEST(TakeDatagramTest, LengthPastTheDatagramIsNotFollowed) {
  const Datagram datagram = Datagram().Message(1).Message(2);
  std::vector<std::byte> bytes(datagram.All().begin(), datagram.All().end());
  const std::uint32_t length = 0x80000007;  // negative, to whom takes it for an int
  std::memcpy(bytes.data() + bytes.size() / 2, &length, sizeof(length));
  NetlinkAnswer answer;
  EXPECT_FALSE(TakeDatagram(bytes, kSequence, kWhat, answer).has_value());
  EXPECT_THAT(answer, ElementsAre(Word(1)));
}

TEST(TakeDatagramTest, AnAnswerWithoutEndIsGivenUpAtTheLimit) {
  NetlinkAnswer answer = {std::vector<std::byte>(kMaxAnswerBytes - 4)};
  EXPECT_EQ(*TakeDatagram(Datagram().Message(1).All(), kSequence, kWhat, answer), Dump::kMore);
  const auto dump = TakeDatagram(Datagram().Message(2).All(), kSequence, kWhat, answer);
  ASSERT_FALSE(dump.has_value());
  EXPECT_EQ(dump.error().code.value(), E2BIG);
}

TEST(NetlinkAttributesTest, WalksToTheEndAndTellsWhetherItWasOne) {
  const std::vector<std::byte> bytes = MessageBuilder().U8(1, 5).U32(2, 6).Bytes();
  NetlinkAttributes whole(bytes);
  EXPECT_EQ(NetlinkNumber<std::uint8_t>(whole.Next()->payload), 5);
  const auto second = whole.Next();
  EXPECT_EQ(second->type, 2);
  EXPECT_EQ(NetlinkNumber<std::uint32_t>(second->payload), 6U);
  EXPECT_EQ(NetlinkNumber<std::uint64_t>(second->payload), std::nullopt) << "another size";
  EXPECT_FALSE(whole.Next().has_value());
  EXPECT_FALSE(whole.CutShort());

  NetlinkAttributes cut(Bytes(bytes).first(bytes.size() - 1));
  EXPECT_TRUE(cut.Next().has_value());
  EXPECT_FALSE(cut.Next().has_value());
  EXPECT_TRUE(cut.CutShort());
}

TEST(NetlinkTextTest, MustEndInNulAndHoldSomething) {
  const auto text = [](std::string_view bytes) {
    return NetlinkText(std::as_bytes(std::span(bytes)));
  };
  EXPECT_EQ(text(std::string_view("rxe0\0", 5)), "rxe0");
  EXPECT_EQ(text(std::string_view("rxe0\0x", 6)), "rxe0");
  EXPECT_EQ(text("rxe0"), std::nullopt);
  EXPECT_EQ(text(std::string_view("\0", 1)), std::nullopt);
  EXPECT_EQ(text(""), std::nullopt);
}

// The kernel of this machine: every Linux has a loopback device, and generic netlink's own family.
TEST(KernelNetlinkTest, AnswersOneQuestionAndADump) {
  auto route = KernelNetlink::Open(NETLINK_ROUTE);
  ASSERT_TRUE(route.has_value()) << route.error().Text();
  ifinfomsg link{};
  link.ifi_index = 1;
  const Bytes header = std::as_bytes(std::span(&link, 1));
  NetlinkRequest one(RTM_GETLINK, NetlinkRequest::Kind::kOne, "the loopback device");
  const auto answer = route->Ask(one.Header(header));
  ASSERT_TRUE(answer.has_value()) << answer.error().Text();
  ASSERT_EQ(answer->size(), 1U);
  const auto attributes = AfterHeader(answer->front(), sizeof(ifinfomsg));
  ASSERT_TRUE(attributes.has_value());
  EXPECT_EQ(NetlinkText(FindAttribute(*attributes, IFLA_IFNAME)), "lo");

  NetlinkRequest all(RTM_GETLINK, NetlinkRequest::Kind::kDump, "all netdevs");
  const auto dump = route->Ask(all.Header(header));
  ASSERT_TRUE(dump.has_value()) << dump.error().Text();
  EXPECT_GE(dump->size(), 1U);
}

TEST(KernelNetlinkTest, WhatTheKernelRefusesIsItsErrnoInASentence) {
  auto generic = KernelNetlink::Open(NETLINK_GENERIC);
  ASSERT_TRUE(generic.has_value()) << generic.error().Text();
  EXPECT_EQ(*FamilyNumber(*generic, "nlctrl"), GENL_ID_CTRL);
  const auto none = FamilyNumber(*generic, "no_such_family");
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().Text(),
            "reading the family no_such_family by netlink: No such file or directory");
  EXPECT_EQ(*FamilyNumber(*generic, "nlctrl"), GENL_ID_CTRL) << "the next question has its answer";
}

TEST(KernelNetlinkTest, AProtocolThatTheKernelDoesNotSpeakIsTold) {
  const auto socket = KernelNetlink::Open(31);
  ASSERT_FALSE(socket.has_value());
  EXPECT_EQ(socket.error().code.value(), EPROTONOSUPPORT);
}

}  // namespace
}  // namespace rdmapulse::collectors
