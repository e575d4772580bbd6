/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Traffic over the network card, with clients at the other end of its wire (docs/reference/card.md). Workers are processes.
 */
#define _GNU_SOURCE
#include "micro.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define DEVICE "eth0"
#define GUEST 0x0A000001u   /* 10.0.0.1 */
#define MACHINE 0x0A000101u /* 10.0.1.1, the first */
#define CONTROL 0x0A0000FEu /* 10.0.0.254 */
#define MACHINES 25
#define FIRST_PORT 11211
#define CARRIER_SECONDS 10
#define PATIENCE_SECONDS 2 /* for a datagram that was lost, which is an error */

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(address)}};
}

/* ---- the card as MOSBENCH set it up: one vector and one queue pair for each core ---- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("cannot write %s to %s", text, path);
    close(fd);
}

/* A set of one CPU, in groups of 32 bits. */
static void one_cpu(char *text, size_t bytes, int cpu)
{
    snprintf(text, bytes, cpu < 32 ? "%x" : "%x,00000000", 1u << cpu % 32);
}

/* Vector i goes to core i, and where the kernel chooses transmit queues by core (6.1), so do they. On one core the driver may use
 * one message for everything, which needs no setting. */
static void set_affinity(void)
{
    FILE *file = fopen("/proc/interrupts", "r");
    char line[8192], path[96], cpu[32];
    unsigned vectors = 0, queue;
    const char *name;

    while (file && fgets(line, sizeof(line), file)) {
        if (!(name = strstr(line, DEVICE "-TxRx-")) || sscanf(name, DEVICE "-TxRx-%u", &queue) != 1 || queue >= run.core_count)
            continue;
        one_cpu(cpu, sizeof(cpu), run.cores[queue]);
        snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity", atoi(line));
        write_file(path, cpu);
        snprintf(path, sizeof(path), "/sys/class/net/" DEVICE "/queues/tx-%u/xps_cpus", queue);
        if (access(path, W_OK) == 0)
            write_file(path, cpu);
        vectors++;
    }
    errno = 0;
    if (!file || (vectors < run.core_count && run.core_count > 1))
        die("the card has %u vectors for queues, not one for each of %u cores", vectors, run.core_count);
    fclose(file);
}

static void wait_for_carrier(void)
{
    const struct timespec a_while = {.tv_nsec = 10000000};

    for (unsigned tries = 0; tries < CARRIER_SECONDS * 100; tries++) {
        char carrier = 0;
        int fd = open("/sys/class/net/" DEVICE "/carrier", O_RDONLY);
        ssize_t got = fd < 0 ? 0 : read(fd, &carrier, 1);

        close(fd);
        if (got == 1 && carrier == '1') {
            errno = 0;
            return;
        }
        nanosleep(&a_while, NULL);
    }
    errno = 0;
    die("the link of " DEVICE " is not up after %d seconds", CARRIER_SECONDS);
}

/* Neighbours are known from the start: while one is asked for, the kernel keeps few packets for it. */
static void add_neighbour(int fd, uint32_t address)
{
    struct arpreq entry = {.arp_flags = ATF_COM | ATF_PERM, .arp_dev = DEVICE};
    struct sockaddr_in internet = at(address, 0);
    unsigned char *hardware = (unsigned char *)entry.arp_ha.sa_data;

    memcpy(&entry.arp_pa, &internet, sizeof(internet));
    entry.arp_ha.sa_family = ARPHRD_ETHER;
    hardware[0] = 0x02;
    hardware[1] = 0x01;
    memcpy(hardware + 2, &internet.sin_addr, 4);
    if (ioctl(fd, SIOCSARP, &entry))
        die("no entry for a neighbour");
}

static void bring_up(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {.ifr_name = DEVICE};
    struct sockaddr_in address = at(GUEST, 0), mask = at(0xFF000000u, 0);

    if (ioctl(fd, SIOCGIFFLAGS, &request)) {
        errno = 0;
        die("there is no " DEVICE ": the machine has no card, or the kernel no driver for it");
    }
    memcpy(&request.ifr_addr, &address, sizeof(address));
    if (ioctl(fd, SIOCSIFADDR, &request))
        die("cannot give " DEVICE " its address");
    memcpy(&request.ifr_netmask, &mask, sizeof(mask));
    if (ioctl(fd, SIOCSIFNETMASK, &request))
        die("cannot give " DEVICE " its net");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request))
        die("cannot bring " DEVICE " up");
    wait_for_carrier();
    set_affinity();
    for (uint32_t machine = 0; machine < MACHINES; machine++)
        add_neighbour(fd, MACHINE + machine);
    add_neighbour(fd, CONTROL);
    close(fd);
}

/* ---- card-udp-echo: each worker answers the datagrams that come to its port ----
 * Worker 0 orders them, `connections` for each core, and waits for the load's result: the region ends when the last client has
 * its last reply. Checked: each worker answered `iterations` datagrams, and each client got its own bytes back. */

#define MAX_DATAGRAM 1500

struct echo {
    int fd, control; /* control: of worker 0 */
};
static struct {
    char result[1024]; /* of the load, in the region */
    uint64_t sent, right;
} *answer;

static void echo_setup(void)
{
    bring_up();
    answer = shared_memory(sizeof(*answer));
}

static int patient_socket(void)
{
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
        die("no socket");
    return fd;
}

static void echo_prepare(struct worker *worker)
{
    struct echo *echo = memory(sizeof(*echo), -1, PAGES_SMALL, NULL);
    struct sockaddr_in own = at(GUEST, (uint16_t)(FIRST_PORT + worker->index)), control = at(CONTROL, 9);

    echo->fd = patient_socket();
    if (bind(echo->fd, (struct sockaddr *)&own, sizeof(own)))
        die("cannot have port %u", FIRST_PORT + worker->index);
    if (worker->index == 0) {
        echo->control = patient_socket();
        if (connect(echo->control, (struct sockaddr *)&control, sizeof(control)))
            die("cannot reach the load");
    }
    worker->state = echo;
}

static void order(const struct echo *echo, uint64_t requests)
{
    char text[256];
    int bytes = snprintf(text, sizeof(text), "udp connections=%lu ports=%u first_port=%u bytes=%lu requests=%lu think_ns=%lu",
                         number_setting("P_CONNECTIONS") * run.workers, run.workers, FIRST_PORT,
                         number_setting("P_DATAGRAM_BYTES"), requests, number_setting("P_THINK_US") * 1000);

    if (send(echo->control, text, (size_t)bytes, 0) != bytes)
        die("cannot send the order");
}

static void take_answer(struct worker *worker, const struct echo *echo)
{
    ssize_t got = recv(echo->control, answer->result, sizeof(answer->result) - 1, 0);
    uint64_t sent, right;

    answer->result[got > 0 ? got : 0] = '\0';
    if (sscanf(answer->result, "{\"sent\":%lu,\"right\":%lu,", &sent, &right) != 2) {
        errno = 0;
        worker_error(worker, answer->result[0] ? "the load refused the order" : "no answer of the load", (long)got);
        return;
    }
    answer->sent += sent;
    answer->right += right;
}

static void echo_work(struct worker *worker, uint64_t iterations)
{
    const struct echo *echo = worker->state;
    char datagram[MAX_DATAGRAM];

    if (worker->index == 0)
        order(echo, iterations);
    for (uint64_t i = 0; i < iterations; i++) {
        struct sockaddr_in client;
        socklen_t room = sizeof(client);
        ssize_t got = recvfrom(echo->fd, datagram, sizeof(datagram), 0, (struct sockaddr *)&client, &room), sent;

        if (got < 0) {
            worker_error(worker, "no datagram came", got);
            return;
        }
        sent = sendto(echo->fd, datagram, (size_t)got, 0, (struct sockaddr *)&client, room);
        EXPECT(worker, sent == got, "sendto failed", sent);
        worker->sums[0]++;
    }
    if (worker->index == 0)
        take_answer(worker, echo);
    worker->units += iterations;
}

static void echo_finish(void)
{
    check("datagrams answered", sum_of(0), total_iterations());
    check("datagrams that the clients sent", answer->sent, total_iterations());
    check("replies that were right", answer->right, total_iterations());
    result_extra(",\"load\":%s", answer->result[0] == '{' ? answer->result : "null");
}

const struct benchmark card_benchmarks[] = {
    {
        .name = "card-udp-echo",
        .unit = "datagrams",
        .processes = true,
        .setup = echo_setup,
        .prepare = echo_prepare,
        .work = echo_work,
        .finish = echo_finish,
    },
    {.name = NULL},
};
