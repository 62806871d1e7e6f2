#include "collectors/signal_catalogue.h"

#include <array>

namespace rdmapulse::collectors {
namespace {

// counters/: attributes of the InfiniBand specification, so one meaning for all drivers. Data is
// counted in words of four octets. Widths are those of PortCounters; only data and packets have 64
// bits (32 on ocrdma and where the device has no extended counters).
constexpr SignalRow Pma(std::string_view name, std::string_view signal, unsigned width_bits,
                        std::string_view except = "") {
  return {"", except, Source::kCounters, name, signal, 1, width_bits, Limit::kSaturate};
}
constexpr SignalRow Traffic(std::string_view name, std::string_view signal, std::uint64_t scale) {
  return {"", "", Source::kCounters, name, signal, scale, 64, Limit::kNone};
}
constexpr SignalRow Rxe(std::string_view name, std::string_view signal) {
  return {"rxe", "", Source::kHwCounters, name, signal, 1, 64, Limit::kNone};
}
// bnxt copies the low bits of a wide value, so that its narrow fields wrap.
constexpr SignalRow BnxtPma(std::string_view name, std::string_view signal) {
  return {"bnxt", "", Source::kCounters, name, signal, 1, 16, Limit::kWrap};
}

// ocrdma answers every query with the traffic layout: its error files are 0 for ever. hfi1 and rxe
// fill only part. bnxt puts discards and transmit errors into the constraint fields.
constexpr std::array kRows = {
    Traffic("port_xmit_data", "rdma_tx_bytes", 4),
    Traffic("port_rcv_data", "rdma_rx_bytes", 4),
    Traffic("port_xmit_packets", "rdma_tx_packets", 1),
    Traffic("port_rcv_packets", "rdma_rx_packets", 1),
    Pma("link_downed", "link_down_events", 8, "ocrdma bnxt"),
    Pma("symbol_error", "symbol_errors", 16, "ocrdma bnxt hfi1 rxe"),
    Pma("link_error_recovery", "link_error_recovery", 8, "ocrdma bnxt rxe"),
    Pma("local_link_integrity_errors", "link_integrity_errors", 4, "ocrdma bnxt rxe"),
    Pma("excessive_buffer_overrun_errors", "excessive_buffer_overrun", 4, "ocrdma bnxt rxe"),
    Pma("port_rcv_errors", "port_rcv_errors", 16, "ocrdma bnxt rxe"),
    Pma("port_rcv_remote_physical_errors", "port_rcv_remote_physical_errors", 16,
        "ocrdma bnxt rxe"),
    Pma("port_rcv_switch_relay_errors", "port_rcv_switch_relay_errors", 16,
        "ocrdma bnxt rxe hfi1 qib"),
    Pma("port_xmit_discards", "port_xmit_discards", 16, "ocrdma bnxt rxe"),
    Pma("port_xmit_constraint_errors", "port_constraint_errors", 8, "ocrdma bnxt rxe qib"),
    Pma("port_rcv_constraint_errors", "port_constraint_errors", 8, "ocrdma bnxt rxe qib"),
    Pma("VL15_dropped", "vl15_dropped", 16, "ocrdma bnxt rxe hfi1"),
    Pma("port_xmit_wait", "port_xmit_wait", 32, "ocrdma bnxt rxe hfi1 qib"),
    BnxtPma("port_rcv_errors", "port_rcv_errors"),
    BnxtPma("port_xmit_discards", "port_xmit_discards"),

    // rxe: ack_deferred, rdma_sends and rdma_recvs have no signal; completer_retry_err counts
    // retries of every cause and is no ACK timeout by itself (AckTimeoutRetransmissions).
    Rxe("sent_pkts", "rdma_tx_packets"),
    Rxe("rcvd_pkts", "rdma_rx_packets"),
    Rxe("sent_bytes", "rdma_tx_bytes"),  // later kernels
    Rxe("rcvd_bytes", "rdma_rx_bytes"),
    Rxe("duplicate_request", "duplicate_request"),
    Rxe("out_of_seq_request", "out_of_sequence"),
    Rxe("rcvd_seq_err", "packet_sequence_error"),
    Rxe("rcvd_rnr_err", "rnr_nak_received"),
    Rxe("send_rnr_err", "rnr_nak_sent"),
    Rxe("retry_exceeded_err", "transport_retries_exceeded"),
    Rxe("retry_rnr_exceeded_err", "rnr_retries_exceeded"),
    Rxe("send_err", "roce_tx_errors"),
    Rxe("link_downed", "link_down_events"),
};

}  // namespace

std::span<const SignalRow> SignalCatalogue() { return kRows; }

}  // namespace rdmapulse::collectors
