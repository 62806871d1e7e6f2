#include "daemon/peers/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <string_view>
#include <system_error>
#include <utility>

#include "daemon/peers/guests.h"

namespace rdmapulse::peers {
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

using std::chrono::system_clock;

constexpr auto kLookInterval = std::chrono::seconds(10);
constexpr auto kWarnBefore = std::chrono::hours(24 * 7);
constexpr off_t kFileBytesMax = 1 << 20;
// Of these a handshake costs a millisecond; of the largest that OpenSSL has by default, a tenth of
// a second, for which a stranger pays nothing.
constexpr const char* kGroups = "X25519:P-256:P-384";
constexpr const char* kAdvice =
    "control.tls needs PEM files that this user can read: cert, its key without a passphrase, and "
    "the CA that signed the peers' certificates";
constexpr const char* kCaAdvice = "see that control.tls.ca there has the CA that signed it";

tl::unexpected<Error> Unusable(std::string_view what, const std::string& file,
                               const std::string& why) {
  return Fail({"reading ", what, " ", file, ": ", why}, kAdvice);
}

// A FIFO would hold up the loop.
std::string WhyNotReadable(const std::string& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return std::generic_category().message(errno);
  if (!S_ISREG(status.st_mode)) return "it is no file";
  return status.st_size > kFileBytesMax ? "it has more than 1 MiB" : "";
}

system_clock::time_point NotAfter(ssl::context& context) {
  X509* const certificate = SSL_CTX_get0_certificate(context.native_handle());
  std::tm time{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) {
    return {};
  }
  return system_clock::from_time_t(timegm(&time));
}

// Why peers with the same CA would refuse our certificate; empty: they would not.
std::string WhyRefused(ssl::context& context) {
  SSL_CTX* const native = context.native_handle();
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get0_chain_certs(native, &chain);
  for (const int purpose : {X509_PURPOSE_SSL_CLIENT, X509_PURPOSE_SSL_SERVER}) {
    const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> verify(
        X509_STORE_CTX_new(), X509_STORE_CTX_free);
    if (verify == nullptr || X509_STORE_CTX_init(verify.get(), SSL_CTX_get_cert_store(native),
                                                 SSL_CTX_get0_certificate(native), chain) != 1) {
      return "it cannot be checked";
    }
    X509_STORE_CTX_set_purpose(verify.get(), purpose);
    if (X509_verify_cert(verify.get()) == 1) continue;
    return X509_verify_cert_error_string(X509_STORE_CTX_get_error(verify.get()));
  }
  return {};
}

// A name with a byte that no name has could be read in two ways. A dot at its end means nothing.
void Add(const ASN1_STRING* text, std::vector<std::string>& names) {
  std::string name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                   static_cast<std::size_t>(ASN1_STRING_length(text)));
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isgraph(static_cast<unsigned char>(c)) != 0;
  });
  if (name.empty() || !printable) return;
  names.push_back(CertificateName(std::move(name)));
}

// False: it has none.
bool AddDnsNames(X509* certificate, std::vector<std::string>& names) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> general(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  bool any = false;
  for (int i = 0; general != nullptr && i < sk_GENERAL_NAME_num(general.get()); ++i) {
    const GENERAL_NAME* const one = sk_GENERAL_NAME_value(general.get(), i);
    if (one->type != GEN_DNS) continue;
    any = true;
    Add(one->d.dNSName, names);
  }
  return any;
}

void AddCommonName(X509* certificate, std::vector<std::string>& names) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return;
  Add(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), names);
}

}  // namespace

Result<std::shared_ptr<ssl::context>> Credentials::Read() const {
  for (const auto& [what, file] :
       {std::pair<std::string_view, const std::string&>{"cert", files_.cert},
        {"key", files_.key},
        {"ca", files_.ca}}) {
    const std::string why = WhyNotReadable(file);
    if (!why.empty()) return Unusable("control.tls." + std::string(what), file, why);
  }
  auto context = std::make_shared<ssl::context>(ssl::context::tlsv13);
  SSL_CTX* const native = context->native_handle();
  error_code error;
  // Without an answer OpenSSL would ask on the terminal.
  context->set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  // A session that is taken up again would skip a CA that has changed meanwhile.
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  if (SSL_CTX_set1_groups_list(native, kGroups) != 1) return Fail({"TLS: no group of ", kGroups});
  context->use_certificate_chain_file(files_.cert, error);
  if (error) return Unusable("control.tls.cert", files_.cert, error.message());
  context->use_private_key_file(files_.key, ssl::context::pem, error);
  if (error) return Unusable("control.tls.key", files_.key, error.message());
  // A key of another kind has a place of its own, and is not compared.
  if (SSL_CTX_get0_certificate(native) == nullptr || SSL_CTX_check_private_key(native) != 1) {
    ERR_clear_error();
    return Unusable("control.tls.key", files_.key, "it is not the key of " + files_.cert);
  }
  context->load_verify_file(files_.ca, error);
  if (error) return Unusable("control.tls.ca", files_.ca, error.message());
  // What the file has is believed, be it a root or not.
  X509_STORE_set_flags(SSL_CTX_get_cert_store(native), X509_V_FLAG_PARTIAL_CHAIN);
  return context;
}

void Credentials::Use(std::shared_ptr<ssl::context> context) {
  context_ = std::move(context);
  expires_ = NotAfter(*context_);
  warned_ = {};
  complaint_.clear();
}

Result<void> Credentials::Load() {
  const Stamp stamp = StampNow();
  auto context = Read();
  if (!context) return tl::unexpected(context.error());
  Use(std::move(*context));
  stamp_ = stamp;
  if (const std::string why = WhyRefused(*context_); !why.empty()) {
    spdlog::warn("TLS: peers with this control.tls.ca will refuse {}: {}", files_.cert, why);
  }
  WarnOfTheEnd();
  return {};
}

void Credentials::Look(TimePoint now) {
  if (context_ == nullptr || (looked_ && now - *looked_ < kLookInterval)) return;
  looked_ = now;
  WarnOfTheEnd();
  const Stamp stamp = StampNow();
  if (stamp == stamp_) return;
  auto context = Read();
  std::string complaint = context ? "" : context.error().Text();
  if (context) {
    const std::string why = WhyRefused(**context);
    if (!why.empty() && WhyRefused(*context_).empty()) {
      complaint = "peers with this control.tls.ca would refuse " + files_.cert + ": " + why;
    }
  }
  if (complaint.empty()) {
    Use(std::move(*context));
    stamp_ = stamp;
    spdlog::info("TLS: {}, its key and the CA were read anew", files_.cert);
    WarnOfTheEnd();
  } else if (complaint != complaint_) {
    spdlog::warn("TLS: going on with the certificates from before: {}", complaint);
    complaint_ = complaint;
  }
}

// Once when a week is left, and once when it is over.
void Credentials::WarnOfTheEnd() {
  const system_clock::time_point now = system_clock::now();
  if (expires_ > now + kWarnBefore || expires_ == system_clock::time_point{}) return;
  const bool over = expires_ <= now;
  if (warned_ == system_clock::time_point{} || (over && warned_ < expires_)) {
    spdlog::warn("TLS: the certificate {} {}", files_.cert,
                 over ? "has ended: peers refuse it" : "ends within a week; peers will refuse it");
    warned_ = now;
  }
}

Credentials::Stamp Credentials::StampNow() const {
  Stamp stamp;
  for (const std::string* file : {&files_.cert, &files_.key, &files_.ca}) {
    struct stat status {};
    if (stat(file->c_str(), &status) != 0) status = {};
    stamp.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
                     status.st_ctim.tv_sec * 1'000'000'000 + status.st_ctim.tv_nsec,
                     static_cast<std::int64_t>(status.st_ino),
                     static_cast<std::int64_t>(status.st_size)});
  }
  return stamp;
}

std::vector<std::string> CertificateNames(SSL* ssl) {
  std::vector<std::string> names;
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl),
                                                                X509_free);
  if (certificate == nullptr) return names;
  if (!AddDnsNames(certificate.get(), names)) AddCommonName(certificate.get(), names);
  return names;
}

std::string TlsTrouble(const error_code& error, SSL* ssl, bool dialled) {
  if (const long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK) {
    const std::string why = X509_verify_cert_error_string(verdict);
    const bool of_the_ca = verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
                           verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
                           verdict == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
                           verdict == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
                           verdict == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN;
    return "its certificate is not accepted: " + why +
           (of_the_ca ? "; see that control.tls.ca here has the CA that signed it" : "");
  }
  if (error.category() != boost::asio::error::get_ssl_category()) {
    return std::string("it closed the connection during the TLS handshake") +
           (dialled ? "; see that it has control.tls, too, and this host among its peers" : "");
  }
  const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_UNKNOWN_CA:
      return "it does not accept our certificate (" + error.message() + "); " + kCaAdvice;
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
      return "it does not accept our certificate (" + error.message() + ")";
    default: break;
  }
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_UNEXPECTED_MESSAGE:
      return "it does not speak TLS; set control.tls at both ends or at none";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return "it shows no certificate";
    default: return "the TLS handshake failed: " + error.message();
  }
}

}  // namespace rdmapulse::peers
