#include "daemon/discovery/discovery.h"

#include <algorithm>
#include <utility>

#include "daemon/discovery/file_source.h"

namespace rdmapulse::discovery {

struct Discovery::Source {
  Source(Id an_id, Kind a_kind, const std::string& an_entry, boost::asio::io_context& loop)
      : id(an_id),
        kind(a_kind),
        entry(an_entry),
        state("discovery." + std::string(Name(a_kind)) + " " + an_entry),
        timer(loop) {}

  const Id id;
  const Kind kind;
  const std::string entry;
  SourceState state;
  boost::asio::steady_timer timer;
  bool looking = false;
  bool given_up = false;              // the first look takes too long; it goes on
  std::unique_ptr<FileSource> files;  // null while it is out reading
  TimePoint reread;  // when files are read whether or not they seem to have changed
  std::shared_ptr<HttpFetch> fetch;
};

Discovery::Discovery(boost::asio::io_context& loop, const Options& options,
                     std::function<void()> changed,
                     std::function<void(const SourceState::News&)> journal)
    : loop_(loop),
      options_(options),
      changed_(std::move(changed)),
      journal_(std::move(journal)),
      file_pool_(loop, 1, Urgency::kBackground),
      dns_pool_(loop, 1, Urgency::kBackground),
      parse_pool_(loop, 1, Urgency::kBackground) {}

Discovery::~Discovery() = default;

void Discovery::Stop() {
  stopped_ = true;
  for (const auto& source : sources_) {
    source->timer.cancel();
    if (source->fetch != nullptr) source->fetch->Stop();
  }
  sources_.clear();
}

void Discovery::Configure(const config::Discovery& config) {
  if (stopped_) return;
  const bool faster = config.refresh < refresh_;
  refresh_ = config.refresh;
  std::vector<std::unique_ptr<Source>> before = std::exchange(sources_, {});
  for (const std::string& entry : config.file) Add(Kind::kFile, entry, before);
  for (const std::string& entry : config.http) Add(Kind::kHttp, entry, before);
  for (const std::string& entry : config.dns) Add(Kind::kDns, entry, before);
  for (const auto& gone : before) {
    if (gone != nullptr && gone->fetch != nullptr) gone->fetch->Stop();
  }
  if (!faster) return;
  for (const auto& source : sources_) {
    if (!source->looking) Arm(*source);
  }
}

void Discovery::Add(Kind kind, const std::string& entry,
                    std::vector<std::unique_ptr<Source>>& kept) {
  const auto same = std::find_if(kept.begin(), kept.end(), [kind, &entry](const auto& source) {
    return source != nullptr && source->kind == kind && source->entry == entry;
  });
  if (same != kept.end()) {
    sources_.push_back(std::move(*same));
    return;
  }
  auto& source = sources_.emplace_back(std::make_unique<Source>(++last_id_, kind, entry, loop_));
  if (kind == Kind::kFile) source->files = std::make_unique<FileSource>(entry);
  source->timer.expires_after(options_.first_look);
  source->timer.async_wait([this, id = source->id](const boost::system::error_code& error) {
    if (!error) AfterWaitingForFirst(id);
  });
  Look(source->id);
}

void Discovery::AfterWaitingForFirst(Id id) {
  Source* const source = Find(id);
  if (stopped_ || source == nullptr || source->state.success()) return;
  source->given_up = true;
  journal_({.trouble = true,
            .text = source->state.subject() + ": no answer within " +
                    std::to_string(static_cast<int>(Seconds(options_.first_look))) +
                    " s; peers of the other sources are probed meanwhile"});
  changed_();
}

Discovery::Source* Discovery::Find(Id id) {
  const auto found = std::find_if(sources_.begin(), sources_.end(),
                                  [id](const auto& source) { return source->id == id; });
  return found == sources_.end() ? nullptr : found->get();
}

void Discovery::Look(Id id) {
  Source* const source = Find(id);
  if (source == nullptr || source->looking) return;
  source->looking = true;
  switch (source->kind) {
    case Kind::kFile: return LookAtFiles(*source);
    case Kind::kHttp: return LookAtHttp(*source);
    case Kind::kDns: return LookAtDns(*source);
  }
}

void Discovery::LookAtFiles(Source& source) {
  const TimePoint now = Clock::now();
  const bool reread = now >= source.reread;
  if (reread) source.reread = now + refresh_;
  file_pool_.Run(
      [files = std::move(source.files), reread]() mutable {
        Fetched fetched = files->Look(reread);
        return std::pair(std::move(files), std::move(fetched));
      },
      [this, id = source.id](auto result) {
        if (Source* const still = Find(id)) still->files = std::move(result.first);
        AfterLook(id, std::move(result.second));
      });
}

void Discovery::LookAtHttp(Source& source) {
  const Result<config::HttpUrl> url = config::ParseHttpUrl(source.entry);
  if (!url) return AfterLook(source.id, {.list = {}, .failure = url.error().Text()});
  source.fetch =
      HttpFetch::Start(loop_, *url, {.refresh = refresh_, .timeout = options_.http_timeout},
                       [this, id = source.id, entry = source.entry](Result<std::string> body) {
                         AfterBody(id, entry, std::move(body));
                       });
}

void Discovery::AfterBody(Id id, const std::string& url, Result<std::string> body) {
  Source* const source = Find(id);
  if (source == nullptr) return;
  source->fetch.reset();
  if (!body) {
    return AfterLook(id, {.list = {}, .failure = "fetching " + url + ": " + body.error().Text()});
  }
  parse_pool_.Run(
      [text = *std::move(body)] { return ParseTargets(text, config::ListFormat::kJson); },
      [this, id, url](Result<TargetList> list) {
        Fetched fetched;
        if (list) {
          fetched.list = *std::move(list);
        } else {
          fetched.failure = "the answer of " + url + " is not used: " + list.error().Text();
        }
        AfterLook(id, std::move(fetched));
      });
}

void Discovery::LookAtDns(Source& source) {
  const Result<config::DnsName> name = config::ParseDnsName(source.entry);
  if (!name) return AfterLook(source.id, {.list = {}, .failure = name.error().Text()});
  dns_pool_.Run([name = *name, server = options_.dns_server] { return LookUp(name, server); },
                [this, id = source.id](Result<TargetList> list) {
                  Fetched fetched;
                  if (list) {
                    fetched.list = *std::move(list);
                  } else {
                    fetched.failure = list.error().Text();
                  }
                  AfterLook(id, std::move(fetched));
                });
}

void Discovery::AfterLook(Id id, Fetched fetched) {
  Source* const source = Find(id);
  if (stopped_ || source == nullptr) return;
  source->looking = false;
  const bool first = !source->state.success();
  const bool changed = source->state.Take(std::move(fetched), Clock::now());
  for (const SourceState::News& news : source->state.TakeNews()) journal_(news);
  Arm(*source);
  if (changed || first) changed_();
}

// On the grid, so that the process wakes once for it and for what else is due then.
void Discovery::Arm(Source& source) {
  const Duration wait =
      source.kind == Kind::kFile ? std::min<Duration>(options_.file_interval, refresh_) : refresh_;
  source.timer.expires_at(OnGrid(Clock::now() + wait));
  source.timer.async_wait([this, id = source.id](const boost::system::error_code& error) {
    if (!error) Look(id);
  });
}

std::vector<std::shared_ptr<const TargetList>> Discovery::Lists() const {
  std::vector<std::shared_ptr<const TargetList>> lists;
  for (const auto& source : sources_) lists.push_back(source->state.list());
  return lists;
}

std::vector<SourceStatus> Discovery::Status(TimePoint now) const {
  std::vector<SourceStatus> status;
  for (const auto& source : sources_) {
    const SourceState& state = source->state;
    status.push_back({.kind = source->kind,
                      .source = source->entry,
                      .success = state.success(),
                      .age = state.Age(now),
                      .peers = state.list()->peers.size(),
                      .bad_entries = state.list()->problem_count});
  }
  return status;
}

bool Discovery::Settled() const {
  return std::all_of(sources_.begin(), sources_.end(), [](const auto& source) {
    return source->given_up || source->state.success();
  });
}

}  // namespace rdmapulse::discovery
