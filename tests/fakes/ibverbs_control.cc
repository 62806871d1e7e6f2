// What a test does to the fake.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "tests/fakes/ibverbs.h"
#include "tests/fakes/ibverbs_model.h"

namespace rdmapulse::fakes {
namespace {

Ibverbs::Model* the_model = nullptr;  // set while no verb can be running

template <typename T>
void List(std::vector<std::string>& live, const Handles<T>& handles, const std::string& kind) {
  for (const auto& [handle, object] : handles) {
    live.push_back(kind + " of " + object->context->device->name);
  }
}

template <typename T>
T* FirstOf(const Handles<T>& handles, const std::string& device) {
  for (const auto& [handle, object] : handles) {
    if (object->context->device->name == device) return object.get();
  }
  std::fprintf(stderr, "tests/fakes/ibverbs: no such object on %s\n", device.c_str());
  std::abort();
}

}  // namespace

Ibverbs::Model& TheModel() {
  if (the_model == nullptr) {
    std::fprintf(stderr, "tests/fakes/ibverbs: a verb was called outside of a fakes::Ibverbs\n");
    std::abort();
  }
  return *the_model;
}

Ibverbs::Ibverbs() : model_(std::make_unique<Model>()) {
  if (the_model != nullptr) {
    std::fprintf(stderr, "tests/fakes/ibverbs: there is one fakes::Ibverbs at a time\n");
    std::abort();
  }
  the_model = model_.get();
}

Ibverbs::~Ibverbs() { the_model = nullptr; }

void Ibverbs::AddDevice(const std::string& name, const std::vector<FakePort>& ports) {
  {
    const std::lock_guard lock(model_->mutex);
    auto& device = model_->devices[name];
    device = std::make_unique<FakeDevice>();
    device->name = name;
    name.copy(device->ibv.name, sizeof device->ibv.name - 1);
  }
  for (const FakePort& port : ports) SetPort(name, port);
}

void Ibverbs::SetPort(const std::string& device, const FakePort& port) {
  const std::lock_guard lock(model_->mutex);
  FakeDevice& found = model_->Find(device);
  const std::vector<probes::GidEntry> before = found.ports[port.number].gids;
  found.ports[port.number] = port;
  for (const probes::GidEntry& entry : port.gids) {
    if (std::find(before.begin(), before.end(), entry) != before.end()) continue;
    found.lives[{port.number, entry.index}] = ++model_->last_life;
  }
}

void Ibverbs::SetAtomics(const std::string& device, ibv_atomic_cap cap, int rd_atomics) {
  const std::lock_guard lock(model_->mutex);
  FakeDevice& found = model_->Find(device);
  found.atomic_cap = cap;
  found.rd_atomics = rd_atomics;
}

void Ibverbs::SetNicClock(const std::string& device, const FakeNicClock& clock) {
  const std::lock_guard lock(model_->mutex);
  model_->Find(device).clock = clock;
}

void Ibverbs::GarbleSend(int n, std::size_t at) {
  const std::lock_guard lock(model_->mutex);
  model_->garble_in = n;
  model_->garble_at = at;
}

void Ibverbs::DropReceives(const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  for (const auto& [handle, qp] : model_->qps) {
    if (qp->context->device->name == device) qp->receives.clear();
  }
}

void Ibverbs::RenewGids(const std::string& device, std::uint32_t port) {
  const std::lock_guard lock(model_->mutex);
  FakeDevice& found = model_->Find(device);
  for (auto& [place, life] : found.lives) {
    if (place.first == port) life = ++model_->last_life;
  }
}

void Ibverbs::Vanish(const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  model_->Vanish(model_->Find(device));
}

void Ibverbs::Return(const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  model_->Find(device).gone = false;
}

void Ibverbs::RaisePort(const std::string& device, std::uint32_t port, ibv_event_type type) {
  const std::lock_guard lock(model_->mutex);
  ibv_async_event event{};
  event.event_type = type;
  event.element.port_num = static_cast<int>(port);
  for (const auto& [handle, context] : model_->contexts) {
    if (context->device->name == device && !context->dead) model_->Raise(*context, event);
  }
}

void Ibverbs::RaiseDevice(const std::string& device, ibv_event_type type) {
  RaisePort(device, 0, type);
}

void Ibverbs::RaiseCq(const std::string& device, ibv_event_type type) {
  const std::lock_guard lock(model_->mutex);
  FakeCq& cq = *FirstOf(model_->cqs, device);
  ibv_async_event event{};
  event.event_type = type;
  event.element.cq = &cq.ibv;
  model_->Raise(*cq.context, event);
}

void Ibverbs::RaiseQp(const std::string& device, ibv_event_type type) {
  const std::lock_guard lock(model_->mutex);
  FakeRcQp& qp = *FirstOf(model_->qps, device);
  ibv_async_event event{};
  event.event_type = type;
  event.element.qp = &qp.ibv;
  model_->Raise(*qp.context, event);
  if (type == IBV_EVENT_QP_FATAL) model_->MoveToError(qp);
}

void Ibverbs::FailVerb(int n, int code) { FailVerb({}, n, code); }

void Ibverbs::FailVerb(const std::string& verb, int n, int code) {
  const std::lock_guard lock(model_->mutex);
  model_->fail_verb = verb;
  model_->fail_verb_seen = 0;
  model_->fail_at = n;
  model_->fail_code = code;
  model_->seen = 0;
  model_->faulty_verb.clear();
}

void Ibverbs::VanishInCall(int n, const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  model_->vanish_in = n;
  model_->vanish_device = device;
  model_->faulty_verb.clear();
}

bool Ibverbs::FaultFired() const { return !FaultyVerb().empty(); }

std::string Ibverbs::FaultyVerb() const {
  const std::lock_guard lock(model_->mutex);
  return model_->faulty_verb;
}

int Ibverbs::VerbsSeen() const {
  const std::lock_guard lock(model_->mutex);
  return model_->seen;
}

int Ibverbs::CallsOf(const std::string& verb) const {
  const std::lock_guard lock(model_->mutex);
  const auto found = model_->calls.find(verb);
  return found == model_->calls.end() ? 0 : found->second;
}

void Ibverbs::Before(const std::string& verb, std::function<void()> what) {
  const std::lock_guard lock(model_->mutex);
  model_->before[verb] = std::move(what);
}

void Ibverbs::Hold(const std::string& verb, const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  model_->held[verb] = device;
}

void Ibverbs::Release(const std::string& verb) {
  const std::lock_guard lock(model_->mutex);
  model_->held.erase(verb);
  model_->changed.notify_all();
}

void Ibverbs::ReleaseAll() {
  const std::lock_guard lock(model_->mutex);
  model_->held.clear();
  model_->changed.notify_all();
}

int Ibverbs::Waiting(const std::string& verb) const {
  const std::lock_guard lock(model_->mutex);
  const auto found = model_->waiting.find(verb);
  return found == model_->waiting.end() ? 0 : found->second;
}

void Ibverbs::WithholdCompletions() {
  const std::lock_guard lock(model_->mutex);
  model_->withhold = true;
}

void Ibverbs::DeliverCompletions() {
  const std::lock_guard lock(model_->mutex);
  model_->withhold = false;
  model_->DeliverAll();
}

void Ibverbs::CompleteNextWith(ibv_wc_status status) {
  const std::lock_guard lock(model_->mutex);
  model_->next_status = status;
}

void Ibverbs::AnswerForAll(std::chrono::microseconds after) {
  const std::lock_guard lock(model_->mutex);
  model_->answer_after = after;
}

void Ibverbs::MoveQpsToError(const std::string& device) {
  const std::lock_guard lock(model_->mutex);
  for (const auto& [handle, qp] : model_->qps) {
    if (qp->context->device->name == device) model_->MoveToError(*qp);
  }
}

bool Ibverbs::HasQp(const std::string& device, std::uint32_t qpn) const {
  const std::lock_guard lock(model_->mutex);
  return model_->FindQp(device, qpn) != nullptr;
}

ibv_qp_state Ibverbs::StateOf(const std::string& device, std::uint32_t qpn) const {
  const std::lock_guard lock(model_->mutex);
  const FakeRcQp* const qp = model_->FindQp(device, qpn);
  return qp == nullptr ? IBV_QPS_UNKNOWN : qp->state;
}

FakePort Ibverbs::PortOf(const std::string& device, std::uint32_t number) const {
  const std::lock_guard lock(model_->mutex);
  return model_->Find(device).ports[number];
}

bool Ibverbs::JoinQps(const std::string& a, std::uint32_t a_qpn, const std::string& b,
                      std::uint32_t b_qpn) {
  const std::lock_guard lock(model_->mutex);
  FakeRcQp* const ends[] = {model_->FindQp(a, a_qpn), model_->FindQp(b, b_qpn)};
  for (const FakeRcQp* const end : ends) {
    if (end == nullptr || end->state != IBV_QPS_INIT) return false;
  }
  // What a QP of this fabric points at its peer by; the numbers are of no other pair.
  const std::uint32_t psn = ++model_->last_psn;
  for (int i = 0; i < 2; ++i) {
    ibv_qp_attr& attr = ends[i]->attr;
    attr.dest_qp_num = ends[1 - i]->ibv.qp_num;
    attr.sq_psn = 2 * psn + static_cast<std::uint32_t>(i);
    attr.rq_psn = 2 * psn + static_cast<std::uint32_t>(1 - i);
    attr.max_rd_atomic = 1;
    ends[i]->state = IBV_QPS_RTS;
    ends[i]->joined = true;
  }
  return true;
}

void Ibverbs::BreakQp(const std::string& device, std::uint32_t qpn) {
  const std::lock_guard lock(model_->mutex);
  FakeRcQp* const qp = model_->FindQp(device, qpn);
  if (qp != nullptr && !qp->context->dead) model_->MoveToError(*qp);
}

std::vector<FakeQp> Ibverbs::Qps() const {
  const std::lock_guard lock(model_->mutex);
  std::vector<FakeQp> qps;
  for (const auto& [handle, qp] : model_->qps) {
    if (qp->ibv.qp_type != IBV_QPT_RC) continue;
    const ibv_qp_attr& attr = qp->attr;
    qps.push_back({.device = qp->context->device->name,
                   .qpn = qp->ibv.qp_num,
                   .state = qp->state,
                   .path_mtu_bytes = attr.path_mtu == 0 ? 0 : 128U << attr.path_mtu,
                   .has_grh = attr.ah_attr.is_global != 0,
                   .lid = attr.ah_attr.dlid,
                   .sl = attr.ah_attr.sl,
                   .traffic_class = attr.ah_attr.grh.traffic_class,
                   .flow_label = attr.ah_attr.grh.flow_label,
                   .gid_index = attr.ah_attr.grh.sgid_index,
                   .timeout = attr.timeout,
                   .retry_cnt = attr.retry_cnt,
                   .access = static_cast<unsigned>(attr.qp_access_flags)});
  }
  std::sort(qps.begin(), qps.end(), [](const FakeQp& a, const FakeQp& b) {
    return std::pair(a.device, a.qpn) < std::pair(b.device, b.qpn);
  });
  return qps;
}

std::vector<std::string> Ibverbs::LiveObjects() const {
  const std::lock_guard lock(model_->mutex);
  std::vector<std::string> live;
  for (const auto& [handle, context] : model_->contexts) {
    live.push_back("ibv_context of " + context->device->name);
  }
  List(live, model_->pds, "ibv_pd");
  List(live, model_->mrs, "ibv_mr");
  List(live, model_->channels, "ibv_comp_channel");
  List(live, model_->cqs, "ibv_cq");
  List(live, model_->qps, "ibv_qp");
  List(live, model_->ahs, "ibv_ah");
  live.insert(live.end(), model_->lists.size(), "a device list");
  return live;
}

std::vector<std::string> Ibverbs::Misuse() const {
  const std::lock_guard lock(model_->mutex);
  return model_->misuse_list;
}

}  // namespace rdmapulse::fakes
