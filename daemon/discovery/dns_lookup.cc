#include "daemon/discovery/dns_lookup.h"

#include <arpa/inet.h>
#include <arpa/nameser.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "config/address.h"

namespace rdmapulse::discovery {
namespace {

constexpr std::size_t kAnswerBytesMax = 65'536;  // of a DNS message over TCP
// With one retry: a server that is down costs twice this much for each one in resolv.conf.
constexpr int kTimeoutSeconds = 2;
constexpr int kTries = 2;

class Resolver {
 public:
  explicit Resolver(const std::optional<DnsServer>& server) {
    ready_ = res_ninit(&state_) == 0;
    state_.retrans = kTimeoutSeconds;
    state_.retry = kTries;
    if (!server) return;
    state_.nscount = 1;
    state_.nsaddr_list[0] = {};
    state_.nsaddr_list[0].sin_family = AF_INET;
    state_.nsaddr_list[0].sin_port = htons(server->port);
    state_.nsaddr_list[0].sin_addr.s_addr = htonl(server->ipv4);
  }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  ~Resolver() {
    if (ready_) res_nclose(&state_);
  }

  // The answer's bytes. nullopt: there is no such name, or it has no such records.
  Result<std::optional<std::vector<unsigned char>>> Ask(const std::string& name, int type) {
    if (!ready_) return Fail({"reading /etc/resolv.conf for ", name});
    std::vector<unsigned char> answer(kAnswerBytesMax);
    const int size = res_nsearch(&state_, name.c_str(), ns_c_in, type, answer.data(),
                                 static_cast<int>(answer.size()));
    if (size >= 0) {
      answer.resize(std::min(static_cast<std::size_t>(size), answer.size()));
      return answer;
    }
    switch (state_.res_h_errno) {
      case HOST_NOT_FOUND:
      case NO_DATA: return std::nullopt;
      case TRY_AGAIN:
        return Fail({"asking DNS for ", name, ": no server answered, or one failed"},
                    "see /etc/resolv.conf");
      default: return Fail({"asking DNS for ", name, ": ", hstrerror(state_.res_h_errno)});
    }
  }

 private:
  struct __res_state state_ {};
  bool ready_ = false;
};

std::optional<std::string> AddressText(const ns_rr& record) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int type = ns_rr_type(record);
  const bool is_v4 = type == ns_t_a && ns_rr_rdlen(record) == NS_INADDRSZ;
  const bool is_v6 = type == ns_t_aaaa && ns_rr_rdlen(record) == NS_IN6ADDRSZ;
  if (!is_v4 && !is_v6) return std::nullopt;
  if (inet_ntop(is_v4 ? AF_INET : AF_INET6, ns_rr_rdata(record), text.data(), text.size()) ==
      nullptr) {
    return std::nullopt;
  }
  return text.data();
}

std::string WithPort(const std::string& host, std::uint16_t port) {
  return config::Address{host, port}.Text();
}

struct Service {
  std::string target;
  std::uint16_t port = 0;

  bool operator<(const Service& other) const {
    return std::tie(target, port) < std::tie(other.target, other.port);
  }
};

// RFC 2782: priority, weight, port, target. A target of "." means that there is no such service.
std::optional<Service> ReadService(ns_msg& message, const ns_rr& record) {
  constexpr int kFixed = 6;
  if (ns_rr_rdlen(record) <= kFixed) return std::nullopt;
  const unsigned char* const data = ns_rr_rdata(record);
  std::array<char, NS_MAXDNAME> target{};
  if (ns_name_uncompress(ns_msg_base(message), ns_msg_end(message), data + kFixed, target.data(),
                         target.size()) < 0) {
    return std::nullopt;
  }
  if (target[0] == '\0' || (target[0] == '.' && target[1] == '\0')) return std::nullopt;
  return Service{target.data(), static_cast<std::uint16_t>(ns_get16(data + 4))};
}

// The first address of every name in the section, A before AAAA.
std::map<std::string, std::string> AddressesIn(ns_msg& message, ns_sect section) {
  std::map<std::string, std::string> addresses;
  for (const int type : {ns_t_a, ns_t_aaaa}) {
    for (int i = 0; i < ns_msg_count(message, section); ++i) {
      ns_rr record;
      if (ns_parserr(&message, section, i, &record) != 0) break;
      if (ns_rr_type(record) != type) continue;
      if (auto text = AddressText(record)) addresses.emplace(ns_rr_name(record), *std::move(text));
    }
  }
  return addresses;
}

TargetList PeersOfServices(ns_msg& message) {
  std::vector<Service> services;
  for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
    ns_rr record;
    if (ns_parserr(&message, ns_s_an, i, &record) != 0) break;
    if (ns_rr_type(record) != ns_t_srv) continue;
    if (auto service = ReadService(message, record)) services.push_back(*std::move(service));
  }
  std::sort(services.begin(), services.end());
  const std::map<std::string, std::string> addresses = AddressesIn(message, ns_s_ar);
  TargetListBuilder list;
  for (const Service& service : services) {
    const auto address = addresses.find(service.target);
    const std::string& host = address == addresses.end() ? service.target : address->second;
    list.Add("SRV record of " + service.target, {WithPort(host, service.port)},
             {{"name", service.target}});
  }
  return std::move(list).Take();
}

}  // namespace

Result<TargetList> ParseDnsAnswer(std::span<const unsigned char> answer, int type,
                                  std::uint16_t port) {
  ns_msg message;
  if (ns_initparse(answer.data(), static_cast<int>(answer.size()), &message) != 0) {
    return Fail({"the DNS answer of ", std::to_string(answer.size()), " bytes does not decode"});
  }
  if (type == ns_t_srv) return PeersOfServices(message);
  // All of the type, whatever their name: a CNAME may stand before them.
  std::vector<std::string> addresses;
  for (int i = 0; i < ns_msg_count(message, ns_s_an); ++i) {
    ns_rr record;
    if (ns_parserr(&message, ns_s_an, i, &record) != 0) break;
    if (ns_rr_type(record) != type) continue;
    if (auto text = AddressText(record)) addresses.push_back(WithPort(*text, port));
  }
  std::sort(addresses.begin(), addresses.end());
  TargetListBuilder list;
  list.Add("the DNS answer", addresses, {});
  return std::move(list).Take();
}

Result<TargetList> LookUp(const config::DnsName& name, const std::optional<DnsServer>& server) {
  Resolver resolver(server);
  const std::vector<int> types =
      name.srv ? std::vector<int>{ns_t_srv} : std::vector<int>{ns_t_a, ns_t_aaaa};
  for (const int type : types) {
    const auto answer = resolver.Ask(name.name, type);
    if (!answer) return tl::unexpected(answer.error());
    if (!*answer) continue;
    Result<TargetList> list = ParseDnsAnswer(**answer, type, name.port);
    if (!list || !list->peers.empty()) return list;
  }
  return Fail({"DNS has no ", name.srv ? "SRV" : "A or AAAA", " record of ", name.name},
              "check the name, and that hosts are there behind it");
}

}  // namespace rdmapulse::discovery
