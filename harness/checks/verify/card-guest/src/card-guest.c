/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shows what a driver makes of the network card.
 *
 *     flows      its vectors, which queue the datagrams of each client come to, whether the queue of a connection follows a
 * process that moves, a megabyte each way over TCP through a net that loses packets, with the card's offloads and without, and
 * all that the driver has counted, as `ethtool -S` prints it foreign    a megabyte each way over TCP with another guest, with the
 * card's offloads and without peer       that other guest, which has another card
 */
#define _GNU_SOURCE
#include "roi.h"
#include "workers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#define DEVICE "eth0"
#define GUEST 0x0A000001u   /* 10.0.0.1 */
#define MACHINE 0x0A000101u /* 10.0.1.1, the first */
#define CONTROL 0x0A0000FEu /* 10.0.0.254 */
#define MIRROR 0x0A000201u  /* 10.0.2.1: what goes there comes back from OTHER_SIDE */
#define OTHER_SIDE 0x0A000301u
#define PEER 0x0A000002u /* 10.0.0.2: another guest */
#define MACHINES 25
#define FIRST_PORT 11211
#define SERVER_PORT 5001
#define CARRIER_SECONDS 10
#define PATIENCE_SECONDS 20       /* a handshake's packet that is lost is sent again after 3 */
#define PEER_PATIENCE_SECONDS 600 /* of the host's: the other guest is slow */
#define MAX_STATISTICS 4096
#define MAX_QUEUES 64
#define SETTLING 64  /* round trips until the card must have noticed that a process moved: it sees each 20th packet */
#define MEASURED 200 /* round trips that are counted */
#define MESSAGE 64   /* bytes */
#define CHUNK 16384

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t requests;
static struct sleeping_place *meeting;
static uint64_t *answered;
static uint64_t bytes_each_way;
static unsigned patience_seconds = PATIENCE_SECONDS;

/* ---- the card ---- */

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(address)}};
}

static int any_socket(int kind)
{
    const struct timeval patience = {.tv_sec = patience_seconds};
    int fd = socket(AF_INET, kind, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)))
        die("no socket");
    return fd;
}

static void control(int fd, unsigned long what, void *request, const char *name)
{
    if (ioctl(fd, what, request))
        die("%s of " DEVICE " fails", name);
}

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
    control(fd, SIOCSARP, &entry, "SIOCSARP");
}

/* With the address `own`; of machines behind the card's wire the addresses of their cards are known. */
static void bring(bool up, uint32_t own, bool machines)
{
    int fd = any_socket(SOCK_DGRAM);
    struct ifreq request = {.ifr_name = DEVICE};

    if (ioctl(fd, SIOCGIFFLAGS, &request)) {
        errno = 0;
        die("there is no " DEVICE ": the driver did not bind to the card");
    }
    if (up) {
        struct sockaddr_in address = at(own, 0), mask = at(0xFF000000u, 0);

        memcpy(&request.ifr_addr, &address, sizeof(address));
        control(fd, SIOCSIFADDR, &request, "SIOCSIFADDR");
        memcpy(&request.ifr_netmask, &mask, sizeof(mask));
        control(fd, SIOCSIFNETMASK, &request, "SIOCSIFNETMASK");
    }
    request.ifr_flags = up ? IFF_UP | IFF_RUNNING : 0;
    control(fd, SIOCSIFFLAGS, &request, "SIOCSIFFLAGS");
    if (up && machines) {
        for (uint32_t machine = 0; machine < MACHINES; machine++)
            add_neighbour(fd, MACHINE + machine);
        add_neighbour(fd, CONTROL);
        add_neighbour(fd, MIRROR);
        add_neighbour(fd, OTHER_SIDE);
    }
    close(fd);
}

static void wait_for_carrier(void)
{
    const struct timespec a_while = {.tv_nsec = 10000000};

    for (unsigned tries = 0; tries < CARRIER_SECONDS * 100; tries++) {
        char carrier = 0;
        int fd = open("/sys/class/net/" DEVICE "/carrier", O_RDONLY);
        ssize_t got = fd < 0 ? 0 : read(fd, &carrier, 1);

        close(fd);
        if (got == 1 && carrier == '1')
            return;
        nanosleep(&a_while, NULL);
    }
    errno = 0;
    die("the link of " DEVICE " is not up after %d seconds", CARRIER_SECONDS);
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("cannot write %s to %s", text, path);
    close(fd);
}

/* Vector i goes to core i, and the transmit queue with it. Returns how many vectors queues have; with one queue the driver may
 * use one message for everything, which has the device's name. */
static unsigned set_affinity(void)
{
    FILE *file = fopen("/proc/interrupts", "r");
    char line[8192], path[96], cpu[32];
    unsigned vectors = 0, queue;
    const char *name;

    while (file && fgets(line, sizeof(line), file)) {
        if (!(name = strstr(line, DEVICE "-TxRx-")) || sscanf(name, DEVICE "-TxRx-%u", &queue) != 1 || queue >= core_count)
            continue;
        snprintf(cpu, sizeof(cpu), cores[queue] < 32 ? "%x" : "%x,00000000", 1u << cores[queue] % 32);
        snprintf(path, sizeof(path), "/proc/irq/%d/smp_affinity", atoi(line));
        write_file(path, cpu);
        snprintf(path, sizeof(path), "/sys/class/net/" DEVICE "/queues/tx-%u/xps_cpus", queue);
        if (access(path, W_OK) == 0)
            write_file(path, cpu);
        vectors++;
    }
    errno = 0;
    if (!file)
        die("cannot read /proc/interrupts");
    fclose(file);
    return vectors;
}

/* ---- what the driver has counted ---- */

struct statistics {
    unsigned count;
    char (*names)[ETH_GSTRING_LEN];
    uint64_t *values;
};

static struct statistics statistics(void)
{
    int fd = any_socket(SOCK_DGRAM);
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    struct ifreq request = {.ifr_name = DEVICE, .ifr_data = (void *)&info};
    struct ethtool_gstrings *names;
    struct ethtool_stats *values;

    control(fd, SIOCETHTOOL, &request, "ETHTOOL_GDRVINFO");
    if (info.n_stats == 0 || info.n_stats > MAX_STATISTICS)
        die("the driver has %u counters", info.n_stats);
    names = calloc(1, sizeof(*names) + (size_t)info.n_stats * ETH_GSTRING_LEN);
    values = calloc(1, sizeof(*values) + (size_t)info.n_stats * sizeof(uint64_t));
    if (!names || !values)
        die("no memory");
    *names = (struct ethtool_gstrings){.cmd = ETHTOOL_GSTRINGS, .string_set = ETH_SS_STATS, .len = info.n_stats};
    request.ifr_data = (void *)names;
    control(fd, SIOCETHTOOL, &request, "ETHTOOL_GSTRINGS");
    *values = (struct ethtool_stats){.cmd = ETHTOOL_GSTATS, .n_stats = info.n_stats};
    request.ifr_data = (void *)values;
    control(fd, SIOCETHTOOL, &request, "ETHTOOL_GSTATS");
    close(fd);
    return (struct statistics){info.n_stats, (void *)names->data, (void *)values->data};
}

/* Packets of each queue; `format` has its number, and %c after it, which no counter of bytes matches. */
static void of_queues(const struct statistics *all, const char *format, uint64_t *queues)
{
    unsigned queue;
    char end;

    memset(queues, 0, MAX_QUEUES * sizeof(*queues));
    for (unsigned i = 0; i < all->count; i++)
        if (sscanf(all->names[i], format, &queue, &end) == 2 && queue < MAX_QUEUES)
            queues[queue] = all->values[i];
}

static void received(uint64_t *queues)
{
    const struct statistics all = statistics();

    of_queues(&all, "rx_queue_%u_packet%c", queues);
}

/* Until nothing comes or goes any more. */
static struct statistics settled(void)
{
    const struct timespec a_while = {.tv_nsec = 100000000};
    struct statistics before = statistics();

    for (unsigned tries = 0; tries < 50; tries++) {
        nanosleep(&a_while, NULL);
        const struct statistics now = statistics();

        if (memcmp(before.values, now.values, now.count * sizeof(*now.values)) == 0)
            return now;
        before = now;
    }
    errno = 0;
    die("the counters of " DEVICE " do not come to rest");
}

/* ---- one datagram client for each core, whose packets the card spreads by their hash ---- */

static void echo(unsigned index)
{
    int fd = any_socket(SOCK_DGRAM);
    struct sockaddr_in own = at(GUEST, (uint16_t)(FIRST_PORT + index));
    char datagram[1500];

    pin(cores[index]);
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)))
        die("cannot have port %u", FIRST_PORT + index);
    meet_asleep(meeting, core_count + 1, 1, NULL);
    for (uint64_t i = 0; i < requests; i++) {
        struct sockaddr_in client;
        socklen_t room = sizeof(client);
        ssize_t got = recvfrom(fd, datagram, sizeof(datagram), 0, (struct sockaddr *)&client, &room);

        if (got <= 0 || sendto(fd, datagram, (size_t)got, 0, (struct sockaddr *)&client, room) != got)
            die("port %u: no datagram after %lu", FIRST_PORT + index, (unsigned long)i);
        answered[index]++;
    }
}

static void order_and_wait(FILE *out)
{
    int fd = any_socket(SOCK_DGRAM);
    struct sockaddr_in address = at(CONTROL, 9), own;
    socklen_t room = sizeof(own);
    char text[256], answer[1024];
    int bytes = snprintf(text, sizeof(text), "udp connections=%u ports=%u first_port=%u bytes=64 requests=%lu think_ns=0",
                         core_count, core_count, FIRST_PORT, (unsigned long)requests);
    ssize_t got;

    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) || getsockname(fd, (struct sockaddr *)&own, &room))
        die("cannot reach the load");
    meet_asleep(meeting, core_count + 1, 1, NULL);
    if (send(fd, text, (size_t)bytes, 0) != bytes || (got = recv(fd, answer, sizeof(answer) - 1, 0)) <= 0)
        die("no answer of the load");
    answer[got] = '\0';
    close(fd);
    fprintf(out, "\"load\":%s,\"control_port\":%u", answer, ntohs(own.sin_port));
}

static void echo_process(unsigned index, void *out)
{
    if (index < core_count) {
        echo(index);
    } else {
        pin(cores[0]);
        order_and_wait(out);
        fflush(out);
    }
}

/* ---- a connection to ourselves, by way of the card, both ends of which move to another core ----
 * They are never on one core: of packets that take turns on a queue, each 20th is always the same one's. */

struct place {
    unsigned client, server; /* cores */
};
static struct place places[2];

static void round_trips(int fd, unsigned count, bool client)
{
    char message[MESSAGE] = "a message";

    for (unsigned i = 0; i < count; i++)
        for (int way = 0; way < 2; way++) {
            const bool sends = client == (way == 0);
            ssize_t got = sends ? send(fd, message, MESSAGE, 0) : recv(fd, message, MESSAGE, MSG_WAITALL);

            if (got != MESSAGE)
                die("the %s's connection: %s of message %u", client ? "client" : "server", sends ? "send" : "recv", i);
        }
}

static void serve(int fd)
{
    for (int stay = 0; stay < 2; stay++) {
        pin(cores[places[stay].server]);
        round_trips(fd, SETTLING + MEASURED, false);
    }
    close(fd);
}

static int listening_socket(uint32_t address)
{
    int yes = 1, fd = any_socket(SOCK_STREAM);
    struct sockaddr_in own = at(address, SERVER_PORT);

    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) || bind(fd, (struct sockaddr *)&own, sizeof(own)) ||
        listen(fd, 1))
        die("cannot listen");
    return fd;
}

static int accepted(int listening)
{
    int yes = 1, fd = accept(listening, NULL, NULL);

    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
        die("no connection came");
    return fd;
}

static int connected(uint32_t address)
{
    int yes = 1, fd = any_socket(SOCK_STREAM);
    struct sockaddr_in other = at(address, SERVER_PORT);

    if (connect(fd, (struct sockaddr *)&other, sizeof(other)) || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
        die("cannot connect through the card");
    return fd;
}

/* Both ends of a connection by way of the card: `serve` in a process of its own, which has to end well. */
static pid_t start_server(void (*serve)(int fd), int listening)
{
    pid_t server = fork();

    if (server == 0) {
        serve(accepted(listening));
        _exit(0);
    }
    if (server < 0)
        die("no process for the server");
    return server;
}

static void end_of(pid_t server)
{
    int status;

    if (waitpid(server, &status, 0) != server || status != 0)
        die("the server ended with wait status 0x%x", (unsigned)status);
}

static void follow(FILE *out)
{
    int listening = listening_socket(GUEST), fd;
    uint64_t before[MAX_QUEUES], after[MAX_QUEUES], moved[MAX_QUEUES];
    pid_t server;

    places[0] = (struct place){.client = 1, .server = 0};
    places[1] = (struct place){.client = core_count > 2 ? 2 : 0, .server = 1};
    fflush(out);
    server = start_server(serve, listening);
    fd = connected(MIRROR);
    fprintf(out, ",\"round_trips\":%u,\"stays\":[", MEASURED);
    for (int stay = 0; stay < 2; stay++) {
        pin(cores[places[stay].client]);
        round_trips(fd, SETTLING, true);
        received(before);
        round_trips(fd, MEASURED, true);
        received(after);
        for (unsigned i = 0; i < MAX_QUEUES; i++)
            moved[i] = after[i] - before[i];
        fprintf(out, "%s{\"client\":%u,\"server\":%u", stay ? "," : "", places[stay].client, places[stay].server);
        roi_print_list(out, "received", moved, core_count);
        fputc('}', out);
    }
    fputc(']', out);
    close(fd);
    end_of(server);
    close(listening);
}

/* ---- a megabyte each way, compared, with the card's offloads and without ---- */

static unsigned char expected(uint64_t place, int way)
{
    return (unsigned char)(((uint32_t)place * 2654435761u >> 24) + (unsigned)way);
}

static void put(int fd, int way)
{
    unsigned char data[CHUNK];

    for (uint64_t sent = 0; sent < bytes_each_way;) {
        size_t wanted = bytes_each_way - sent < CHUNK ? bytes_each_way - sent : CHUNK;
        ssize_t done;

        for (size_t i = 0; i < wanted; i++)
            data[i] = expected(sent + i, way);
        done = send(fd, data, wanted, 0);
        if (done <= 0)
            die("cannot send after %llu bytes", (unsigned long long)sent);
        sent += (uint64_t)done;
    }
}

static void get(int fd, int way)
{
    unsigned char data[CHUNK];

    for (uint64_t got = 0; got < bytes_each_way;) {
        ssize_t done = recv(fd, data, bytes_each_way - got < CHUNK ? bytes_each_way - got : CHUNK, 0);

        if (done <= 0)
            die("nothing comes after %llu bytes", (unsigned long long)got);
        for (ssize_t i = 0; i < done; i++, got++)
            if (data[i] != expected(got, way)) {
                errno = 0;
                die("byte %llu of a stream is %u, not %u", (unsigned long long)got, data[i], expected(got, way));
            }
    }
}

/* First from the client, then to it; the last byte of each side is answered, so that nobody closes too early. */
static void exchange(int fd, bool client)
{
    for (int way = 0; way < 2; way++) {
        if (client == (way == 0))
            put(fd, way);
        else
            get(fd, way);
    }
    round_trips(fd, 1, client);
    close(fd);
}

static void serve_exchange(int fd)
{
    pin(cores[0]);
    exchange(fd, false);
}

/* In the order in which one may be switched off: each needs those below it. */
static const struct {
    const char *name;
    unsigned set, get;
} OFFLOADS[] = {
    {"tso", ETHTOOL_STSO, ETHTOOL_GTSO},
    {"gso", ETHTOOL_SGSO, ETHTOOL_GGSO},
    {"gro", ETHTOOL_SGRO, ETHTOOL_GGRO},
    {"scatter", ETHTOOL_SSG, ETHTOOL_GSG},
    {"send-checksums", ETHTOOL_STXCSUM, ETHTOOL_GTXCSUM},
    {"receive-checksums", ETHTOOL_SRXCSUM, ETHTOOL_GRXCSUM},
};

static unsigned offload(unsigned command, unsigned value)
{
    struct ethtool_value wanted = {.cmd = command, .data = value};
    struct ifreq request = {.ifr_name = DEVICE, .ifr_data = (void *)&wanted};
    int fd = any_socket(SOCK_DGRAM);

    control(fd, SIOCETHTOOL, &request, "ETHTOOL of an offload");
    close(fd);
    return wanted.data;
}

static void switch_offloads_off(void)
{
    settled(); /* a driver may reset the card for it, and what it has not read of the card's counters by then is lost */
    for (unsigned i = 0; i < sizeof(OFFLOADS) / sizeof(OFFLOADS[0]); i++)
        offload(OFFLOADS[i].set, 0);
    wait_for_carrier();
}

/* Retransmitted segments and those with errors, of this kernel's TCP. */
static void tcp_counters(uint64_t *counters)
{
    FILE *file = fopen("/proc/net/snmp", "r");
    char line[512];
    bool found = false;

    while (file && fgets(line, sizeof(line), file) && !found)
        found = sscanf(line, "Tcp: %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %lu %lu", &counters[0], &counters[1]) == 2;
    errno = 0;
    if (!found)
        die("/proc/net/snmp has no counters of TCP");
    fclose(file);
}

/* Through the net that sends back to us, or with another guest. */
static void exchange_once(FILE *out, bool foreign)
{
    uint64_t before[2], after[2];

    fputc('{', out);
    for (unsigned i = 0; i < sizeof(OFFLOADS) / sizeof(OFFLOADS[0]); i++)
        fprintf(out, "%s\"%s\":%u", i ? "," : "", OFFLOADS[i].name, offload(OFFLOADS[i].get, 0));
    fflush(out);
    tcp_counters(before);
    if (foreign) {
        exchange(connected(PEER), true);
    } else {
        int listening = listening_socket(GUEST);
        pid_t server = start_server(serve_exchange, listening);

        pin(cores[core_count - 1]);
        exchange(connected(MIRROR), true);
        end_of(server);
        close(listening);
    }
    tcp_counters(after);
    fprintf(out, ",\"bytes\":%llu,\"retransmitted\":%lu,\"errors\":%lu}", 2 * (unsigned long long)bytes_each_way,
            after[0] - before[0], after[1] - before[1]);
}

static void exchange_twice(FILE *out, bool foreign)
{
    fprintf(out, "%s\"streams\":[", ftell(out) > 0 ? "," : "");
    exchange_once(out, foreign);
    switch_offloads_off();
    fputc(',', out);
    exchange_once(out, foreign);
    fputc(']', out);
}

/* ---- how the driver has set the hash up: registers of the card ---- */

static void hash_registers(FILE *out)
{
    char path[PATH_MAX];
    volatile uint32_t *registers;
    int fd;

    snprintf(path, sizeof(path), "/sys/class/net/" DEVICE "/device/resource0");
    fd = open(path, O_RDONLY);
    registers = fd < 0 ? MAP_FAILED : mmap(NULL, 0x20000, PROT_READ, MAP_SHARED, fd, 0);
    if (registers == MAP_FAILED)
        die("cannot map %s", path);
    fprintf(out, ",\"mrqc\":%u,\"rss_key\":[", registers[0x5818 / 4]);
    for (unsigned i = 0; i < 10; i++)
        fprintf(out, "%s%u", i ? "," : "", registers[0x5C80 / 4 + i]);
    fputs("],\"reta\":[", out);
    for (unsigned i = 0; i < 32; i++)
        fprintf(out, "%s%u", i ? "," : "", registers[0x5C00 / 4 + i]);
    fputc(']', out);
    close(fd);
}

/* ---- what is said at the end ---- */

static void driver_counters(FILE *out, const struct statistics *all)
{
    uint64_t queues[MAX_QUEUES];

    of_queues(all, "rx_queue_%u_packet%c", queues);
    roi_print_list(out, "rx_queues", queues, core_count);
    of_queues(all, "tx_queue_%u_packet%c", queues);
    roi_print_list(out, "tx_queues", queues, core_count);
    /* A line that is much longer is more than the kernel lets the serial line do at a time. */
    fputs(",\"statistics\":{", out);
    for (unsigned i = 0, shown = 0; i < all->count; i++)
        if (all->values[i] != 0 && !strstr(all->names[i], "_queue_"))
            fprintf(out, "%s\"%.*s\":%llu", shown++ ? "," : "", ETH_GSTRING_LEN, all->names[i],
                    (unsigned long long)all->values[i]);
    fputc('}', out);
}

/* Members of the result come from several processes, each of which writes at its end. */
static FILE *new_members(void)
{
    FILE *out = tmpfile();

    if (!out)
        die("no temporary file");
    return out;
}

static char *members_of(FILE *out)
{
    size_t size;
    char *members;

    fflush(out);
    size = (size_t)ftell(out);
    if (size == 0)
        return NULL;
    members = calloc(1, size + 1);
    rewind(out);
    if (!members || fread(members, 1, size, out) != size)
        die("cannot read the temporary file");
    return members;
}

static int say(FILE *out, uint64_t cycles, const char *unit, const uint64_t *per_core, bool right, const char *detail)
{
    uint64_t units = 0, cycles_per_core[MAX_WORKERS];

    for (unsigned i = 0; i < core_count; i++) {
        units += per_core[i];
        cycles_per_core[i] = cycles;
    }
    const struct roi_result result = {
        .units = units,
        .unit = unit,
        .cores = core_count,
        .per_core = per_core,
        .cycles_per_core = cycles_per_core,
        .cpus = cores,
        .members = members_of(out),
        .checked = right,
        .detail = detail,
    };
    return roi_result(&result) ? 0 : 1;
}

/* ---- the three parts ---- */

static unsigned bring_card_up(bool machines)
{
    unsigned vectors;

    bring(true, GUEST, machines);
    wait_for_carrier();
    vectors = set_affinity();
    roi_warm();
    roi_begin();
    return vectors;
}

static int flows(void)
{
    uint64_t before[MAX_QUEUES], after[MAX_QUEUES], cycles;
    unsigned vectors = bring_card_up(true);
    FILE *out = new_members();
    struct statistics all;
    bool right = true;
    pid_t work;

    requests = number_setting("P_REQUESTS");
    meeting = shared_memory(sizeof(*meeting));
    answered = shared_memory(core_count * sizeof(*answered));
    cycles = roi_cycles();
    settled();
    received(before);
    work = fork();
    if (work == 0) {
        run_processes(core_count + 1, echo_process, out);
        _exit(0);
    }
    if (work < 0)
        die("no process for the datagrams");
    end_of(work);
    settled();
    received(after);
    for (unsigned i = 0; i < MAX_QUEUES; i++)
        after[i] -= before[i];
    fseek(out, 0, SEEK_END);
    roi_print_list(out, "datagrams", after, core_count);
    fprintf(out, ",\"vectors\":%u", vectors);
    hash_registers(out);
    if (core_count > 1)
        follow(out);
    roi_end();
    cycles = roi_cycles() - cycles;
    exchange_twice(out, false);
    all = settled();
    bring(false, GUEST, true);
    driver_counters(out, &all);
    for (unsigned i = 0; i < core_count; i++)
        right &= answered[i] == requests;
    return say(out, cycles, "datagrams", answered, right, "each core answered its datagrams");
}

static int foreign(void)
{
    uint64_t cycles, per_core[MAX_WORKERS] = {0};
    FILE *out = new_members();
    struct statistics all;

    patience_seconds = PEER_PATIENCE_SECONDS;
    bring_card_up(false);
    cycles = roi_cycles();
    exchange_twice(out, true);
    roi_end();
    cycles = roi_cycles() - cycles;
    all = settled();
    bring(false, GUEST, false);
    driver_counters(out, &all);
    per_core[0] = 4 * bytes_each_way;
    return say(out, cycles, "bytes", per_core, true, "each byte was compared");
}

/* Whoever started the guest waits for the mark of the region's begin: from then on one can connect. */
static int peer(void)
{
    uint64_t cycles, per_core[MAX_WORKERS] = {0};
    FILE *out = new_members();
    int listening;

    patience_seconds = PEER_PATIENCE_SECONDS;
    bring(true, PEER, false);
    wait_for_carrier();
    listening = listening_socket(PEER);
    roi_warm();
    roi_begin();
    roi_report("{\"event\":\"roi\",\"mark\":\"begin\"}");
    cycles = roi_cycles();
    for (int stream = 0; stream < 2; stream++)
        exchange(accepted(listening), false);
    roi_end();
    cycles = roi_cycles() - cycles;
    per_core[0] = 4 * bytes_each_way;
    return say(out, cycles, "bytes", per_core, true, "each byte was compared");
}

int main(void)
{
    const char *variant = text_setting("MOSBENCH_VARIANT");

    core_count = read_cores(cores);
    bytes_each_way = number_setting("P_BYTES");
    pin(cores[0]);
    return strcmp(variant, "peer") == 0 ? peer() : strcmp(variant, "foreign") == 0 ? foreign() : flows();
}
