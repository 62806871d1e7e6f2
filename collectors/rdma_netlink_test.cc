#include "collectors/rdma_netlink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/netlink.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>

namespace rdmapulse::collectors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint16_t kDeviceMessage = 5 << 10 | 1;
constexpr std::uint16_t kIndex = 1;
constexpr std::uint16_t kName = 2;
constexpr std::uint32_t kSequence = 7;

// A datagram under construction, as the kernel would send it.
class Datagram {
 public:
  Datagram& Device(const char* name, std::uint16_t flags = NLM_F_MULTI) {
    nlmsghdr* header = Begin(kDeviceMessage, flags);
    mnl_attr_put_u32(header, kIndex, 3);
    if (name != nullptr) mnl_attr_put_strz(header, kName, name);
    return End(header);
  }
  Datagram& Done(std::uint16_t flags = NLM_F_MULTI) {
    nlmsghdr* header = Begin(NLMSG_DONE, flags);
    mnl_nlmsg_put_extra_header(header, sizeof(int));
    return End(header);
  }
  Datagram& Error(int code) {
    nlmsghdr* header = Begin(NLMSG_ERROR, 0);
    auto* error = static_cast<nlmsgerr*>(mnl_nlmsg_put_extra_header(header, sizeof(nlmsgerr)));
    error->error = code;
    return End(header);
  }
  Datagram& WithSequence(std::uint32_t sequence) {
    sequence_ = sequence;
    return *this;
  }
  std::span<const std::byte> Bytes() const {
    return std::as_bytes(std::span(buffer_).first(size_));
  }

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

TEST(ParseDeviceNamesTest, TakesTheNamesInOrder) {
  std::vector<std::string> names;
  const Datagram first = Datagram().Device("mlx5_0").Device("rxe0");
  const Datagram last = Datagram().Device("rxe1").Done();
  EXPECT_EQ(*ParseDeviceNames(first.Bytes(), kSequence, names), Dump::kMore);
  EXPECT_EQ(*ParseDeviceNames(last.Bytes(), kSequence, names), Dump::kDone);
  EXPECT_THAT(names, ElementsAre("mlx5_0", "rxe0", "rxe1"));
}

TEST(ParseDeviceNamesTest, HostWithoutDevicesEndsAtOnce) {
  std::vector<std::string> names;
  EXPECT_EQ(*ParseDeviceNames(Datagram().Done().Bytes(), kSequence, names), Dump::kDone);
  EXPECT_THAT(names, IsEmpty());
}

TEST(ParseDeviceNamesTest, ChangeDuringTheDumpAsksForAnother) {
  std::vector<std::string> names;
  const Datagram datagram = Datagram().Device("rxe0", NLM_F_MULTI | NLM_F_DUMP_INTR).Device("rxe1");
  EXPECT_EQ(*ParseDeviceNames(datagram.Bytes(), kSequence, names), Dump::kInterrupted);
  const Datagram end = Datagram().Done(NLM_F_MULTI | NLM_F_DUMP_INTR);
  EXPECT_EQ(*ParseDeviceNames(end.Bytes(), kSequence, names), Dump::kInterrupted);
}

TEST(ParseDeviceNamesTest, RestOfAnEarlierDumpIsIgnored) {
  std::vector<std::string> names;
  const Datagram datagram = Datagram()
                                .WithSequence(kSequence - 1)
                                .Device("old")
                                .Done()
                                .WithSequence(kSequence)
                                .Device("new");
  EXPECT_EQ(*ParseDeviceNames(datagram.Bytes(), kSequence, names), Dump::kMore);
  EXPECT_THAT(names, ElementsAre("new"));
}

TEST(ParseDeviceNamesTest, KernelsErrorIsTheError) {
  std::vector<std::string> names;
  const auto dump = ParseDeviceNames(Datagram().Error(-EPERM).Bytes(), kSequence, names);
  ASSERT_FALSE(dump.has_value());
  EXPECT_EQ(dump.error().Text(), "reading RDMA netlink's list of devices: Operation not permitted");
}

TEST(ParseDeviceNamesTest, BrokenBytesAreRefusedWithAReason) {
  std::vector<std::string> names;
  const auto why = [&names](std::span<const std::byte> bytes) {
    const auto dump = ParseDeviceNames(bytes, kSequence, names);
    return dump ? "accepted" : dump.error().doing;
  };
  const std::string prefix = "reading RDMA netlink's list of devices: ";
  const Datagram device = Datagram().Device("mlx5_0");
  EXPECT_EQ(why({}), prefix + "an empty datagram");
  EXPECT_EQ(why(device.Bytes().first(NLMSG_HDRLEN - 1)), prefix + "the datagram is cut short");
  EXPECT_EQ(why(device.Bytes().first(device.Bytes().size() - 1)),
            prefix + "the datagram is cut short");
  EXPECT_EQ(why(Datagram().Device(nullptr).Bytes()), prefix + "a device without a name");
  EXPECT_THAT(names, IsEmpty());
}

TEST(ParseDeviceNamesTest, NameWithoutItsEndIsRefused) {
  Datagram datagram = Datagram().Device("mlx5_0");
  std::vector<std::byte> bytes(datagram.Bytes().begin(), datagram.Bytes().end());
  const std::size_t name = NLMSG_HDRLEN + 8 + 4;  // after the header, the index and its own header
  ASSERT_EQ(std::memcmp(bytes.data() + name, "mlx5_0", 7), 0);
  bytes[name + 6] = std::byte{'x'};
  std::vector<std::string> names;
  const auto dump = ParseDeviceNames(bytes, kSequence, names);
  ASSERT_FALSE(dump.has_value());
  EXPECT_EQ(dump.error().doing, "reading RDMA netlink's list of devices: a name is no string");
}

TEST(ParseDeviceNamesTest, LengthPastTheDatagramIsNotFollowed) {
  const Datagram datagram = Datagram().Device("rxe0").Device("rxe1");
  std::vector<std::byte> bytes(datagram.Bytes().begin(), datagram.Bytes().end());
  const std::uint32_t length = 0x80000007;  // negative, to whom takes it for an int
  std::memcpy(bytes.data() + bytes.size() / 2, &length, sizeof(length));
  std::vector<std::string> names;
  const auto dump = ParseDeviceNames(bytes, kSequence, names);
  ASSERT_FALSE(dump.has_value());
  EXPECT_EQ(dump.error().doing,
            "reading RDMA netlink's list of devices: the datagram is cut short");
}

TEST(ParseDeviceNamesTest, MoreNamesThanAHostCanHaveAreRefused) {
  const Datagram datagram = Datagram().Device("one");
  std::vector<std::string> names(kMaxNetlinkDevices - 1);
  EXPECT_TRUE(ParseDeviceNames(datagram.Bytes(), kSequence, names).has_value());
  EXPECT_EQ(names.size(), kMaxNetlinkDevices);
  EXPECT_FALSE(ParseDeviceNames(datagram.Bytes(), kSequence, names).has_value());
  EXPECT_EQ(names.size(), kMaxNetlinkDevices);
}

TEST(ListNetlinkDevicesTest, KernelAnswersOrHasNoRdma) {
  const auto names = ListNetlinkDevices();
  EXPECT_TRUE(names.has_value()) << names.error().Text();
}

}  // namespace
}  // namespace rdmapulse::collectors
