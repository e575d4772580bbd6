/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Worker 0 changes routes, addresses and the memory limits of protocols; the others send datagrams and make, use and close
 * connections. What must hold: on 127.0.0.1 a connection delivers every byte in order whatever the limits are; when all is closed
 * the protocols' accounts are empty and no route is in use more often than there can be users.
 */
#define _GNU_SOURCE
#include "stress.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#define CHUNK 16384
#define ALIAS "10.9.8.7"
#define ROUTED "10.9.9.9"
#define REFERENCES_MAX 64 /* of one route when nothing is in flight */

static struct sockaddr_in address_of(const char *text, uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

static uint16_t port_of(int fd)
{
    struct sockaddr_in address = {0};
    socklen_t bytes = sizeof(address);

    return getsockname(fd, (struct sockaddr *)&address, &bytes) ? 0 : ntohs(address.sin_port);
}

/* ---- worker 0 ---- */

static void set_alias(int up)
{
    struct ifreq request = {.ifr_name = "lo:1"};
    struct sockaddr_in address = address_of(ALIAS, 0);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    MUST(fd >= 0, "no socket for addresses");
    if (up) {
        memcpy(&request.ifr_addr, &address, sizeof(address));
        MUST(ioctl(fd, SIOCSIFADDR, &request) == 0, "cannot give lo another address");
    } else {
        MUST(ioctl(fd, SIOCSIFFLAGS, &request) == 0, "cannot take the other address from lo");
    }
    close(fd);
}

static void set_route(int there)
{
    char device[] = "lo";
    struct rtentry route = {.rt_flags = RTF_UP | RTF_HOST, .rt_dev = device};
    struct sockaddr_in address = address_of(ROUTED, 0);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    MUST(fd >= 0, "no socket for routes");
    memcpy(&route.rt_dst, &address, sizeof(address));
    MUST(ioctl(fd, there ? SIOCADDRT : SIOCDELRT, &route) == 0, "cannot %s a route", there ? "add" : "delete");
    close(fd);
}

static void set_limits(int low)
{
    MUST(tell_kernel("/proc/sys/net/ipv4/tcp_mem", low ? "8 16 4096" : "8192 16384 32768"), "cannot set tcp_mem");
    MUST(tell_kernel("/proc/sys/net/ipv4/udp_mem", low ? "4 8 4096" : "8192 16384 32768"), "cannot set udp_mem");
}

static void change(struct worker *worker, uint64_t i)
{
    set_alias(i % 2 == 0);
    set_route(i % 2 == 0);
    if (i % 8 == 0)
        set_limits(i % 16 == 0);
    if (i % 4 == 0)
        tell_kernel("/proc/sys/net/ipv4/route/flush", "0");
    did(worker, 3);
}

/* ---- the others ---- */

/* Datagrams may be lost: only what arrives must be what was sent. */
static void datagrams(struct worker *worker)
{
    static const char *const targets[] = {"127.0.0.1", "127.0.0.1", ALIAS, ROUTED};
    struct sockaddr_in any = address_of("0.0.0.0", 0), to;
    int in = socket(AF_INET, SOCK_DGRAM, 0), out = socket(AF_INET, SOCK_DGRAM, 0);
    char data[256];

    MUST(in >= 0 && out >= 0 && bind(in, (struct sockaddr *)&any, sizeof(any)) == 0, "no UDP sockets");
    to = address_of(targets[draw(worker, 4)], port_of(in));
    if (draw(worker, 2) && connect(out, (struct sockaddr *)&to, sizeof(to)) == 0)
        did(worker, 1);
    for (unsigned i = 0; i < 16; i++) {
        memset(data, (int)(worker->index + i), sizeof(data));
        (void)!sendto(out, data, sizeof(data), MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to));
        did(worker, 1);
    }
    while (recv(in, data, sizeof(data), MSG_DONTWAIT) == (ssize_t)sizeof(data)) {
        MUST(data[0] == data[sizeof(data) - 1], "a datagram is not what was sent");
        did(worker, 1);
    }
    close(in);
    close(out);
    did(worker, 4);
}

static void connection(struct worker *worker, int listener)
{
    struct sockaddr_in to = address_of("127.0.0.1", port_of(listener));
    const struct linger reset = {.l_onoff = 1};
    int client = socket(AF_INET, SOCK_STREAM, 0), server;
    unsigned chunks = 1 + draw(worker, 4);
    size_t sent = 0, received = 0, total = (size_t)chunks * CHUNK;
    unsigned char data[CHUNK];

    MUST(client >= 0 && connect(client, (struct sockaddr *)&to, sizeof(to)) == 0, "cannot connect");
    server = accept(listener, NULL, NULL);
    MUST(server >= 0, "cannot accept");
    did(worker, 3);
    while (received < total) {
        struct pollfd both[2] = {{.fd = client, .events = sent < total ? POLLOUT : 0}, {.fd = server, .events = POLLIN}};
        ssize_t count;

        MUST(poll(both, 2, 60000) > 0, "a connection stands still: %zu bytes sent, %zu received", sent, received);
        if (both[0].revents & POLLOUT) {
            size_t part = total - sent < CHUNK ? total - sent : CHUNK;

            for (size_t i = 0; i < part; i++)
                data[i] = (unsigned char)((sent + i) * 7);
            count = send(client, data, part, MSG_DONTWAIT);
            MUST(count > 0 || errno == EAGAIN, "send failed");
            sent += count > 0 ? (size_t)count : 0;
        }
        if (both[1].revents & POLLIN) {
            count = recv(server, data, sizeof(data), MSG_DONTWAIT);
            MUST(count > 0 || errno == EAGAIN, "recv failed");
            for (ssize_t i = 0; i < count; i++)
                MUST(data[i] == (unsigned char)((received + (size_t)i) * 7), "byte %zu is not what was sent",
                     received + (size_t)i);
            received += count > 0 ? (size_t)count : 0;
        }
        did(worker, 3);
    }
    setsockopt(client, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    setsockopt(server, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(client);
    close(server);
    did(worker, 2);
}

static void work(struct worker *worker, uint64_t iterations)
{
    struct sockaddr_in any = address_of("127.0.0.1", 0);
    int listener = socket(AF_INET, SOCK_STREAM, 0);

    MUST(listener >= 0 && bind(listener, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(listener, 8) == 0, "cannot listen");
    for (uint64_t i = 0; i < iterations; i++) {
        if (!worker->index)
            change(worker, i);
        else if (draw(worker, 4))
            datagrams(worker);
        else
            connection(worker, listener);
    }
    close(listener);
}

/* Pages that a protocol accounts for. */
static int accounted(const char *protocol)
{
    FILE *file = fopen("/proc/net/sockstat", "r");
    char line[256];
    int pages = INT_MIN;

    while (file && fgets(line, sizeof(line), file)) {
        char *mem = strstr(line, " mem ");

        if (strncmp(line, protocol, strlen(protocol)) == 0 && mem)
            pages = atoi(mem + 5);
    }
    if (file)
        fclose(file);
    MUST(pages != INT_MIN, "/proc/net/sockstat does not say what memory %s has", protocol);
    return pages;
}

/* Column 4 of the route cache: references. A kernel without a route cache has no such file or an empty one. */
static void check_routes(void)
{
    FILE *file = fopen("/proc/net/rt_cache", "r");
    char line[512], device[32], destination[16];

    while (file && fgets(line, sizeof(line), file)) {
        int references;

        if (sscanf(line, "%31s %15s %*s %*s %d", device, destination, &references) == 3)
            MUST(references >= 0 && references <= REFERENCES_MAX, "route to %s has %d references", destination, references);
    }
    if (file)
        fclose(file);
}

static void finish(void)
{
    const struct timespec pause = {.tv_nsec = 100000000};

    set_limits(0);
    check_routes();
    /* Frames that are still under way, and sockets that wait for them. */
    for (unsigned i = 0; i < 100 && (accounted("UDP:") != 0 || accounted("TCP:") != 0); i++)
        nanosleep(&pause, NULL);
    MUST(accounted("UDP:") == 0, "UDP accounts for %d pages after all sockets were closed", accounted("UDP:"));
    MUST(accounted("TCP:") == 0, "TCP accounts for %d pages after all sockets were closed", accounted("TCP:"));
}

const struct stress network_stress = {.name = "network", .work = work, .finish = finish};
