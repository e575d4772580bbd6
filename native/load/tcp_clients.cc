// SPDX-License-Identifier: BSD-3-Clause
#include "native/load/tcp_clients.h"

namespace mosbench::load {

namespace {

constexpr uint32_t kLastClientPort = 59999;

} // namespace

TcpClients::TcpClients(const Order &order, uint32_t machines, Events &events, TcpStack &stack, std::function<void()> finished)
    : Clients(order, machines, events, std::move(finished)), stack_(stack),
      dialogues_(order_,
                 [this](uint32_t place, uint32_t number) {
                     if (Line &line = lines_[place]; line.asked && line.number == number) {
                         replied(line, true);
                     }
                 }),
      next_port_(machines, kFirstClientPort)
{
    for (uint32_t place = 0; place < order.connections; place++) {
        lines_.emplace_back(*this, place);
    }
}

void TcpClients::retire()
{
    for (Line &line : lines_) {
        line.connection.reset();
        line.ready = line.asked = line.opening = false;
    }
}

void TcpClients::prepare(uint32_t place, uint64_t now)
{
    Line &line = lines_[place];
    if (closes(order_) || line.ready) {
        begin(place, now);
        return;
    }
    line.opening = true;
    go_on(line, now);
}

void TcpClients::ask(uint32_t place, uint64_t since, uint64_t now)
{
    Line &line = lines_[place];
    line.asked = true;
    line.number++;
    line.since_ns = since;
    counts_.sent++;
    go_on(line, now);
}

std::string TcpClients::more() const
{
    if (order_.updates == 0) {
        return {};
    }
    uint64_t updated = 0;
    for (const Line &line : lines_) {
        updated += line.dialogue->updated();
    }
    return ",\"updated\":" + std::to_string(updated);
}

void TcpClients::go_on(Line &line, uint64_t now)
{
    const uint64_t end = now + order_.timeout_ns;
    events_.at(end, [this, &line, step = ++line.step, end] {
        if (line.step == step && (line.asked || line.opening)) {
            lost(line, end);
        }
    });
    if (line.ready) {
        send(line);
    } else {
        open(line, now);
    }
}

void TcpClients::open(Line &line, uint64_t now)
{
    const uint32_t which = line.place % machines_;
    uint32_t &port = next_port_[which];
    const TcpStack::Address from = {kFirstMachine + which, static_cast<uint16_t>(port)};
    port = port == kLastClientPort ? kFirstClientPort : port + 1;
    line.connection = stack_.connect(line, from, {kGuestAddress, this->port(line.place)});
    if (!line.connection) {
        lost(line, now);
    }
}

void TcpClients::connected(Line &line)
{
    const std::string hello = line.dialogue->hello();
    if (hello.empty()) {
        ready(line);
    } else {
        line.connection->send(hello);
    }
}

void TcpClients::ready(Line &line)
{
    line.ready = true;
    if (line.asked) {
        send(line);
    } else if (line.opening) {
        line.opening = false;
        begin(line.place, events_.now());
    }
}

void TcpClients::send(Line &line)
{
    line.connection->send(line.dialogue->request(line.number));
}

void TcpClients::judged(Line &line, Verdict verdict)
{
    switch (verdict) {
    case Verdict::more:
        break;
    case Verdict::ready:
        ready(line);
        break;
    case Verdict::right:
    case Verdict::wrong:
        replied(line, verdict == Verdict::right);
        break;
    case Verdict::broken:
        lost(line, events_.now());
        break;
    }
}

void TcpClients::replied(Line &line, bool right)
{
    const uint64_t now = events_.now();
    if (!line.asked) { // a reply to nothing
        counts_.wrong++;
        lost(line, now);
        return;
    }
    line.asked = false;
    (right ? counts_.right : counts_.wrong)++;
    counts_.late += now - line.since_ns > order_.late_ns;
    latencies_.add(now - line.since_ns);
    if (closes(order_)) {
        line.ready = false;
        line.connection->close();
        line.connection.reset();
    }
    next(line.place, now);
}

void TcpClients::lost(Line &line, uint64_t now)
{
    counts_.resets++;
    line.ready = false;
    line.connection.reset();
    if (line.asked) {
        line.asked = false;
        counts_.dropped++;
        next(line.place, now);
    } else if (line.opening) {
        line.opening = false;
        next(line.place, now);
    }
}

} // namespace mosbench::load
