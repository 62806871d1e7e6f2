// Which of thousands of hosts this one probes. Pure, and the same everywhere: every daemon works
// the whole graph out from the same list of hosts and the time, so that both ends of a pair choose
// it and no controller is asked.
//
//  - The mesh: all hosts of the same `tor`.
//  - The sample: `sampled` others. The hosts stand on several rings, on each in an order of their
//    own, by a hash of their name, the ring and its epoch; neighbours on a ring are a pair. This is
//    rendezvous by hashing made symmetric: a host's choice of the heaviest partners would have to
//    be worked out for all n hosts to know who chose us (n² hashes), and some hosts would be chosen
//    by far more than others. On rings it is n hashes a ring, nobody has more than two partners on
//    one, and each ring, passing by all hosts, joins all of them.
//  - With `aligned`, a ring is of the hosts of one `rail`, since rails do not meet in the fabric.
//    Hosts without that label have rings of their own.
//
// Neighbours of one ToR, which the mesh has already, are no pair; the number of rings makes up for
// their share. A host that goes takes its own pairs with it, and where it stood on each ring its
// two neighbours become a pair; when it comes they stop being one: at most one pair a ring is not
// its own. Further changes come only where it tips the number of rings (a quarter of one at a
// time), the change from "everybody" to a sample in fabrics of `sampled` + 1 hosts, or a mesh over
// the limit.
//
// The names and the hash are a contract between daemons of different versions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rdmapulse::probes {

// The labels of one host as the list has them; empty: none. Equal texts are one place.
struct SelectionHost {
  std::string_view name;
  std::string_view tor;
  std::string_view rail;
};

struct SelectionRules {
  bool tor_mesh = true;
  std::uint32_t sampled = 8;
  bool aligned = true;
  std::chrono::seconds redraw{3600};  // one ring in four at a time, so that trends survive
  // What the NIC's budget holds (PeersPerNic). The sample comes first, the mesh has the rest: past
  // it, a ToR's hosts form rings too, which never change.
  std::uint32_t peers_max = UINT32_MAX;
};

struct Selection {
  // Into the list of others, ascending; together each once.
  std::vector<std::size_t> mesh;
  std::vector<std::size_t> sample;
  bool mesh_cut = false;    // the ToR has more hosts than the budget holds
  bool sample_cut = false;  // `sampled` is more than it holds

  bool operator==(const Selection&) const = default;
};

// Of `others`, whose names differ from each other and from `self`. `unix_time` is the wall clock's.
Selection Select(const SelectionHost& self, std::span<const SelectionHost> others,
                 const SelectionRules& rules, std::chrono::seconds unix_time);

// Until the next ring is redrawn; more than zero.
std::chrono::seconds UntilRedraw(const SelectionRules& rules, std::chrono::seconds unix_time);

// How many peers a NIC can afford. `qps` and `probes_per_second` are what one peer costs it.
std::uint32_t PeersPerNic(std::uint32_t qps_max, std::uint32_t probes_per_second_max,
                          std::uint32_t qps, double probes_per_second);

}  // namespace rdmapulse::probes
