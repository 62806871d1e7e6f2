// TLS of the control sessions, alike at both ends: each shows its certificate and wants to see one
// that the common CA has signed; the names in it say who its holder is. TLS 1.3 alone: both ends
// are ours. OpenSSL 3; ssl(7ossl), RFC 8446.
#pragma once

#include <openssl/ossl_typ.h>

#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/result.h"
#include "daemon/base/time.h"

namespace rdmapulse::peers {

// PEM. `cert` may hold the chain up to the CA; `ca` one or more certificates.
struct TlsFiles {
  std::string cert, key, ca;
};

// Our certificate and key, and whom we believe. Files that change are read anew when the next
// session begins; sessions that are there stay. Loop thread only.
class Credentials {
 public:
  explicit Credentials(TlsFiles files) : files_(std::move(files)) {}

  // Before all else. An error names the file.
  Result<void> Load();
  // For a session that begins now. Looks at the files at most every ten seconds; those that cannot
  // be used are complained of in the log, and the last good ones stay.
  std::shared_ptr<boost::asio::ssl::context> Current(TimePoint now);
  // When the certificate ends.
  std::chrono::system_clock::time_point expires() const { return expires_; }

 private:
  // Of the three files, so that a change is seen: time of change, inode, size.
  using Stamp = std::vector<std::array<std::int64_t, 3>>;
  Stamp StampNow() const;

  TlsFiles files_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::chrono::system_clock::time_point expires_{};
  Stamp stamp_;
  std::optional<TimePoint> looked_;
};

// Whose certificate the other end has shown: its DNS names, or the common name if it has none; in
// small letters.
std::vector<std::string> CertificateNames(SSL* ssl);

// What ended a handshake, or a session, in words: a sentence without its subject, the peer.
std::string TlsTrouble(const boost::system::error_code& error, SSL* ssl);

}  // namespace rdmapulse::peers
