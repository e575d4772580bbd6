/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Sockets over the loopback device. Workers are processes.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>

static struct sockaddr_in loopback(uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
}

static uint16_t local_port(int fd)
{
    struct sockaddr_in address = {0};
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) ? 0 : ntohs(address.sin_port);
}

/* ---- accept: all workers accept from one listening socket ----
 * In each iteration a worker connects and then accepts a connection, its own or another worker's. It has added one before it
 * takes one, so no accept waits for ever. Closing resets the connection: no TIME_WAIT sockets pile up. But a reset must not
 * overtake the handshake: one that the listening socket gets before the last packet of the handshake, which another core may
 * still handle, takes the connection away, and then some accept would wait for ever; and one that comes back before connect()
 * returned makes that fail. So the server's end waits until the client's end is connected, and the client's until the server's
 * is closed. The server's end knows its client by the port. The reset frees the port, and another worker may have it next, so
 * the port's entry is taken away first, and what the client waits for is its own. Checked: the ports of all connections made
 * and of all connections accepted add up to the same. */

static int listener;
static struct sockaddr_in listener_address;
struct accept_ends {
    struct {
        _Alignas(2 * LINE_BYTES) uint8_t closed; /* the server's end of this worker's connection is */
    } of[MAX_WORKERS];
    uint16_t client[UINT16_MAX + 1]; /* by port: 1 + index of the worker that is connected from it */
};
static struct accept_ends *ends;

static void set_closed(unsigned index, uint8_t closed)
{
    __atomic_store_n(&ends->of[index].closed, closed, __ATOMIC_RELEASE);
}

static unsigned client_at(uint16_t port)
{
    uint16_t client;

    while (!(client = __atomic_load_n(&ends->client[port], __ATOMIC_ACQUIRE)))
        relax();
    return client - 1u;
}

static void set_reset_on_close(int fd)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};

    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static void accept_setup(void)
{
    struct sockaddr_in any = loopback(0);

    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || bind(listener, (struct sockaddr *)&any, sizeof(any)) || listen(listener, 1024))
        die("cannot listen on the loopback device");
    set_reset_on_close(listener); /* sockets accepted from it inherit this */
    listener_address = loopback(local_port(listener));
    ends = mmap(NULL, sizeof(*ends), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (ends == MAP_FAILED)
        die("no memory to tell how far connections are");
}

static void accept_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        struct sockaddr_in peer = {0};
        socklen_t bytes = sizeof(peer);
        int client = socket(AF_INET, SOCK_STREAM, 0), server;
        unsigned other;
        uint16_t port;

        EXPECT(worker, client >= 0, "socket failed", client);
        set_reset_on_close(client);
        if (connect(client, (struct sockaddr *)&listener_address, sizeof(listener_address))) {
            worker_error(worker, "connect failed", client);
            close(client);
            continue;
        }
        port = local_port(client);
        worker->sums[0] += port;
        __atomic_store_n(&ends->client[port], (uint16_t)(worker->index + 1), __ATOMIC_RELEASE);
        server = accept(listener, (struct sockaddr *)&peer, &bytes);
        EXPECT(worker, server >= 0, "accept failed", server);
        port = ntohs(peer.sin_port);
        worker->sums[1] += port;
        other = client_at(port);
        __atomic_store_n(&ends->client[port], 0, __ATOMIC_RELEASE);
        EXPECT(worker, close(server) == 0, "close of the server's end failed", server);
        set_closed(other, 1);
        while (!__atomic_load_n(&ends->of[worker->index].closed, __ATOMIC_ACQUIRE))
            relax();
        set_closed(worker->index, 0);
        EXPECT(worker, close(client) == 0, "close of the client's end failed", client);
    }
    worker->units += iterations;
}

static void accept_finish(void)
{
    check("the sum of the ports accepted", sum_of(1), sum_of(0));
}

/* ---- udp-send: each worker sends batches of datagrams to a socket of its own and receives them ----
 * A connected socket remembers the route that its connect() looked up, and Linux since 3.6 has one route per core. With
 * route=shared the first core connects the sockets of all workers, so all send on one route. */

#define DATAGRAM_BYTES 64
#define MAX_BATCH 256

struct udp {
    int from, to;
    uint64_t next; /* number of the next datagram */
};
static uint64_t batch;
static bool shared_route;
static struct udp shared[MAX_WORKERS]; /* the sockets of each worker, with route=shared */

static struct udp new_udp(void)
{
    struct udp udp = {.from = socket(AF_INET, SOCK_DGRAM, 0), .to = socket(AF_INET, SOCK_DGRAM, 0)};
    struct sockaddr_in any = loopback(0), from, to;
    const struct timeval patience = {.tv_sec = 2}; /* for a datagram that was dropped, which is an error */

    if (udp.from < 0 || udp.to < 0 || bind(udp.from, (struct sockaddr *)&any, sizeof(any)) ||
        bind(udp.to, (struct sockaddr *)&any, sizeof(any)))
        die("no UDP sockets");
    from = loopback(local_port(udp.from));
    to = loopback(local_port(udp.to));
    if (connect(udp.from, (struct sockaddr *)&to, sizeof(to)) || connect(udp.to, (struct sockaddr *)&from, sizeof(from)))
        die("cannot connect UDP sockets");
    setsockopt(udp.to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return udp;
}

static void udp_setup(void)
{
    batch = number_setting("P_BATCH");
    if (batch == 0 || batch > MAX_BATCH)
        die("batch=%lu is not between 1 and %d", batch, MAX_BATCH);
    shared_route = text_setting("P_ROUTE")[0] == 's';
    for (unsigned i = 0; shared_route && i < run.core_count; i++)
        shared[i] = new_udp();
}

static void udp_prepare(struct worker *worker)
{
    struct udp *udp = memory(sizeof(*udp), -1, PAGES_SMALL, NULL);

    *udp = shared_route ? shared[worker->index] : new_udp();
    worker->state = udp;
}

static void udp_work(struct worker *worker, uint64_t iterations)
{
    struct udp *udp = worker->state;
    uint64_t datagram[DATAGRAM_BYTES / sizeof(uint64_t)] = {0};

    for (uint64_t i = 0; i < iterations; i++) {
        for (uint64_t n = 0; n < batch; n++) {
            ssize_t sent;

            datagram[0] = udp->next + n;
            sent = send(udp->from, datagram, sizeof(datagram), 0);
            EXPECT(worker, sent == sizeof(datagram), "send failed", sent);
        }
        for (uint64_t n = 0; n < batch; n++) {
            ssize_t received;

            datagram[0] = 0;
            received = recv(udp->to, datagram, sizeof(datagram), 0);
            EXPECT(worker, received == sizeof(datagram) && datagram[0] == udp->next + n,
                   "recv failed or returned another datagram", received);
            worker->sums[0] += (uint64_t)(received > 0 ? received : 0);
        }
        udp->next += batch;
    }
    worker->units += iterations * batch;
}

static void udp_finish(void)
{
    check("bytes received", sum_of(0), total_iterations() * batch * DATAGRAM_BYTES);
}

/* ---- socket: each worker makes sockets and closes them ---- */

static void socket_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        int fd = socket(AF_INET, SOCK_DGRAM, 0);

        EXPECT(worker, fd >= 0, "socket failed", fd);
        EXPECT(worker, close(fd) == 0, "close of a socket failed", fd);
    }
    worker->units += iterations;
}

/* ---- socket-refused: each worker asks for sockets of a protocol that there is not ----
 * The kernel makes the socket's inode before it asks the family, which refuses, and so ends it again. No file and no dentry is
 * made, so nothing but the inode's own lists is in the way. Checked: the family's own answer, each time. */

#define NO_PROTOCOL 99

static void refused_work(struct worker *worker, uint64_t iterations)
{
    for (uint64_t i = 0; i < iterations; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM, NO_PROTOCOL);

        EXPECT(worker, fd == -1 && errno == EPROTONOSUPPORT, "a socket without a protocol was not refused", fd);
    }
    worker->units += iterations;
}

/* ---- packet-send: all workers send frames out of the loopback device ----
 * Nobody wants frames of this protocol, so each is dropped where it arrives: what is shared is the device's description only.
 * Checked: the device has counted as many frames as were sent. */

#define FRAME_BYTES 60
#define FRAME_PROTOCOL 0x88b5 /* IEEE's first number for local experiments */

struct sender {
    int fd;
    struct sockaddr_ll to;
};
static uint64_t frames_before;

static uint64_t frames_sent(void)
{
    static const char path[] = "/sys/class/net/lo/statistics/tx_packets";
    FILE *file = fopen(path, "r");
    uint64_t count;

    if (!file || fscanf(file, "%lu", &count) != 1)
        die("cannot read %s", path);
    fclose(file);
    return count;
}

static void packet_setup(void)
{
    frames_before = frames_sent();
}

static void packet_prepare(struct worker *worker)
{
    struct sender *sender = memory(sizeof(*sender), -1, PAGES_SMALL, NULL);

    sender->fd = socket(AF_PACKET, SOCK_DGRAM, 0);
    sender->to = (struct sockaddr_ll){
        .sll_family = AF_PACKET, .sll_protocol = htons(FRAME_PROTOCOL), .sll_ifindex = (int)if_nametoindex("lo"), .sll_halen = 6};
    if (sender->fd < 0 || !sender->to.sll_ifindex)
        die("no packet sockets, or no loopback device");
    worker->state = sender;
}

static void packet_work(struct worker *worker, uint64_t iterations)
{
    const struct sender *sender = worker->state;
    const char frame[FRAME_BYTES] = {0};

    for (uint64_t i = 0; i < iterations; i++) {
        ssize_t sent =
            sendto(sender->fd, frame, sizeof(frame), 0, (const struct sockaddr *)&sender->to, (socklen_t)sizeof(sender->to));

        EXPECT(worker, sent == sizeof(frame), "sendto failed", sent);
    }
    worker->units += iterations;
}

static void packet_finish(void)
{
    check("frames that the device sent", frames_sent() - frames_before, total_iterations());
}

const struct benchmark net_benchmarks[] = {
    {
        .name = "accept",
        .unit = "connections",
        .processes = true,
        .setup = accept_setup,
        .work = accept_work,
        .finish = accept_finish,
    },
    {
        .name = "udp-send",
        .unit = "datagrams",
        .processes = true,
        .setup = udp_setup,
        .prepare = udp_prepare,
        .work = udp_work,
        .finish = udp_finish,
    },
    {
        .name = "socket",
        .unit = "sockets",
        .processes = true,
        .work = socket_work,
    },
    {
        .name = "socket-refused",
        .unit = "calls",
        .processes = true,
        .work = refused_work,
    },
    {
        .name = "packet-send",
        .unit = "frames",
        .processes = true,
        .setup = packet_setup,
        .prepare = packet_prepare,
        .work = packet_work,
        .finish = packet_finish,
    },
    {.name = NULL},
};
