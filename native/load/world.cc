// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/world.h"

#include <algorithm>

#include "native/load/tcp_clients.h"
#include "native/load/udp_clients.h"
#include "native/load/udp_stream_clients.h"
#include "native/nic/metrics.h"

namespace mosbench::load {

namespace {

constexpr uint64_t kTryAgainNs = 1000;
constexpr std::string_view kHello = "hello";

bool from_control(std::span<const uint8_t> frame)
{
    const nic::Headers headers = nic::parse(frame);
    return headers.ip && headers.source == kControlAddress;
}

} // namespace

World::World(const WorldSettings &settings, const card_host &host, void *opaque)
    : host_(host), opaque_(opaque), network_({.machines = settings.clients,
                                              .delay_ns = settings.card.wire_delay_ns,
                                              .gbits_per_second = settings.card.link_gbits_per_second,
                                              .guest = settings.card.mac,
                                              .loss_per_million = settings.loss_per_million},
                                             events_, [this](std::span<const uint8_t> frame) { to_card(frame); }),
      machines_(settings.clients),
      stack_(kFirstMachine, settings.clients, events_,
             [this](std::span<const uint8_t> packet, uint64_t ns) { network_.send_packet(packet, ns); }),
      card_(settings.card, *this)
{
    if (!settings.peer.empty()) {
        peer_ = std::make_unique<PeerWire>(settings.peer, settings.card.link_gbits_per_second, events_,
                                           [this](std::span<const uint8_t> frame) { card_.frame_in(frame); });
    }
    network_.on_packet([this](std::span<const uint8_t> packet) { stack_.input(packet); });
    network_.on_datagram([this](const Datagram &received) { datagram(received); });
}

// What answers an order is not lost where clients fill the card's buffer: the guest would wait for it for ever.
void World::to_card(std::span<const uint8_t> frame)
{
    if (!card_.has_room(frame.size()) && from_control(frame)) {
        events_.at(now_ns() + kTryAgainNs, [this, copy = std::vector<uint8_t>(frame.begin(), frame.end())] { to_card(copy); });
        return;
    }
    card_.frame_in(frame);
}

void World::datagram(const Datagram &datagram)
{
    if (datagram.destination == kControlAddress) {
        order(datagram);
    } else if (!clients_.empty()) {
        clients_.back()->received(datagram, network_.now());
    }
}

std::unique_ptr<Clients> World::make_clients(const Order &order)
{
    const auto finished = [this] {
        result_ = load_result();
        answer(ordered_, result_);
    };
    if (order.kind == Kind::udp || order.kind == Kind::memcached) {
        return std::make_unique<UdpClients>(order, machines_, events_, network_, finished);
    }
    if (order.kind == Kind::udp_stream) {
        return std::make_unique<UdpStreamClients>(order, machines_, events_, network_, finished);
    }
    stack_.seed(order.seed);
    return std::make_unique<TcpClients>(order, machines_, events_, stack_, finished);
}

// The answer to an order comes when the load has ended: its result, or what is wrong with the order. One at a time. A hello has
// none: it is said for the sake of the packet.
void World::order(const Datagram &datagram)
{
    std::string problem;
    const std::string_view text(reinterpret_cast<const char *>(datagram.payload.data()), datagram.payload.size());
    if (text == kHello) {
        return;
    }
    Clients *const before = clients_.empty() ? nullptr : clients_.back().get();
    const auto wanted = parse_order(text, machines_, before ? &before->order() : nullptr, problem);
    if (wanted && before && before->busy()) {
        problem = "the load before this one has not ended";
    } else if (wanted && before && before->at_work() && !is_again(text)) {
        problem = "the load before this one goes on, and ends with 'again requests=0 flow=0'";
    }
    if (!problem.empty()) {
        answer(datagram, "{\"error\":\"" + problem + "\"}");
        return;
    }
    at_order_ = network_.counts();
    ordered_ = datagram;
    ordered_.payload = {};
    if (!is_again(text)) {
        if (before) {
            before->retire();
        }
        clients_.push_back(make_clients(*wanted));
    }
    clients_.back()->start(*wanted, network_.now());
}

std::string World::load_result() const
{
    const Network::Counts &now = network_.counts();
    std::string text = clients_.back()->result();
    text.pop_back();
    return text + ",\"link_to_server_ns\":" + std::to_string(now.to_card_ns - at_order_.to_card_ns) +
           ",\"link_from_server_ns\":" + std::to_string(now.from_card_ns - at_order_.from_card_ns) + "}";
}

void World::answer(const Datagram &order, const std::string &text)
{
    const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t *>(text.data()), text.size());
    network_.send({kControlAddress, order.source, order.destination_port, order.source_port, bytes}, now_ns());
}

void World::call_me_at(uint64_t ns)
{
    card_wakes_ns_ = ns;
    set_alarm();
}

void World::set_alarm()
{
    const uint64_t first = std::min(card_wakes_ns_, events_.next());
    if (!awake_ && first != alarm_ns_) {
        alarm_ns_ = first;
        host_.call_me_at(opaque_, first);
    }
}

void World::wake()
{
    const uint64_t now = now_ns();
    alarm_ns_ = nic::kNever;
    awake_ = true;
    while (events_.run_one(now)) {
    }
    if (card_wakes_ns_ <= now) {
        card_wakes_ns_ = nic::kNever;
        card_.wake();
    }
    awake_ = false;
    set_alarm();
}

std::string World::metrics() const
{
    const std::pair<const char *, uint64_t> figures[] = {
        {"wire_to_card", peer_ ? peer_->received() : network_.counts().to_card},
        {"wire_from_card", peer_ ? peer_->sent() : network_.counts().from_card},
        {"wire_bad", network_.counts().bad},
        {"wire_unknown", network_.counts().unknown},
        {"wire_lost", network_.counts().lost},
    };
    std::string text = "{" + nic::metrics(card_.totals());
    for (const auto &[name, value] : figures) {
        text += ",\n  \"" + std::string(name) + "\": " + std::to_string(value);
    }
    return text + ",\n  \"load\": " + result_ + "\n}\n";
}

} // namespace mosbench::load
