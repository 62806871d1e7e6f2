// TLS of the control sessions, alike at both ends: each shows its certificate and wants to see one
// that the common CA has signed; the names in it say who its holder is. TLS 1.3 alone: both ends
// are ours. OpenSSL 3; ssl(7ossl), RFC 8446.
#pragma once

#include <openssl/ossl_typ.h>

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::peers {

// PEM. `cert` may hold the chain up to the CA; `ca` one or more certificates.
struct TlsFiles {
  std::string cert, key, ca;
};

// Our certificate and key, and whom we believe. Loop thread only; the files are small and local.
class Credentials {
 public:
  explicit Credentials(TlsFiles files) : files_(std::move(files)) {}

  // Before all else. An error names the file. What peers would refuse is a warning in the log.
  Result<void> Load();
  // Files that have changed since are read anew, at most every ten seconds; while they cannot be
  // used, or peers would refuse the new certificate and not the old, the old ones stay and the log
  // says it once. Sessions that are there go on.
  void Look(TimePoint now);
  // For a session that begins now.
  std::shared_ptr<boost::asio::ssl::context> Current(TimePoint now) {
    Look(now);
    return context_;
  }
  // When the certificate ends.
  std::chrono::system_clock::time_point expires() const { return expires_; }

 private:
  // Of the three files, so that a change is seen: times of change, inode, size.
  using Stamp = std::vector<std::array<std::int64_t, 4>>;
  Stamp StampNow() const;
  // Checked, but not in use.
  Result<std::shared_ptr<boost::asio::ssl::context>> Read() const;
  void Use(std::shared_ptr<boost::asio::ssl::context> context);
  void WarnOfTheEnd();

  TlsFiles files_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::chrono::system_clock::time_point expires_{};
  std::chrono::system_clock::time_point warned_{};  // when the log last spoke of the end
  Stamp stamp_;                                     // of what is in use
  std::optional<TimePoint> looked_;
  std::string complaint_;
};

// Whose certificate the other end has shown: its DNS names, or the common name if it has none; in
// small letters.
std::vector<std::string> CertificateNames(SSL* ssl);

// What ended a handshake, or a session, in words: a sentence without its subject, the peer.
// `dialled`: by us.
std::string TlsTrouble(const boost::system::error_code& error, SSL* ssl, bool dialled);

}  // namespace rdmapulse::peers
