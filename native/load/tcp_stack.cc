// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/tcp_stack.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lwip/init.h"
#include "lwip/ip4.h"
#include "lwip/netif.h"
#include "lwip/pbuf.h"
#include "lwip/priv/tcp_priv.h"
#include "lwip/sys.h"
#include "lwip/tcp.h"

namespace mosbench::load {

namespace {

constexpr uint64_t kNsPerMs = 1000000;
constexpr uint32_t kNet = 8; // bits of 10.0.0.0/8
// As a Linux client does: what first comes over a connection is acknowledged at once, so many times (TCP_MAX_QUICKACKS) and
// until an answer to it is sent, which then carries the acknowledgement. lwIP by itself waits for a second packet.
constexpr uint32_t kQuickAcks = 16;
// What comes later is acknowledged with an answer or with a second packet, and by itself after so long at the latest (as Linux's
// TCP_DELACK_MIN). lwIP by itself does so each 250 ms, and a server that may send no more until then would wait as long.
constexpr uint64_t kDelayedAckNs = 40 * kNsPerMs;

ip_addr_t ip(uint32_t address)
{
    return IPADDR4_INIT(lwip_htonl(address));
}

} // namespace

struct TcpStack::Globals {
    Globals(Events &e, Output o) : events(e), output(std::move(o)) {}

    Events &events;
    Output output;
    std::deque<netif> interfaces; // lwIP keeps pointers to them
    std::deque<Accept> listeners;
    uint64_t dice = 1;
    // Of the event that is to call lwIP's timers; events of a stack that is gone do nothing.
    std::shared_ptr<bool> timer = std::make_shared<bool>(false);

    void set_timer()
    {
        if (!*timer) {
            *timer = true;
            events.at(events.now() + TCP_TMR_INTERVAL * kNsPerMs, [this, alive = std::weak_ptr(timer)] {
                if (alive.lock()) {
                    tick();
                }
            });
        }
    }
    void tick()
    {
        *timer = false;
        tcp_tmr();
        if (tcp_active_pcbs || tcp_tw_pcbs) {
            set_timer();
        }
    }
};

namespace {

TcpStack::Globals *globals;

err_t send_packet(netif *, pbuf *packet, const ip4_addr_t *)
{
    std::vector<uint8_t> bytes(packet->tot_len);
    pbuf_copy_partial(packet, bytes.data(), packet->tot_len, 0);
    if (globals->output) {
        globals->output(bytes, globals->events.now());
    }
    return ERR_OK;
}

err_t start_interface(netif *interface)
{
    interface->output = send_packet;
    interface->mtu = 1500;
    return ERR_OK;
}

} // namespace

extern "C" {
uint32_t mosbench_lwip_random(void)
{
    globals->dice = globals->dice * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(globals->dice >> 32);
}
uint32_t sys_now(void)
{
    return static_cast<uint32_t>(globals->events.now() / kNsPerMs);
}
void tcp_timer_needed(void)
{
    globals->set_timer();
}
}

// The callbacks of lwIP have this as their argument. It lives until lwIP's side of the connection is gone.
struct TcpConnection::State : std::enable_shared_from_this<State> {
    tcp_pcb *pcb = nullptr;  // none: gone
    TcpUser *user = nullptr; // none: closed, or its owner is gone
    std::shared_ptr<State> self;
    std::string unsent; // from `sent` on
    size_t sent = 0;
    bool closing = false;
    bool in_callback = false, aborted = false; // lwIP wants to know of an abort in its callback
    uint32_t quick_acks = kQuickAcks;
    uint64_t ack_at = 0; // when what came last is acknowledged at the latest
    bool ack_timer = false;

    void attach(tcp_pcb *new_pcb)
    {
        pcb = new_pcb;
        self = shared_from_this();
        tcp_arg(pcb, this);
        tcp_nagle_disable(pcb);
        tcp_err(pcb, [](void *argument, err_t) { static_cast<State *>(argument)->lost(); });
        tcp_recv(pcb, [](void *argument, tcp_pcb *, pbuf *data, err_t) {
            return static_cast<State *>(argument)->call([data](State &state) { state.take(data); });
        });
        tcp_sent(pcb, [](void *argument, tcp_pcb *, u16_t) {
            return static_cast<State *>(argument)->call([](State &state) { state.push(); });
        });
    }

    template <typename What> err_t call(What what)
    {
        const std::shared_ptr<State> keep = self;
        in_callback = true;
        what(*this);
        in_callback = false;
        return aborted ? ERR_ABRT : ERR_OK;
    }

    void take(pbuf *data)
    {
        if (!data) {
            if (user) {
                user->ended();
            }
            return;
        }
        tcp_recved(pcb, data->tot_len);
        if (quick_acks > 0 && pcb->state == ESTABLISHED) { // CLOSE_WAIT: the guest's FIN came with it
            quick_acks--;
            tcp_send_empty_ack(pcb);
        }
        for (const pbuf *piece = data; piece && user; piece = piece->next) {
            user->received({static_cast<const uint8_t *>(piece->payload), piece->len});
        }
        pbuf_free(data);
        if (pcb && pcb->flags & TF_ACK_DELAY) {
            ack_at = globals->events.now() + kDelayedAckNs;
            set_ack_timer();
        }
    }

    void set_ack_timer()
    {
        if (ack_timer) {
            return;
        }
        ack_timer = true;
        globals->events.at(ack_at, [waiting = weak_from_this()] {
            if (const auto state = waiting.lock()) {
                state->ack_timer = false;
                state->acknowledge();
            }
        });
    }

    void acknowledge()
    {
        if (!pcb || !(pcb->flags & TF_ACK_DELAY)) {
            return; // it went with something else
        }
        if (globals->events.now() < ack_at) {
            set_ack_timer(); // that was for what came before
            return;
        }
        tcp_ack_now(pcb);
        tcp_output(pcb);
        tcp_clear_flags(pcb, TF_ACK_DELAY | TF_ACK_NOW);
    }

    void push()
    {
        while (pcb && sent < unsent.size()) {
            const size_t room = std::min<size_t>({unsent.size() - sent, tcp_sndbuf(pcb), UINT16_MAX});
            if (room == 0 || tcp_write(pcb, unsent.data() + sent, static_cast<u16_t>(room), TCP_WRITE_FLAG_COPY) != ERR_OK) {
                break; // what is under way makes room
            }
            sent += room;
        }
        if (sent == unsent.size()) {
            unsent.clear();
            sent = 0;
        }
        if (pcb && unsent.empty() && closing) {
            forget_callbacks();
            tcp_close(std::exchange(pcb, nullptr));
            self.reset();
        } else if (pcb) {
            tcp_output(pcb);
        }
    }

    void forget_callbacks()
    {
        tcp_arg(pcb, nullptr);
        tcp_err(pcb, nullptr);
        tcp_recv(pcb, nullptr);
        tcp_sent(pcb, nullptr);
    }

    void abort()
    {
        user = nullptr;
        if (pcb) {
            aborted = in_callback;
            forget_callbacks();
            tcp_abort(std::exchange(pcb, nullptr));
            self.reset();
        }
    }

    // lwIP has freed its side.
    void lost()
    {
        const std::shared_ptr<State> keep = std::move(self);
        pcb = nullptr;
        if (TcpUser *const told = std::exchange(user, nullptr)) {
            told->failed();
        }
    }
};

TcpConnection::TcpConnection(tcp_pcb *pcb) : state_(std::make_shared<State>())
{
    state_->attach(pcb);
}

TcpConnection::~TcpConnection()
{
    if (!state_->closing) {
        state_->abort();
    }
}

void TcpConnection::set_user(TcpUser &user)
{
    state_->user = &user;
}

void TcpConnection::send(std::string_view bytes)
{
    if (state_->quick_acks < kQuickAcks) {
        state_->quick_acks = 0; // an answer to what came: from now on acknowledgements go with answers
    }
    state_->unsent += bytes;
    state_->push();
}

void TcpConnection::close()
{
    const std::shared_ptr<State> keep = state_;
    keep->user = nullptr;
    keep->closing = true;
    keep->push();
}

TcpStack::TcpStack(uint32_t first_address, uint32_t machines, Events &events, Output output)
    : globals_(std::make_unique<Globals>(events, std::move(output)))
{
    if (globals) {
        throw std::logic_error("there is a TCP stack already");
    }
    globals = globals_.get();
    static const bool initialised = (lwip_init(), true);
    static_cast<void>(initialised);
    for (uint32_t machine = 0; machine < machines; machine++) {
        add_address(first_address + machine);
    }
}

TcpStack::~TcpStack()
{
    globals->output = nullptr;
    for (tcp_pcb **const list : {&tcp_active_pcbs, &tcp_tw_pcbs, &tcp_bound_pcbs}) {
        while (*list) {
            tcp_abort(*list);
        }
    }
    while (tcp_listen_pcbs.pcbs) {
        tcp_close(tcp_listen_pcbs.pcbs);
    }
    for (netif &interface : globals->interfaces) {
        netif_remove(&interface);
    }
    globals = nullptr;
}

void TcpStack::add_address(uint32_t address)
{
    const ip4_addr_t own = {lwip_htonl(address)}, mask = {lwip_htonl(~0u << (32 - kNet))}, gateway = {0};
    netif &interface = globals_->interfaces.emplace_back();
    if (!netif_add(&interface, &own, &mask, &gateway, nullptr, start_interface, ip4_input)) {
        throw std::logic_error("lwIP takes no more addresses");
    }
    netif_set_up(&interface);
    netif_set_link_up(&interface);
}

void TcpStack::seed(uint64_t seed)
{
    globals_->dice = seed;
}

void TcpStack::input(std::span<const uint8_t> packet)
{
    pbuf *const copy = pbuf_alloc(PBUF_RAW, static_cast<u16_t>(packet.size()), PBUF_RAM);
    pbuf_take(copy, packet.data(), static_cast<u16_t>(packet.size()));
    ip4_input(copy, &globals_->interfaces.front());
}

std::unique_ptr<TcpConnection> TcpStack::connect(TcpUser &user, Address source, Address destination)
{
    tcp_pcb *const pcb = tcp_new();
    const ip_addr_t from = ip(source.address), to = ip(destination.address);
    ip_set_option(pcb, SOF_REUSEADDR); // of connections that are no more
    if (tcp_bind(pcb, &from, source.port) != ERR_OK) {
        tcp_abort(pcb);
        return nullptr;
    }
    auto connection = std::make_unique<TcpConnection>(pcb);
    connection->set_user(user);
    const err_t problem = tcp_connect(pcb, &to, destination.port, [](void *argument, tcp_pcb *, err_t) {
        // After lwIP has sent its acknowledgement: as a Linux client's, it is a packet by itself.
        const std::weak_ptr connected = static_cast<TcpConnection::State *>(argument)->self;
        globals->events.at(globals->events.now(), [connected] {
            if (const auto state = connected.lock(); state && state->user) {
                state->user->connected();
            }
        });
        return static_cast<err_t>(ERR_OK);
    });
    return problem == ERR_OK ? std::move(connection) : nullptr;
}

void TcpStack::listen(Address at, Accept accept)
{
    const ip_addr_t here = ip(at.address);
    tcp_pcb *pcb = tcp_new();
    if (tcp_bind(pcb, &here, at.port) != ERR_OK || !(pcb = tcp_listen_with_backlog(pcb, 255))) {
        throw std::logic_error("an address to listen at is in use");
    }
    tcp_arg(pcb, &globals_->listeners.emplace_back(std::move(accept)));
    tcp_accept(pcb, [](void *argument, tcp_pcb *made, err_t) -> err_t {
        if (!made) {
            return ERR_OK;
        }
        (*static_cast<Accept *>(argument))(std::make_unique<TcpConnection>(made));
        return ERR_OK;
    });
}

} // namespace mosbench::load
