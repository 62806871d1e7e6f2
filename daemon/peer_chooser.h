// Whom this host probes: keeps discovery going, and asks ChoosePeers again whenever a list, the
// configuration or the hour has changed. Loop thread only; the choosing itself is done beside it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "daemon/base/blocking_pool.h"
#include "daemon/base/device_info.h"
#include "daemon/choose_peers.h"
#include "daemon/discovery/discovery.h"
#include "daemon/discovery/status.h"

namespace rdmapulse {

class PeerChooser {
 public:
  // `changed`: choice() is another one. Not called from within Configure.
  PeerChooser(boost::asio::io_context& loop, std::function<void()> changed);
  PeerChooser(const PeerChooser&) = delete;
  PeerChooser& operator=(const PeerChooser&) = delete;

  // Configured peers are in choice() at once when there are no others, discovered ones when all
  // sources have been looked at: what a source that is replaced brought stays until then.
  // `host`: our name. `control_port`: where peers reach us; 0: nowhere.
  void Configure(const config::Config& config, const std::string& host, std::uint16_t control_port);
  // What the budget of a NIC has to hold depends on how many ports it has.
  void SetDevices(const std::vector<DeviceInfo>& devices);
  void Stop();

  const PeerChoice& choice() const { return choice_; }
  std::vector<discovery::SourceStatus> Sources(TimePoint now) const;

 private:
  PeerQuestion Question() const;
  void Ask();
  void AfterChoice(PeerChoice choice);
  void Arm();
  bool Take(PeerChoice choice);

  boost::asio::io_context& loop_;
  std::function<void()> changed_;
  boost::asio::steady_timer timer_;
  config::Config config_;
  discovery::Self self_;  // without addresses, which change
  std::size_t ports_per_nic_ = 1;
  std::size_t ports_ = 1;
  BlockingPool pool_{loop_, 1, Urgency::kBackground};
  std::unique_ptr<discovery::Discovery> discovery_;  // null until a source is configured
  // In use: those of before while a source that was added is looked at for the first time.
  std::vector<std::shared_ptr<const discovery::TargetList>> lists_;
  bool asking_ = false;
  bool ask_again_ = false;
  PeerChoice choice_;
  std::vector<std::string> said_;
};

}  // namespace rdmapulse
