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
#include <ctime>
#include <string_view>
#include <utility>

namespace rdmapulse::peers {
namespace ssl = boost::asio::ssl;
using boost::system::error_code;

namespace {

constexpr auto kLookInterval = std::chrono::seconds(10);
constexpr auto kWarnBefore = std::chrono::hours(24 * 7);
constexpr const char* kAdvice =
    "control.tls needs PEM files that this user can read: cert, its key without a passphrase, and "
    "the CA that signed the peers' certificates";

tl::unexpected<Error> Unusable(std::string_view what, const std::string& file,
                               const error_code& error) {
  return Fail({"reading ", what, " ", file, ": ", error.message()}, kAdvice);
}

std::chrono::system_clock::time_point NotAfter(ssl::context& context) {
  X509* const certificate = SSL_CTX_get0_certificate(context.native_handle());
  std::tm time{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &time) != 1) {
    return {};
  }
  return std::chrono::system_clock::from_time_t(timegm(&time));
}

// A name with a byte that no name has could be read in two ways.
void Add(const ASN1_STRING* text, std::vector<std::string>& names) {
  std::string name(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                   static_cast<std::size_t>(ASN1_STRING_length(text)));
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) {
    return std::isgraph(static_cast<unsigned char>(c)) != 0;
  });
  if (name.empty() || !printable) return;
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  names.push_back(std::move(name));
}

void AddDnsNames(X509* certificate, std::vector<std::string>& names) {
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> general(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; general != nullptr && i < sk_GENERAL_NAME_num(general.get()); ++i) {
    const GENERAL_NAME* const one = sk_GENERAL_NAME_value(general.get(), i);
    if (one->type == GEN_DNS) Add(one->d.dNSName, names);
  }
}

void AddCommonName(X509* certificate, std::vector<std::string>& names) {
  const X509_NAME* const subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return;
  Add(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)), names);
}

}  // namespace

Result<void> Credentials::Load() {
  const Stamp stamp = StampNow();
  auto context = std::make_shared<ssl::context>(ssl::context::tlsv13);
  error_code error;
  // Without an answer OpenSSL would ask on the terminal.
  context->set_password_callback(
      [](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert, error);
  // A session that is taken up again would skip a CA that has changed meanwhile.
  SSL_CTX_set_session_cache_mode(context->native_handle(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context->native_handle(), 0);
  context->use_certificate_chain_file(files_.cert, error);
  if (error) return Unusable("control.tls.cert", files_.cert, error);
  context->use_private_key_file(files_.key, ssl::context::pem, error);
  if (error) return Unusable("control.tls.key", files_.key, error);
  context->load_verify_file(files_.ca, error);
  if (error) return Unusable("control.tls.ca", files_.ca, error);
  context_ = std::move(context);
  expires_ = NotAfter(*context_);
  stamp_ = stamp;
  if (expires_ < std::chrono::system_clock::now() + kWarnBefore) {
    spdlog::warn("{}: the certificate {}", files_.cert,
                 expires_ < std::chrono::system_clock::now()
                     ? "has ended: peers will refuse it"
                     : "ends within a week, and peers will refuse it then");
  }
  return {};
}

std::shared_ptr<ssl::context> Credentials::Current(TimePoint now) {
  if (looked_ && now - *looked_ < kLookInterval) return context_;
  looked_ = now;
  const Stamp stamp = StampNow();
  if (stamp == stamp_) return context_;
  const auto loaded = Load();
  // Once for each change, not for each look.
  stamp_ = stamp;
  if (loaded) {
    spdlog::info("TLS: {}, its key and the CA were read anew", files_.cert);
  } else {
    spdlog::warn("TLS: going on with the certificates from before: {}", loaded.error().Text());
  }
  return context_;
}

Credentials::Stamp Credentials::StampNow() const {
  Stamp stamp;
  for (const std::string* file : {&files_.cert, &files_.key, &files_.ca}) {
    struct stat status {};
    if (stat(file->c_str(), &status) != 0) status = {};
    stamp.push_back({status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
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
  AddDnsNames(certificate.get(), names);
  if (names.empty()) AddCommonName(certificate.get(), names);
  return names;
}

std::string TlsTrouble(const error_code& error, SSL* ssl) {
  if (const long verdict = SSL_get_verify_result(ssl); verdict != X509_V_OK) {
    return std::string("its certificate is not accepted: ") +
           X509_verify_cert_error_string(verdict) +
           "; see that control.tls.ca has the CA that signed it";
  }
  if (error.category() != boost::asio::error::get_ssl_category()) {
    return "it closed the connection during the TLS handshake; see that it has control.tls, too";
  }
  const int reason = ERR_GET_REASON(static_cast<unsigned long>(error.value()));
  if (reason > SSL_AD_REASON_OFFSET) {
    return "it does not accept our certificate (" + error.message() +
           "); see that its control.tls.ca has the CA that signed ours";
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
