/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For programs of the guest whose clients are behind the network card: the card as MOSBENCH set it up, and orders to the load at
 * the other end of its wire (docs/reference/card.md).
 */
#ifndef MOSBENCH_CARD_H
#define MOSBENCH_CARD_H

#include "roi.h"
#include "workers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define CARD_DEVICE "eth0"
#define CARD_GUEST 0x0A000001u   /* 10.0.0.1 */
#define CARD_MACHINE 0x0A000101u /* 10.0.1.1, the first */
#define CARD_CONTROL 0x0A0000FEu /* 10.0.0.254 */
#define CARD_MACHINES 25
#define CARD_FIRST_PORT 11211 /* of the servers; steering by port counts queues from it */
#define CARD_CARRIER_SECONDS 10
#define CARD_MOST_ROUNDS 5    /* of packets, until the vectors have moved */
#define CARD_LOAD_SECONDS 300 /* for the end of a load, which ends by itself: an order that was lost */

/* Whether the job's clients are behind the card; a variant without the parameter has none there. */
static inline bool card_wanted(void)
{
    const char *load = getenv("P_LOAD");

    return load && strcmp(load, "card") == 0;
}

static inline struct sockaddr_in card_address(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(address)}};
}

/* A socket whose calls return after so long. */
static inline int card_socket(int type, unsigned seconds)
{
    const struct timeval patience = {.tv_sec = seconds};
    int fd = socket(AF_INET, type, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
        die("no socket");
    return fd;
}

/* ---- the card as MOSBENCH set it up: one vector and one queue pair for each core ---- */

static inline void card_write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("cannot write %s to %s", text, path);
    close(fd);
}

/* A set of one CPU, in groups of 32 bits. */
static inline void card_one_cpu(char *text, size_t bytes, int cpu)
{
    snprintf(text, bytes, cpu < 32 ? "%x" : "%x,00000000", 1u << cpu % 32);
}

/* The vector of a queue in a line of /proc/interrupts, or `count`. */
static inline unsigned card_vector(const char *line, unsigned count)
{
    const char *name = strstr(line, CARD_DEVICE "-TxRx-");
    unsigned queue;

    return name && sscanf(name, CARD_DEVICE "-TxRx-%u", &queue) == 1 && queue < count ? queue : count;
}

/* Vector i goes to core i, and where the kernel chooses transmit queues by core (6.1), so do they. On one core the driver may use
 * one message for everything, which needs no setting. */
static inline void card_set_affinity(const int *cores, unsigned count)
{
    FILE *file = fopen("/proc/interrupts", "r");
    char line[8192], path[96], cpu[32];
    unsigned vectors = 0, queue;

    while (file && fgets(line, sizeof(line), file)) {
        if ((queue = card_vector(line, count)) == count)
            continue;
        card_one_cpu(cpu, sizeof(cpu), cores[queue]);
        snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity", atoi(line));
        card_write_file(path, cpu);
        snprintf(path, sizeof(path), "/sys/class/net/" CARD_DEVICE "/queues/tx-%u/xps_cpus", queue);
        if (access(path, W_OK) == 0)
            card_write_file(path, cpu);
        vectors++;
    }
    errno = 0;
    if (!file || (vectors < count && count > 1))
        die("the card has %u vectors for queues, not one for each of %u cores", vectors, count);
    fclose(file);
}

static inline void card_wait_for_carrier(void)
{
    const struct timespec a_while = {.tv_nsec = 10000000};

    for (unsigned tries = 0; tries < CARD_CARRIER_SECONDS * 100; tries++) {
        char carrier = 0;
        int fd = open("/sys/class/net/" CARD_DEVICE "/carrier", O_RDONLY);
        ssize_t got = fd < 0 ? 0 : read(fd, &carrier, 1);

        close(fd);
        if (got == 1 && carrier == '1') {
            errno = 0;
            return;
        }
        nanosleep(&a_while, NULL);
    }
    errno = 0;
    die("the link of " CARD_DEVICE " is not up after %d seconds", CARD_CARRIER_SECONDS);
}

/* Neighbours are known from the start: while one is asked for, the kernel keeps few packets for it. */
static inline void card_add_neighbour(int fd, uint32_t address)
{
    struct arpreq entry = {.arp_flags = ATF_COM | ATF_PERM, .arp_dev = CARD_DEVICE};
    struct sockaddr_in internet = card_address(address, 0);
    unsigned char *hardware = (unsigned char *)entry.arp_ha.sa_data;

    memcpy(&entry.arp_pa, &internet, sizeof(internet));
    entry.arp_ha.sa_family = ARPHRD_ETHER;
    hardware[0] = 0x02;
    hardware[1] = 0x01;
    memcpy(hardware + 2, &internet.sin_addr, 4);
    if (ioctl(fd, SIOCSARP, &entry))
        die("no entry for a neighbour");
}

/* How many vectors of queues have come to their own cores. */
static inline unsigned card_vectors_moved(const int *cores, unsigned count)
{
    FILE *file = fopen("/proc/interrupts", "r");
    char line[8192];
    unsigned moved = 0;

    if (!file)
        die("cannot read /proc/interrupts");
    while (fgets(line, sizeof(line), file)) {
        unsigned queue = card_vector(line, count);
        char *at = strchr(line, ':');
        unsigned long came = 0;

        if (queue == count || !at)
            continue;
        at++;
        for (int cpu = 0; cpu <= cores[queue]; cpu++)
            came = strtoul(at, &at, 10);
        moved += came != 0;
    }
    fclose(file);
    errno = 0;
    return moved;
}

/* The kernel moves a vector to its core with the vector's next interrupt, and a driver that has packets to poll stays on the core
 * where it began: under load it would stay on the first one. So each core sends packets, whose ends are interrupts, until all
 * have moved. */
static inline void card_move_vectors(const int *cores, unsigned count)
{
    const struct sockaddr_in control = card_address(CARD_CONTROL, 9);
    const struct timespec interrupts_come = {.tv_nsec = 2000000}; /* many times what a vector's moderation takes */
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    unsigned moved = 0;
    cpu_set_t before;

    if (fd < 0 || sched_getaffinity(0, sizeof(before), &before))
        die("no socket");
    for (unsigned round = 0; count > 1 && moved < count; round++) {
        if (round == CARD_MOST_ROUNDS)
            die("%u of the card's %u vectors come to their own cores", moved, count);
        for (unsigned i = 0; i < count; i++) {
            pin(cores[i]);
            if (sendto(fd, "hello", 5, 0, (const struct sockaddr *)&control, sizeof(control)) != 5)
                die("cannot send a packet from core %d", cores[i]);
        }
        nanosleep(&interrupts_come, NULL);
        moved = card_vectors_moved(cores, count);
    }
    if (sched_setaffinity(0, sizeof(before), &before))
        die("cannot run on all cores");
    close(fd);
}

static inline void card_bring_up(const int *cores, unsigned count)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct ifreq request = {.ifr_name = CARD_DEVICE};
    struct sockaddr_in address = card_address(CARD_GUEST, 0), mask = card_address(0xFF000000u, 0);

    if (ioctl(fd, SIOCGIFFLAGS, &request)) {
        errno = 0;
        die("there is no " CARD_DEVICE ": the machine has no card, or the kernel no driver for it");
    }
    memcpy(&request.ifr_addr, &address, sizeof(address));
    if (ioctl(fd, SIOCSIFADDR, &request))
        die("cannot give " CARD_DEVICE " its address");
    memcpy(&request.ifr_netmask, &mask, sizeof(mask));
    if (ioctl(fd, SIOCSIFNETMASK, &request))
        die("cannot give " CARD_DEVICE " its net");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    if (ioctl(fd, SIOCSIFFLAGS, &request))
        die("cannot bring " CARD_DEVICE " up");
    card_wait_for_carrier();
    card_set_affinity(cores, count);
    for (uint32_t machine = 0; machine < CARD_MACHINES; machine++)
        card_add_neighbour(fd, CARD_MACHINE + machine);
    card_add_neighbour(fd, CARD_CONTROL);
    close(fd);
    card_move_vectors(cores, count);
}

/* ---- orders to the load ---- */

/* What the load says when it has ended: of UDP `late` are replies to requests given up, of TCP those that took long. `between`
 * are those of a load that goes on after the last order's end and before this one. */
struct card_result {
    uint64_t sent, right, wrong, dropped, late, resets, between_sent, between_right, between_wrong;
    char text[1024]; /* JSON */
};

/* A socket for orders. */
static inline int card_load(void)
{
    struct sockaddr_in control = card_address(CARD_CONTROL, 9);
    int fd = card_socket(SOCK_DGRAM, CARD_LOAD_SECONDS);

    if (connect(fd, (struct sockaddr *)&control, sizeof(control)))
        die("cannot reach the load");
    return fd;
}

/* Lets the program have its core as soon as an answer comes: of a load that goes on, it would wait behind busy servers. */
static inline void card_before_others(void)
{
    const struct sched_param first = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO, &first))
        die("cannot come before other programs");
}

static inline __attribute__((format(printf, 2, 3))) void card_order(int load, const char *format, ...)
{
    char text[512];
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (bytes < 0 || (size_t)bytes >= sizeof(text) || send(load, text, (size_t)bytes, 0) != bytes)
        die("cannot send an order to the load");
}

/* Waits for the end of the load. False: it refused the order, or said nothing; `text` has what it said. */
static inline bool card_take_result(int load, struct card_result *result)
{
    ssize_t got = recv(load, result->text, sizeof(result->text) - 1, 0);

    result->text[got > 0 ? got : 0] = '\0';
    errno = 0;
    return sscanf(result->text,
                  "{\"sent\":%lu,\"right\":%lu,\"wrong\":%lu,\"dropped\":%lu,\"late\":%lu,\"resets\":%lu,"
                  "\"between_sent\":%lu,\"between_right\":%lu,\"between_wrong\":%lu,",
                  &result->sent, &result->right, &result->wrong, &result->dropped, &result->late, &result->resets,
                  &result->between_sent, &result->between_right, &result->between_wrong) == 9;
}

/* Takes the result of the last order, or ends the program. */
static inline void card_result_of(int load, struct card_result *result)
{
    if (!card_take_result(load, result))
        die("the load behind the card says: %s", result->text[0] ? result->text : "nothing");
}

/* Adds what ended in an order, and between the one before and it. */
static inline void card_add(struct card_result *sum, const struct card_result *part)
{
    sum->sent += part->between_sent + part->sent;
    sum->right += part->between_right + part->right;
    sum->wrong += part->between_wrong + part->wrong;
}

/* The region of a load that goes on. An order takes its time to the load, and the result to come back behind what clients send:
 * what the servers did from roi_begin to roi_end is what ended from the region's order to the next one. */
struct card_region {
    struct card_result result, after;
    uint64_t units, cycles; /* right replies; from roi_begin to roi_end */
};

/* `more`: further fields of the order, or "". */
static inline void card_flow_region(int load, uint64_t requests, const char *more, struct card_region *region)
{
    roi_begin();
    region->cycles = roi_cycles();
    card_order(load, "again requests=%lu %s", requests, more);
    card_result_of(load, &region->result);
    card_order(load, "again requests=1");
    region->cycles = roi_cycles() - region->cycles;
    roi_end();
    card_result_of(load, &region->after);
    region->units = region->result.right + region->after.between_right;
}

/* What a program adds to its result line (roi.h). */
static inline const char *card_members(const struct card_result *result)
{
    static char text[sizeof(result->text) + 100];

    snprintf(text, sizeof(text), "\"dropped\":%lu,\"late\":%lu,\"load\":%s", result->dropped, result->late, result->text);
    return text;
}

/* Of the requests at least that many have answers: with fewer the work is not that of a run that lost none. */
#define CARD_ANSWERED_OF_TEN 9

/* Every request was answered rightly or is counted as dropped, and few are. */
static inline bool card_right(const struct card_result *result)
{
    return result->wrong == 0 && result->right * 10 >= result->sent * CARD_ANSWERED_OF_TEN &&
           result->right + result->dropped == result->sent && result->right > 0;
}

#endif
