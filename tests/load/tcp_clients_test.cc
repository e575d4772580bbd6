// SPDX-License-Identifier: BSD-3-Clause
//
// Clients over TCP, and what they count of servers that are right, wrong, silent, or that break connections.
#include <gtest/gtest.h>

#include "native/load/postgresql.h"
#include "tests/load/tcp_server.h"

#include <map>

namespace mosbench::load {
namespace {

using test::ServerEnd;
using test::TcpClientsTest;

constexpr size_t kBytes = 64;

void echo(ServerEnd &end)
{
    if (end.unread.size() >= kBytes) {
        end.connection->send(end.unread.substr(0, kBytes));
        end.unread.erase(0, kBytes);
        end.requests++;
    }
}

TEST_F(TcpClientsTest, ConnectionsCarryRequestsOfSeveralOrders)
{
    listen(echo, 3);
    Order order = {.kind = Kind::tcp, .connections = 12, .ports = 3, .requests = 0};
    EXPECT_EQ(run(order).sent, 0u);
    net.run(net.now + 1000000); // the last packets of the handshakes
    EXPECT_EQ(ends.size(), 12u);
    order.requests = 50;
    EXPECT_EQ(again(order).right, 150u);
    order.requests = 5;
    const Clients::Counts counts = again(order);
    EXPECT_EQ(counts.right, 15u);
    EXPECT_EQ(counts.resets + counts.late, 0u);
    EXPECT_EQ(ends.size(), 12u);
    uint32_t served = 0;
    for (const ServerEnd &end : ends) {
        served += end.requests;
    }
    EXPECT_EQ(served, 165u);
    EXPECT_NE(clients->result().find("\"right\":15,"), std::string::npos);
    clients->retire();
    net.run();
}

TEST_F(TcpClientsTest, AConnectionForEachRequest)
{
    listen([](ServerEnd &end) {
        echo(end);
        end.close();
    });
    const Clients::Counts counts = run({.kind = Kind::tcp, .connections = 10, .requests = 300, .close = 1});
    EXPECT_EQ(counts.right, 300u);
    EXPECT_EQ(counts.resets, 0u);
    EXPECT_EQ(ends.size(), 300u);
}

TEST_F(TcpClientsTest, AServerThatIsWrongSilentOrBreaksConnectionsEndsInCounts)
{
    uint32_t n = 0;
    listen([&](ServerEnd &end) {
        switch (n++ % 5) {
        case 0:
            end.unread[20] ^= 1;
            echo(end);
            break;
        case 1: // nothing, and the time-out resets the connection
            end.unread.clear();
            break;
        case 2:
            end.connection.reset();
            break;
        case 3:
            end.close();
            break;
        default:
            echo(end);
        }
    });
    const Clients::Counts counts = run({.kind = Kind::tcp, .connections = 3, .requests = 50, .timeout_ns = 20000000});
    EXPECT_EQ(counts.sent, 50u);
    EXPECT_EQ(counts.right, 10u);
    EXPECT_EQ(counts.wrong, 10u);
    EXPECT_EQ(counts.dropped, 30u);
    EXPECT_EQ(counts.resets, 30u);
}

TEST_F(TcpClientsTest, NobodyListens)
{
    const Clients::Counts counts = run({.kind = Kind::tcp, .connections = 3, .requests = 10});
    EXPECT_EQ(counts.dropped, 10u);
    EXPECT_EQ(counts.right, 0u);
}

TEST_F(TcpClientsTest, RequestsThatArriveByARateWaitForAConnectionThatIsFree)
{
    const uint64_t service_ns = 10000;
    listen([&](ServerEnd &end) { net.events.at(net.now + service_ns, [&end] { echo(end); }); });
    Order order = {.kind = Kind::tcp, .connections = 4, .requests = 2000, .rate = 100000};
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.right, 2000u);
    EXPECT_NEAR(static_cast<double>(net.now), 2000 * 10000.0, 2000 * 1000.0); // 2000 at 100,000 a second
    const auto p99 = [this] {
        const std::string result = clients->result();
        return std::stoull(result.substr(result.find("\"p99_ns\":") + 9));
    };
    const uint64_t unhurried = p99();
    order.rate = 2000000; // more than four connections can carry: the queue grows, and the latency has it in it
    EXPECT_EQ(again(order).right, 2000u);
    EXPECT_GT(p99(), 5 * unhurried);
}

TEST(ArrivalsTest, AreAsManyAsTheRateAndTheSameForASeed)
{
    Arrivals arrivals(1000000, 7), same(1000000, 7);
    uint64_t sum = 0, longer = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        const uint64_t ns = arrivals.next_ns();
        EXPECT_EQ(ns, same.next_ns());
        sum += ns;
        longer += ns > 2000;
    }
    EXPECT_NEAR(static_cast<double>(sum), 1e8, 1e6);
    EXPECT_NEAR(static_cast<double>(longer), 13534, 500); // 100,000 / e^2
    EXPECT_NEAR(Arrivals::minus_logarithm(uint64_t{1} << 63), 0.693147, 1e-6);
    EXPECT_NEAR(Arrivals::minus_logarithm(1), 44.361420, 1e-6);
}

TEST_F(TcpClientsTest, ThinkingTakesItsTime)
{
    listen(echo);
    run({.kind = Kind::tcp, .requests = 5, .think_ns = 100000000});
    EXPECT_GT(net.now, 500000000u);
    EXPECT_NE(clients->result().find("\"late\":0,"), std::string::npos);
}

TEST_F(TcpClientsTest, AReplyThatTakesLongIsRightAndLate)
{
    listen([&](ServerEnd &end) { net.events.at(net.now + 200000000, [&end] { echo(end); }); });
    const Clients::Counts counts = run({.kind = Kind::tcp, .requests = 3, .timeout_ns = 1000000000});
    EXPECT_EQ(counts.right, 3u);
    EXPECT_EQ(counts.late, 3u);
}

TEST_F(TcpClientsTest, AReplyThatNobodyAskedForIsWrong)
{
    listen([&](ServerEnd &end) {
        end.connection->send(end.unread + "and more");
        end.unread.clear();
    });
    const Clients::Counts counts = run({.kind = Kind::tcp, .requests = 3});
    EXPECT_EQ(counts.wrong, 3u);
}

TEST_F(TcpClientsTest, AFileOverHttp)
{
    const std::string file(300, 'x');
    std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n", body = file;
    listen([&](ServerEnd &end) {
        if (end.unread.find("\r\n\r\n") != std::string::npos) {
            end.connection->send(head + body);
            end.close();
        }
    });
    const Order order = {.kind = Kind::http, .connections = 4, .requests = 20, .body_bytes = 300, .body_hash = fnv1a(file)};
    EXPECT_EQ(run(order).right, 20u);
    body[7] = 'y';
    EXPECT_EQ(again(order).wrong, 20u);
    body = file + "x";
    EXPECT_EQ(again(order).wrong, 20u);
    body = file;
    head = "HTTP/1.1 404 Not Found\r\n\r\n";
    EXPECT_EQ(again(order).wrong, 20u);
}

TEST_F(TcpClientsTest, AFlowGoesOnFromOrderToOrder)
{
    const std::string file(300, 'x');
    listen(
        [&](ServerEnd &end) {
            if (end.unread.find("\r\n\r\n") != std::string::npos) {
                end.connection->send("HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n" + file);
                end.close();
            }
        },
        3);
    one_count_for_each = false; // some requests began before the order
    Order order = {.kind = Kind::http,
                   .connections = 30,
                   .ports = 3,
                   .requests = 50,
                   .flow = 1,
                   .body_bytes = 300,
                   .body_hash = fnv1a(file)};
    clients = std::make_unique<TcpClients>(order, 25, net.events, net.stack, [this] { finished++; });
    clients->start(order, net.now);
    net.run_until([&] { return !ends.empty(); });
    net.run(net.now + 1000);
    EXPECT_EQ(ends.size(), 3u) << "one for each port, and the others when replies come";
    net.run_until([&] { return finished == 1; });
    EXPECT_EQ(clients->counts().right, 150u);
    EXPECT_NE(clients->result().find("{\"sent\":150,\"right\":150,"), std::string::npos) << clients->result();
    EXPECT_TRUE(!clients->busy() && clients->at_work());
    const size_t before = ends.size();
    net.run_until([&] { return ends.size() == before + 10; });

    order.requests = 20;
    EXPECT_EQ(again(order).right, 60u);
    order.requests = 0;
    order.flow = 0;
    const Clients::Counts last = again(order);
    EXPECT_LE(last.right, 30u) << "what was under way";
    EXPECT_EQ(last.wrong + last.dropped + last.resets, 0u);
    EXPECT_FALSE(clients->at_work());
    const size_t all = ends.size();
    net.run(net.now + 1000000);
    EXPECT_EQ(ends.size(), all);

    order.requests = 4; // and one that is no flow
    EXPECT_EQ(again(order).right, 12u);
    EXPECT_EQ(clients->counts().sent, 12u);
}

std::string message(char type, const std::string &content)
{
    std::string length(4, '\0');
    nic::store32(reinterpret_cast<uint8_t *>(length.data()), static_cast<uint32_t>(4 + content.size()));
    return type + length + content;
}

std::string row(const std::string &value)
{
    return message('D', std::string("\0\1\0\0\0\x18", 6) + value);
}

std::string value_of(uint32_t key, uint32_t version)
{
    char text[VALUE_BYTES + 1];
    write_value(text, key, version);
    return text;
}

uint32_t length_at(const std::string &text, size_t at)
{
    return nic::load32(reinterpret_cast<const uint8_t *>(text.data()) + at);
}

struct PostgreSqlTest : TcpClientsTest {
    std::string authentication = std::string(4, '\0');
    std::map<uint32_t, std::string> values; // of rows that were updated
    uint32_t messages = 0, updates = 0;
    // What is answered to a SELECT and to an UPDATE.
    std::function<std::string(uint32_t key)> select = [this](uint32_t key) { return row(value(key)) + message('C', "SELECT 1"); };
    std::string updated{"UPDATE 1", 9};
    const Order order = {.kind = Kind::postgresql, .connections = 4, .requests = 6, .batch = 32, .rows = 1000};
    const Order updating = {.kind = Kind::postgresql, .connections = 4, .requests = 6, .batch = 64, .rows = 200, .updates = 1};

    std::string value(uint32_t key) { return values.contains(key) ? values[key] : value_of(key, 0); }
    std::string statement(const std::string &text)
    {
        const auto key = static_cast<uint32_t>(std::stoul(text.substr(text.find("key=") + 4)));
        if (text.starts_with("SELECT value FROM pairs WHERE key=")) {
            return message('T', "") + select(key);
        }
        updates++;
        values[key] = text.substr(text.find('\'') + 1, VALUE_BYTES);
        return message('C', updated);
    }
    std::string answer_to(const std::string &text)
    {
        std::string reply;
        messages++;
        for (size_t at = 0, end; (end = text.find(';', at)) != std::string::npos; at = end + 1) {
            reply += statement(text.substr(at, end - at));
        }
        return reply + message('Z', "I");
    }
    void serve()
    {
        listen([this](ServerEnd &end) {
            for (;;) {
                const uint32_t head = end.requests == 0 ? 0 : 1; // the first message has no type
                if (end.unread.size() < head + 4 || end.unread.size() < head + length_at(end.unread, head)) {
                    return;
                }
                const std::string text = end.unread.substr(head + 4, length_at(end.unread, head) - 4);
                end.unread.erase(0, head + 4 + text.size());
                end.connection->send(end.requests++ != 0 ? answer_to(text)
                                                         : message('R', authentication) + message('S', "a") + message('Z', "I"));
            }
        });
    }
};

TEST_F(PostgreSqlTest, EachConnectionSendsItsBatches)
{
    serve();
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.right, 24u);
    EXPECT_EQ(counts.wrong + counts.resets, 0u);
    ASSERT_EQ(ends.size(), 4u);
    for (const ServerEnd &end : ends) {
        EXPECT_EQ(end.requests, 1u + 6u);
    }
    EXPECT_EQ(messages, 24u);
}

TEST_F(PostgreSqlTest, AWrongRowNoRowTwoRowsAndAnErrorAreWrong)
{
    serve();
    const auto right = select;
    const std::function<std::string(uint32_t)> wrong[] = {
        [](uint32_t key) { return row(value_of(key + 1, 0)) + message('C', "SELECT 1"); },
        [](uint32_t key) { return row(value_of(key, 1)) + message('C', "SELECT 1"); },
        [](uint32_t) { return message('C', "SELECT 0"); },
        [&](uint32_t key) { return row(value_of(key, 0)) + right(key); },
        [](uint32_t) { return message('E', "M"); },
    };
    ASSERT_EQ(run(order).right, 24u);
    for (const auto &one : wrong) {
        select = one;
        EXPECT_EQ(again(order).wrong, 24u);
    }
}

TEST_F(PostgreSqlTest, UpdatesAreMessagesOfTheirOwnAndEndAsTheGuestWorksOut)
{
    serve();
    ASSERT_EQ(run(updating).right, 24u);
    ASSERT_GT(updates, 24u * 64 / 40);
    EXPECT_GT(messages, 2 * updates - 24); // few follow each other
    uint32_t newer = 0;
    for (uint32_t c = 0; c < 4; c++) {
        queries all = {c + 1, c, 4, 200, nullptr};
        std::vector<uint32_t> versions(row_count(&all));
        std::vector<query> asked(64);
        std::string text(64 * QUERY_ROOM, ' ');
        unsigned count = 0;
        all.versions = versions.data();
        for (uint32_t batch = 0; batch < 6; batch++) {
            write_batch(&all, 64, asked.data(), text.data(), &count);
        }
        for (uint32_t key = c; key < 200; key += 4) {
            newer += newest_version(&all, key);
            EXPECT_EQ(value(key), value_of(key, newest_version(&all, key))) << key;
        }
    }
    EXPECT_EQ(newer, updates);
    updated = std::string("UPDATE 0", 9);
    EXPECT_GT(again(updating).wrong, 12u);
}

TEST_F(PostgreSqlTest, OfALoadThatGoesOnTheResultHasWhatTheServerUpdated)
{
    serve();
    Order going = updating;
    going.requests = 0;
    run(going); // opens the connections
    one_count_for_each = false;
    going.requests = 3;
    going.flow = 1;
    EXPECT_EQ(again(going).right, 12u) << "three of each connection";
    EXPECT_TRUE(clients->at_work());
    going.requests = 5;
    going.batch = 16;
    EXPECT_EQ(again(going).right, 20u);
    going.requests = going.flow = 0;
    EXPECT_LE(again(going).right, 4u) << "what was under way";
    EXPECT_FALSE(clients->at_work());
    ASSERT_EQ(ends.size(), 4u);
    ASSERT_GT(updates, 0u);
    EXPECT_NE(clients->result().find(",\"updated\":" + std::to_string(updates) + "}"), std::string::npos) << clients->result();
}

TEST_F(PostgreSqlTest, ARowNewerThanItsOwnUpdatesIsWrong)
{
    serve();
    select = [](uint32_t key) { return row(value_of(key, 1000)) + message('C', "SELECT 1"); };
    EXPECT_EQ(run(updating).wrong, 24u);
}

TEST_F(PostgreSqlTest, APasswordOrAMessageThatIsNoneBreaksTheConnection)
{
    serve();
    select = [](uint32_t) { return message('X', ""); };
    const Clients::Counts counts = run(order);
    EXPECT_EQ(counts.dropped, 24u);
    EXPECT_EQ(counts.resets, 24u);
    authentication[3] = 3;
    EXPECT_EQ(run(order).dropped, 24u);
}

} // namespace
} // namespace mosbench::load
