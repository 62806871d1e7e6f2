// Which ops the two ends of a path can exchange, by what each has said of itself. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "probes/probe.h"
#include "probes/transport.h"

namespace rdmapulse::probes {

// The path MTU of a QP pair: the smaller of both ends' active MTUs, in bytes.
std::uint32_t PathMtuBytes(const QpEndpoint& here, const QpEndpoint& there);

// Of an atomic operation: bytes, and what the peer's address must be divisible by.
inline constexpr std::uint32_t kAtomicBytes = 8;

// So many messages may come to a QP before its daemon must have looked (QpEndpoint::echo_receives).
inline constexpr std::uint32_t kEchoReceives = 6;
// Echoes that may wait for the peer's daemon: one more than it has receives for would end in "RNR
// retry exceeded" and take the QP's other probes along. A third of them: besides those that wait,
// as many may hold answers whose arrival a daemon that is stopped has not seen, and as many are for
// the answers to its own.
std::uint32_t UnansweredEchoesMax(const QpEndpoint& here, const QpEndpoint& there);

// Bytes of payload that `op` moves from here to there. Never a READ of 0: a retransmitted one
// breaks rxe's QP (soft-roce.md B).
std::uint32_t PayloadBytes(Op op, const QpEndpoint& here, const QpEndpoint& there);

// Why `op` is not sent from here to there, in one sentence; empty: it is.
std::string WhyNot(Op op, const QpEndpoint& here, const QpEndpoint& there);
// What of it is known before the ends have met.
std::string WhyNot(Op op, Protocol protocol);

}  // namespace rdmapulse::probes
