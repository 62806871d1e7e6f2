#include "tests/fakes/certificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>

namespace rdmapulse::fakes {
namespace {

using Key = std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)>;
using X509Ptr = std::unique_ptr<X509, void (*)(X509*)>;

void Must(bool done) {
  if (!done) throw std::runtime_error("OpenSSL made no certificate");
}

Key NewKey() {
  Key key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  Must(key != nullptr);
  return key;
}

std::string InMemory(const std::function<int(BIO*)>& write) {
  const std::unique_ptr<BIO, int (*)(BIO*)> memory(BIO_new(BIO_s_mem()), BIO_free);
  Must(memory != nullptr && write(memory.get()) == 1);
  char* text = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

void AddExtension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const std::unique_ptr<X509_EXTENSION, void (*)(X509_EXTENSION*)> extension(
      X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()), X509_EXTENSION_free);
  Must(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1);
}

// Without extensions and signature.
X509Ptr NewCertificate(const std::string& common_name, EVP_PKEY* key, X509_NAME* issuer,
                       std::chrono::seconds lasts) {
  X509Ptr certificate(X509_new(), X509_free);
  Must(certificate != nullptr);
  X509_set_version(certificate.get(), X509_VERSION_3);
  std::uint32_t serial = 0;
  Must(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1);
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate.get()), serial);
  const long ends = static_cast<long>(lasts.count());
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), std::min(0L, ends) - 3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), ends);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* const name = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.data()),
                             static_cast<int>(common_name.size()), -1, 0);
  X509_set_issuer_name(certificate.get(), issuer == nullptr ? name : issuer);
  return certificate;
}

std::string PemOf(X509* certificate) {
  return InMemory([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

std::string KeyPem(EVP_PKEY* key) {
  return InMemory([key](BIO* bio) {
    return PEM_write_bio_PrivateKey(bio, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

}  // namespace

std::string RsaKey() {
  const Key key(EVP_RSA_gen(2048), EVP_PKEY_free);
  Must(key != nullptr);
  return KeyPem(key.get());
}

CertificateAuthority::CertificateAuthority(const std::string& name)
    : key_(NewKey()),
      certificate_(NewCertificate(name, key_.get(), nullptr, std::chrono::hours(24 * 365))) {
  AddExtension(certificate_.get(), certificate_.get(), NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate_.get(), certificate_.get(), NID_key_usage, "critical,keyCertSign");
  Must(X509_sign(certificate_.get(), key_.get(), EVP_sha256()) > 0);
}

std::string CertificateAuthority::Pem() const { return PemOf(certificate_.get()); }

Certificate CertificateAuthority::Issue(const std::vector<std::string>& dns_names,
                                        const std::string& common_name,
                                        std::chrono::seconds lasts) const {
  const Key key = NewKey();
  const X509Ptr certificate =
      NewCertificate(common_name, key.get(), X509_get_subject_name(certificate_.get()), lasts);
  std::string names;
  for (const std::string& name : dns_names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  if (!names.empty()) {
    AddExtension(certificate.get(), certificate_.get(), NID_subject_alt_name, names);
  }
  Must(X509_sign(certificate.get(), key_.get(), EVP_sha256()) > 0);
  return {PemOf(certificate.get()), KeyPem(key.get())};
}

}  // namespace rdmapulse::fakes
