// A certificate authority for tests, and what it signs: PEM, elliptic keys (P-256). OpenSSL 3.
#pragma once

#include <openssl/ossl_typ.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace rdmapulse::fakes {

struct Certificate {
  std::string cert;
  std::string key;
};

// Of another kind than those below have.
std::string RsaKey();

class CertificateAuthority {
 public:
  explicit CertificateAuthority(const std::string& name);

  std::string Pem() const;
  // For these DNS names; none: only a common name, `common_name`. Ends `lasts` from now.
  Certificate Issue(const std::vector<std::string>& dns_names, const std::string& common_name,
                    std::chrono::seconds lasts = std::chrono::hours(24 * 30)) const;

 private:
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
  std::unique_ptr<X509, void (*)(X509*)> certificate_;
};

}  // namespace rdmapulse::fakes
