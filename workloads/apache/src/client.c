/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Load generator for Apache: one client on each core asks for one file again and again, each time over a connection of its own.
 *
 * A client has P_CONNECTIONS connections open. It waits for the reply on the oldest, compares it, and opens another one in its
 * place. The server closes a connection when it has replied. A connection that ends without a whole reply counts as dropped and
 * its request is made again; a reply that takes longer than LATE_US counts as late, and is waited for.
 *
 * With P_LOAD=card the clients are other machines, behind the network card: this program orders what they do, and what they
 * count is the result. A request that they give up stays a dropped one.
 */
#define _GNU_SOURCE
#include "card.h"
#include "roi.h"
#include "workers.h"

#include <ctype.h>
#include <dirent.h>

#define LATE_US 500000
#define MAX_WAITS 120  /* of LATE_US for one reply: then the server is taken for dead */
#define MAX_DROPPED 60 /* attempts at one request */
#define START_TRIES 3000
#define START_WAIT_US 20000 /* between them: a minute for the server to come up */
#define MAX_CONNECTIONS 128
#define MAX_FILE 4096

/* Of one client, in memory that all share. */
struct client {
    _Alignas(128) uint64_t units, cycles;
    uint64_t replies;       /* right ones, before the region and in it */
    uint64_t dropped, late; /* in the region */
    uint64_t wrong;         /* replies that are not the file */
};

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t requests, warmup, connections, threads, first_port;
static bool one_instance;
static char file[MAX_FILE];
static size_t file_bytes;
static struct sleeping_place *place;
static struct client *clients;

static const char request[] = "GET /file.txt HTTP/1.1\r\nHost: mosbench\r\n\r\n";

static void read_reference(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, file, sizeof(file));

    if (bytes <= 0)
        die("cannot read %s", path);
    file_bytes = (size_t)bytes;
    close(fd);
}

/* A new connection that carries the request, or -1. */
static int try_to_ask(uint64_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct timeval timeout = {.tv_usec = LATE_US};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)))
        die("no socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL) == sizeof(request) - 1)
        return fd;
    close(fd);
    return -1;
}

static int ask(unsigned index, uint64_t port)
{
    for (unsigned tries = 0; tries < MAX_DROPPED; tries++) {
        int fd = try_to_ask(port);

        if (fd >= 0)
            return fd;
        clients[index].dropped++;
        usleep(LATE_US / 10);
    }
    die("client %u: port %lu takes no connection", index, port);
}

/* Is that a whole reply with status 200 and the file as its body? */
static bool is_file(const char *reply, size_t bytes)
{
    const char *status = "HTTP/1.1 200 OK\r\n", *body = memmem(reply, bytes, "\r\n\r\n", 4);

    return bytes > strlen(status) && memcmp(reply, status, strlen(status)) == 0 && body &&
           (size_t)(reply + bytes - (body + 4)) == file_bytes && memcmp(body + 4, file, file_bytes) == 0;
}

/* Read the reply until the server closes the connection. Returns false if the connection broke, or ended before any byte came. */
static bool take_reply(int fd, unsigned index)
{
    char reply[2 * MAX_FILE];
    size_t used = 0;

    for (unsigned waits = 0;;) {
        ssize_t bytes = recv(fd, reply + used, sizeof(reply) - used, 0);

        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0 && errno == EAGAIN) {
            clients[index].late += waits == 0;
            errno = 0;
            if (++waits == MAX_WAITS)
                die("client %u had no reply to a request for %d s", index, MAX_WAITS * (LATE_US / 1000) / 1000);
            continue;
        }
        if (bytes <= 0)
            break;
        used += (size_t)bytes;
        if (used == sizeof(reply)) /* far too long */
            break;
    }
    close(fd);
    if (used == 0)
        return false;
    if (is_file(reply, used))
        clients[index].replies++;
    else
        clients[index].wrong++;
    return true;
}

static void ask_all(unsigned index, uint64_t port, uint64_t count)
{
    int open_connections[MAX_CONNECTIONS];
    uint64_t asked = 0;

    for (; asked < count && asked < connections; asked++)
        open_connections[asked] = ask(index, port);
    for (uint64_t taken = 0; taken < count; taken++) {
        int *oldest = &open_connections[taken % connections];

        for (unsigned tries = 0; !take_reply(*oldest, index); tries++) {
            clients[index].dropped++;
            if (tries == MAX_DROPPED)
                die("client %u: connections to port %lu end without a reply", index, port);
            *oldest = ask(index, port);
        }
        if (asked < count) {
            *oldest = ask(index, port);
            asked++;
        }
    }
}

static void client_main(unsigned index, void *argument)
{
    struct client *client = &clients[index];
    uint64_t port = first_port + (one_instance ? 0 : index), begin;

    (void)argument;
    pin(cores[index]);
    meet_asleep(place, core_count, 1, roi_warm);
    ask_all(index, port, warmup);
    client->dropped = client->late = 0;
    meet_asleep(place, core_count, 2, roi_begin);
    begin = roi_cycles();
    ask_all(index, port, requests);
    client->cycles = roi_cycles() - begin;
    client->units = requests;
    meet_asleep(place, core_count, 3, roi_end);
}

/* Number in the first line of a file, or -1. */
static long number_in(const char *path)
{
    FILE *in = fopen(path, "re");
    long number;

    if (!in)
        return -1;
    if (fscanf(in, "%ld", &number) != 1)
        number = -1;
    fclose(in);
    return number;
}

/* Parent of a process, or -1 if there is no such process. */
static long parent_of(long process)
{
    char path[64], text[512], *end;
    long parent = -1;
    FILE *in;

    snprintf(path, sizeof(path), "/proc/%ld/stat", process);
    in = fopen(path, "re");
    if (!in)
        return -1;
    if (fgets(text, sizeof(text), in) && (end = strrchr(text, ')')) != NULL)
        sscanf(end + 1, " %*c %ld", &parent);
    fclose(in);
    return parent;
}

static unsigned entries_with_numbers(const char *path, long *numbers, unsigned room)
{
    DIR *folder = opendir(path);
    unsigned count = 0;

    if (!folder) /* a process that has just ended */
        return 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]) && count < room)
            numbers[count++] = atol(entry->d_name);
    closedir(folder);
    return count;
}

/* Pin the children of the one instance to a core each. Returns false while they are not all there with all their threads. */
static bool pin_children(long parent)
{
    static long processes[1 << 15];
    long tasks[MAX_WORKERS];
    unsigned count = entries_with_numbers("/proc", processes, sizeof(processes) / sizeof(processes[0])), children = 0;

    for (unsigned i = 0; i < count; i++) {
        char path[64];

        if (parent_of(processes[i]) != parent)
            continue;
        snprintf(path, sizeof(path), "/proc/%ld/task", processes[i]);
        unsigned task_count = entries_with_numbers(path, tasks, MAX_WORKERS);

        /* The workers, the one that accepts, and the first one, which waits for signals. The one that creates them ends. */
        if (task_count != threads + 2 || children == core_count)
            return false;
        for (unsigned task = 0; task < task_count; task++) {
            cpu_set_t set;

            CPU_ZERO(&set);
            CPU_SET((size_t)cores[children], &set);
            if (sched_setaffinity((pid_t)tasks[task], sizeof(set), &set))
                return false;
        }
        children++;
    }
    return children == core_count;
}

/* Wait until every instance accepts connections, and the one that has several processes has each on a core of its own. */
static void await_servers(void)
{
    unsigned tries = 0;

    for (unsigned i = 0; i < (one_instance ? 1 : core_count); i++) {
        uint64_t port = first_port + i;
        char path[64];
        int fd;

        for (; (fd = try_to_ask(port)) < 0; usleep(START_WAIT_US))
            if (++tries > START_TRIES)
                die("no server comes up on port %lu", port);
        take_reply(fd, 0);
        snprintf(path, sizeof(path), "apache-%lu.pid", port);
        for (; one_instance && !pin_children(number_in(path)); usleep(START_WAIT_US))
            if (++tries > START_TRIES) {
                errno = 0;
                die("the instance of %s never had %u processes with %lu threads each", path, core_count, threads + 2);
            }
    }
    clients[0].replies = clients[0].wrong = clients[0].late = 0;
    errno = 0;
}

/* Lines of the servers' error log that are more than a notice (each start is one, at any log level). */
static uint64_t logged_errors(void)
{
    FILE *in = fopen("apache-errors.log", "re");
    char line[1024];
    uint64_t count = 0;

    if (!in)
        die("there is no apache-errors.log");
    while (fgets(line, sizeof(line), in))
        if (!strstr(line, ":notice] ")) {
            count++;
            fprintf(stderr, "%s", line);
        }
    fclose(in);
    return count;
}

static int report_of(const struct roi_result *result)
{
    if (!roi_result(result))
        die("cannot write the result");
    return 0;
}

/* FNV-1a. */
static uint32_t hash_of(const char *bytes, size_t count)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * 16777619u;
    return hash;
}

/* The clients are behind the card: only the whole is known, not what each core did. */
static int main_behind_card(void)
{
    const unsigned servers = one_instance ? 1 : core_count;
    static struct card_result warm, all;
    static struct card_region region;
    uint64_t errors;
    char detail[400];
    int load;

    await_servers();
    card_bring_up(cores, core_count);
    load = card_load();
    card_before_others();
    roi_warm();
    card_order(load, "http flow=1 connections=%lu ports=%u first_port=%lu requests=%lu late_ns=%lu body_bytes=%zu body_hash=%u",
               connections * core_count, servers, first_port, warmup * core_count / servers, LATE_US * 1000ul, file_bytes,
               hash_of(file, file_bytes));
    card_result_of(load, &warm);
    card_flow_region(load, requests * core_count / servers, "", &region);
    card_order(load, "again requests=0 flow=0");

    card_add(&all, &warm);
    card_add(&all, &region.result);
    card_add(&all, &region.after);
    errors = logged_errors();
    snprintf(detail, sizeof(detail),
             "%lu right replies of %zu bytes, %lu wrong ones; %lu connections dropped and %lu replies later than %d ms in the "
             "region; %lu errors in the servers' log",
             all.right, file_bytes, all.wrong, region.result.dropped, region.result.late, LATE_US / 1000, errors);
    return report_of(&(struct roi_result){
        .units = region.units,
        .unit = "requests",
        .cores = 1,
        .per_core = &region.units,
        .cycles_per_core = &region.cycles,
        .members = card_members(&region.result),
        .checked = card_right(&warm) && card_right(&region.result) && all.wrong == 0 && errors == 0,
        .detail = detail,
    });
}

int main(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t total = 0, replies = 0, dropped = 0, late = 0, wrong = 0;
    char members[64], detail[400];

    core_count = read_cores(cores);
    requests = number_setting("P_REQUESTS");
    warmup = number_setting("P_WARMUP");
    connections = number_setting("P_CONNECTIONS");
    threads = number_setting("P_THREADS");
    first_port = number_setting("APACHE_FIRST_PORT");
    one_instance = strcmp(text_setting("MOSBENCH_VARIANT"), "one-instance") == 0;
    if (connections == 0 || connections > MAX_CONNECTIONS)
        die("P_CONNECTIONS=%lu is not between 1 and %d", connections, MAX_CONNECTIONS);
    if (threads + 2 > MAX_WORKERS)
        die("P_THREADS=%lu is more than %d", threads, MAX_WORKERS - 2);
    read_reference(text_setting("APACHE_REFERENCE"));
    place = shared_memory(sizeof(*place));
    clients = shared_memory(core_count * sizeof(*clients));
    if (card_wanted())
        return main_behind_card();
    await_servers();
    run_processes(core_count, client_main, NULL);

    for (unsigned i = 0; i < core_count; i++) {
        units[i] = clients[i].units;
        cycles[i] = clients[i].cycles;
        total += clients[i].units;
        replies += clients[i].replies;
        dropped += clients[i].dropped;
        late += clients[i].late;
        wrong += clients[i].wrong;
    }
    uint64_t errors = logged_errors();

    snprintf(
        detail, sizeof(detail),
        "%lu right replies of %zu bytes, %lu wrong ones; %lu connections dropped and %lu replies later than %d ms in the region; "
        "%lu errors in the servers' log",
        replies, file_bytes, wrong, dropped, late, LATE_US / 1000, errors);
    snprintf(members, sizeof(members), "\"dropped\":%lu,\"late\":%lu", dropped, late);
    return report_of(&(struct roi_result){
        .units = total,
        .unit = "requests",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = wrong == 0 && replies == core_count * (warmup + requests) && errors == 0,
        .detail = detail,
    });
}
