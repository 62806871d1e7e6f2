// For the tests of this package: a DNS server and an HTTP server on loopback, each on a thread of
// its own, that say what the test wants.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/base/unique_fd.h"

namespace rdmapulse::discovery {

// Answers over UDP and TCP on one port of 127.0.0.1. What does not fit into 512 bytes is truncated
// over UDP, as RFC 1035 has it. Unknown names are NXDOMAIN, known ones without the type NODATA.
class TestDns {
 public:
  TestDns();
  ~TestDns();
  TestDns(const TestDns&) = delete;
  TestDns& operator=(const TestDns&) = delete;

  std::uint16_t port() const { return port_; }
  void Add(const std::string& name, const std::string& address);  // an A or AAAA record
  // An SRV record; `address`, when not empty, comes along in the additional section.
  void AddService(const std::string& name, const std::string& target, std::uint16_t port,
                  const std::string& address);
  void Fail() { Set(fails_); }  // SERVFAIL from now on
  int tcp_queries() const;

 private:
  struct Record {
    std::uint16_t type = 0;
    std::string data;   // as on the wire
    std::string extra;  // a whole record of the additional section
  };

  void Set(bool& flag);
  void Run();
  std::string Answer(const std::string& query, bool tcp);

  UniqueFd udp_, tcp_, stop_;
  std::uint16_t port_ = 0;
  mutable std::mutex mutex_;
  std::multimap<std::string, Record> records_;
  bool fails_ = false;
  int tcp_queries_ = 0;
  std::thread thread_;
};

// Answers every connection with the same bytes, then closes it.
class TestHttp {
 public:
  TestHttp();
  ~TestHttp();
  TestHttp(const TestHttp&) = delete;
  TestHttp& operator=(const TestHttp&) = delete;

  std::uint16_t port() const { return port_; }
  std::string Url(const std::string& target) const;
  void Say(std::string response);             // whole, with its header
  void SayList(const std::string& json);      // a good answer
  std::vector<std::string> requests() const;  // headers as they came

 private:
  void Run();

  std::uint16_t port_ = 0;  // set by what opens the listener
  UniqueFd listener_, stop_;
  mutable std::mutex mutex_;
  std::string response_;  // empty: keeps silent
  std::vector<std::string> requests_;
  std::vector<UniqueFd> silent_;
  std::thread thread_;
};

}  // namespace rdmapulse::discovery
