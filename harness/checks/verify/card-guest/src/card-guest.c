/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shows what a driver makes of the network card: its vectors, which queue the datagrams of each client come to, whether the queue
 * of a connection follows a process that moves, and all that the driver has counted, as `ethtool -S` prints it.
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
#define MACHINES 25
#define FIRST_PORT 11211
#define SERVER_PORT 5001
#define CARRIER_SECONDS 10
#define PATIENCE_SECONDS 2
#define MAX_STATISTICS 4096
#define MAX_QUEUES 64
#define SETTLING 64  /* round trips until the card must have noticed that a process moved: it sees each 20th packet */
#define MEASURED 200 /* round trips that are counted */
#define MESSAGE 64   /* bytes */

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t requests;
static struct sleeping_place *meeting;
static uint64_t *answered;

/* ---- the card ---- */

static struct sockaddr_in at(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {.s_addr = htonl(address)}};
}

static int any_socket(int kind)
{
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
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

static void bring(bool up)
{
    int fd = any_socket(SOCK_DGRAM);
    struct ifreq request = {.ifr_name = DEVICE};

    if (ioctl(fd, SIOCGIFFLAGS, &request)) {
        errno = 0;
        die("there is no " DEVICE ": the driver did not bind to the card");
    }
    if (up) {
        struct sockaddr_in address = at(GUEST, 0), mask = at(0xFF000000u, 0);

        memcpy(&request.ifr_addr, &address, sizeof(address));
        control(fd, SIOCSIFADDR, &request, "SIOCSIFADDR");
        memcpy(&request.ifr_netmask, &mask, sizeof(mask));
        control(fd, SIOCSIFNETMASK, &request, "SIOCSIFNETMASK");
    }
    request.ifr_flags = up ? IFF_UP | IFF_RUNNING : 0;
    control(fd, SIOCSIFFLAGS, &request, "SIOCSIFFLAGS");
    if (up) {
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

static void serve(int listening)
{
    int yes = 1, fd = accept(listening, NULL, NULL);

    if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
        die("no connection came");
    for (int stay = 0; stay < 2; stay++) {
        pin(cores[places[stay].server]);
        round_trips(fd, SETTLING + MEASURED, false);
    }
    close(fd);
}

static void follow(FILE *out)
{
    int yes = 1, listening = any_socket(SOCK_STREAM), fd = any_socket(SOCK_STREAM);
    struct sockaddr_in own = at(GUEST, SERVER_PORT), other = at(MIRROR, SERVER_PORT);
    uint64_t before[MAX_QUEUES], after[MAX_QUEUES], moved[MAX_QUEUES];
    pid_t server;
    int status;

    places[0] = (struct place){.client = 1, .server = 0};
    places[1] = (struct place){.client = core_count > 2 ? 2 : 0, .server = 1};
    if (setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
        bind(listening, (struct sockaddr *)&own, sizeof(own)) || listen(listening, 1))
        die("cannot listen");
    fflush(out);
    server = fork();
    if (server == 0) {
        serve(listening);
        _exit(0);
    }
    if (server < 0 || connect(fd, (struct sockaddr *)&other, sizeof(other)) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
        die("cannot connect through the card");
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
    if (waitpid(server, &status, 0) != server || status != 0)
        die("the server ended with wait status 0x%x", (unsigned)status);
    close(listening);
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

int main(void)
{
    static uint64_t before[MAX_QUEUES], after[MAX_QUEUES], cycles[MAX_WORKERS];
    char *members = NULL;
    size_t size = 0;
    FILE *out;
    unsigned vectors;
    int status;
    pid_t work;
    bool right = true;

    core_count = read_cores(cores);
    requests = number_setting("P_REQUESTS");
    meeting = shared_memory(sizeof(*meeting));
    answered = shared_memory(core_count * sizeof(*answered));
    pin(cores[0]);
    bring(true);
    wait_for_carrier();
    vectors = set_affinity();
    roi_warm();
    roi_begin();
    cycles[0] = roi_cycles();

    /* Members of the result, from several processes, each of which writes at its end. */
    out = tmpfile();
    if (!out)
        die("no temporary file");
    settled();
    received(before);
    work = fork();
    if (work == 0) {
        run_processes(core_count + 1, echo_process, out);
        _exit(0);
    }
    if (work < 0 || waitpid(work, &status, 0) != work || status != 0)
        die("the datagrams failed");
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
    cycles[0] = roi_cycles() - cycles[0];
    for (unsigned i = 1; i < core_count; i++)
        cycles[i] = cycles[0];

    const struct statistics all = settled();

    bring(false);
    of_queues(&all, "rx_queue_%u_packet%c", after);
    roi_print_list(out, "rx_queues", after, core_count);
    of_queues(&all, "tx_queue_%u_packet%c", after);
    roi_print_list(out, "tx_queues", after, core_count);
    /* A line that is much longer is more than the kernel lets the serial line do at a time. */
    fputs(",\"statistics\":{", out);
    for (unsigned i = 0, shown = 0; i < all.count; i++)
        if (all.values[i] != 0 && !strstr(all.names[i], "_queue_"))
            fprintf(out, "%s\"%.*s\":%llu", shown++ ? "," : "", ETH_GSTRING_LEN, all.names[i], (unsigned long long)all.values[i]);
    fputc('}', out);
    fflush(out);
    size = (size_t)ftell(out);
    members = calloc(1, size + 1);
    rewind(out);
    if (!members || fread(members, 1, size, out) != size)
        die("cannot read the temporary file");
    for (unsigned i = 0; i < core_count; i++)
        right &= answered[i] == requests;
    const struct roi_result result = {
        .units = core_count * requests,
        .unit = "datagrams",
        .cores = core_count,
        .per_core = answered,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = right,
        .detail = "each core answered its datagrams",
    };
    return roi_result(&result) ? 0 : 1;
}
