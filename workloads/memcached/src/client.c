/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Load generator for memcached: one client on each core asks for keys that are not there, over UDP, in batches.
 *
 * A frame of memcached over UDP begins with four 16-bit numbers in network order: request, datagram of it, datagrams in all, 0.
 * Replies are matched by the request's number, so that one that comes after its time-out is not taken for another's. A request
 * without a reply after 100 ms is sent again. Every reply must be exactly "END\r\n".
 *
 * With P_LOAD=card the clients are other machines, behind the network card: this program orders what they do, and what they
 * count is the result. A request that they give up stays a dropped one.
 */
#define _GNU_SOURCE
#include "card.h"
#include "roi.h"
#include "workers.h"

#define KEY_BYTES 12 /* makes the request's Ethernet frame 68 bytes long: 14 + 20 + 8 + 8 + "get " + key + "\r\n" */
#define TIMEOUT_US 100000
#define MAX_BATCH 256
#define MAX_TRIES 200 /* of one batch: 20 s without an answer, and the server is taken for dead */

struct frame {
    uint16_t request, datagram, datagrams, reserved;
    char text[1400];
};
#define HEADER_BYTES 8
#define MAX_PIECES 8 /* datagrams of a reply to `stats` */

/* Of one client, in memory that all share. */
struct client {
    _Alignas(128) uint64_t units, cycles;
    uint64_t sent, replies; /* in all, before the region and in it */
    uint64_t dropped, late; /* in the region: requests without a reply in time, and replies to requests already answered */
    uint64_t wrong;         /* replies that were not END */
    bool lose_reply;        /* a fault for tests: the next reply is thrown away, and not asked for again */
};

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t batch, requests, warmup, port;
static bool shared_server;
static struct meeting_place *places;
static struct sleeping_place *start_line, *finish_line;
static struct client *clients;

static int connect_to(uint64_t server_port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)server_port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct timeval timeout = {.tv_usec = TIMEOUT_US};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
        connect(fd, (struct sockaddr *)&address, sizeof(address)))
        die("no socket to the server on port %lu", server_port);
    return fd;
}

/* Ask for a key of this client that nobody has stored. */
static bool send_get(int fd, unsigned index, uint16_t request)
{
    struct frame frame = {.request = htons(request), .datagrams = htons(1)};
    int length = snprintf(frame.text, sizeof(frame.text), "get c%03u-%0*u\r\n", index, KEY_BYTES - 5, request);

    clients[index].sent++;
    return send(fd, &frame, HEADER_BYTES + (size_t)length, 0) == HEADER_BYTES + length;
}

static bool is_end(const struct frame *frame, ssize_t bytes)
{
    return bytes == HEADER_BYTES + 5 && frame->datagram == 0 && ntohs(frame->datagrams) == 1 &&
           memcmp(frame->text, "END\r\n", 5) == 0;
}

/* Send `count` requests numbered from `first` and wait for all their replies. */
static void ask(int fd, unsigned index, uint16_t first, unsigned count)
{
    struct client *client = &clients[index];
    bool answered[MAX_BATCH] = {false};
    unsigned missing = count;
    struct frame frame;

    for (unsigned i = 0; i < count; i++)
        send_get(fd, index, (uint16_t)(first + i)); /* one that fails is one without a reply */
    for (unsigned tries = 0; missing > 0;) {
        ssize_t bytes = recv(fd, &frame, sizeof(frame), 0);
        unsigned which = (uint16_t)(ntohs(frame.request) - first);

        if (bytes < 0) { /* nothing for 100 ms; or nobody listens there yet, which is refused at once */
            if (errno == ECONNREFUSED)
                usleep(TIMEOUT_US);
            else if (errno != EAGAIN && errno != EINTR)
                die("cannot receive replies");
            if (++tries == MAX_TRIES) {
                errno = 0;
                die("client %u had no reply to %u requests after %d tries", index, missing, MAX_TRIES);
            }
            for (unsigned i = 0; i < count; i++)
                if (!answered[i]) {
                    send_get(fd, index, (uint16_t)(first + i));
                    client->dropped++;
                }
        } else if (bytes < HEADER_BYTES || which >= count || answered[which]) {
            client->late++;
        } else if (client->lose_reply) {
            client->lose_reply = false;
            answered[which] = true;
            missing--;
        } else {
            client->wrong += !is_end(&frame, bytes);
            client->replies++;
            answered[which] = true;
            missing--;
        }
    }
}

static void ask_all(int fd, unsigned index, uint16_t *next, uint64_t count)
{
    while (count > 0) {
        unsigned now = (unsigned)(count < batch ? count : batch);

        ask(fd, index, *next, now);
        *next = (uint16_t)(*next + now);
        count -= now;
    }
}

static void client_main(unsigned index, void *argument)
{
    struct client *client = &clients[index];
    uint16_t next = 0;
    uint64_t begin, end;
    int fd;

    (void)argument;
    pin(cores[index]);
    fd = connect_to(port + (shared_server ? 0 : index));
    ask_all(fd, index, &next, 1); /* the server is up */
    meet_first(start_line, places, core_count, index, roi_warm);
    ask_all(fd, index, &next, warmup);
    client->dropped = client->late = 0;
    client->lose_reply = index == 0 && strcmp(text_setting("P_FAULT"), "drop-reply") == 0;
    meet(places, core_count, index, 2, roi_begin);
    begin = roi_cycles();
    ask_all(fd, index, &next, requests);
    end = roi_cycles();
    meet_asleep(finish_line, core_count, 1, roi_end);
    client->units = requests;
    client->cycles = end - begin;
}

/* A number of a server's statistics; the reply may be several datagrams, in any order. */
static uint64_t statistic(const char *statistics, const char *name)
{
    char wanted[64];
    const char *found;

    snprintf(wanted, sizeof(wanted), "STAT %s ", name);
    found = strstr(statistics, wanted);
    errno = 0;
    if (!found)
        die("the server's statistics have no %s", name);
    return strtoull(found + strlen(wanted), NULL, 10);
}

static void read_statistics(int fd, char *text, size_t room)
{
    struct frame frame = {.request = htons(0xfffe), .datagrams = htons(1), .text = "stats\r\n"}, pieces[MAX_PIECES];
    size_t lengths[MAX_PIECES] = {0}, used = 0;
    unsigned seen = 0, datagrams = 1;

    if (send(fd, &frame, HEADER_BYTES + 7, 0) < 0)
        die("cannot ask for statistics");
    while (seen < datagrams) {
        ssize_t bytes = recv(fd, &frame, sizeof(frame), 0);
        unsigned which = ntohs(frame.datagram);

        if (bytes < 0)
            die("no statistics from the server");
        if (bytes <= HEADER_BYTES || frame.request != htons(0xfffe))
            continue;
        datagrams = ntohs(frame.datagrams);
        if (which >= MAX_PIECES || lengths[which])
            die("a datagram of the statistics came twice or is number %u", which);
        pieces[which] = frame;
        lengths[which] = (size_t)bytes - HEADER_BYTES;
        seen++;
    }
    for (unsigned i = 0; i < datagrams; i++) {
        if (used + lengths[i] >= room)
            die("the statistics do not fit into %zu bytes", room);
        memcpy(text + used, pieces[i].text, lengths[i]);
        used += lengths[i];
    }
    text[used] = '\0';
}

/* The servers' own counts must agree: nothing found, and as many misses as replies, more only where requests were sent again. */
static bool servers_agree(uint64_t replies, uint64_t sent, char *detail, size_t room)
{
    static char text[16384];
    uint64_t hits = 0, misses = 0;

    for (unsigned i = 0; i < (shared_server ? 1 : core_count); i++) {
        int fd = connect_to(port + i);

        read_statistics(fd, text, sizeof(text));
        hits += statistic(text, "get_hits");
        misses += statistic(text, "get_misses");
        close(fd);
    }
    snprintf(detail, room, "servers count %lu hits and %lu misses of %lu requests sent, %lu replies came", hits, misses, sent,
             replies);
    return hits == 0 && misses >= replies && misses <= sent;
}

static int report_of(const struct roi_result *result)
{
    if (!roi_result(result))
        die("cannot write the result");
    return 0;
}

/* The clients are behind the card: only the whole is known, not what each core did. */
static int main_behind_card(void)
{
    const unsigned servers = shared_server ? 1 : core_count;
    static struct card_result warm, rest, all;
    static struct card_region region;
    char said[200], detail[400];
    int load;

    card_bring_up(cores, core_count);
    for (unsigned i = 0; i < servers; i++) { /* it is up */
        int fd = connect_to(port + i);

        ask(fd, i, 0, 1);
        all.sent += clients[i].sent;
        all.right++;
        close(fd);
    }
    load = card_load();
    card_before_others();
    roi_warm();
    card_order(load, "memcached flow=1 connections=%lu ports=%u first_port=%lu batch=%lu requests=%lu",
               number_setting("P_CONNECTIONS") * core_count, servers, port, batch, warmup * core_count / servers);
    card_result_of(load, &warm);
    card_flow_region(load, requests * core_count / servers,
                     strcmp(text_setting("P_FAULT"), "drop-reply") == 0 ? "ignore=1" : "ignore=0", &region);
    card_order(load, "again requests=0 flow=0 ignore=0");
    card_result_of(load, &rest); /* what was under way: the servers have counted it, and what they lost before is given up now */

    card_add(&all, &warm);
    card_add(&all, &region.result);
    card_add(&all, &region.after);
    card_add(&all, &rest);
    bool agree = servers_agree(all.right, all.sent, said, sizeof(said));

    snprintf(detail, sizeof(detail),
             "%lu requests without a reply in time and %lu late replies in the region; %lu wrong replies; %s",
             region.result.dropped, region.result.late, all.wrong, said);
    return report_of(&(struct roi_result){
        .units = region.units,
        .unit = "requests",
        .cores = 1,
        .per_core = &region.units,
        .cycles_per_core = &region.cycles,
        .members = card_members(&region.result),
        .checked = card_right(&warm) && card_right(&region.result) && all.wrong == 0 && agree,
        .detail = detail,
    });
}

int main(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t total = 0, sent = 0, replies = 0, dropped = 0, late = 0, wrong = 0;
    char servers[200], detail[400], members[120];

    core_count = read_cores(cores);
    batch = number_setting("P_BATCH");
    requests = number_setting("P_REQUESTS");
    warmup = number_setting("P_WARMUP");
    port = number_setting("MEMCACHED_PORT");
    shared_server = strcmp(text_setting("MOSBENCH_VARIANT"), "shared") == 0;
    if (batch == 0 || batch > MAX_BATCH)
        die("P_BATCH=%lu is not between 1 and %d", batch, MAX_BATCH);
    places = shared_memory(core_count * sizeof(*places));
    clients = shared_memory(core_count * sizeof(*clients));
    if (card_wanted())
        return main_behind_card();
    start_line = shared_memory(sizeof(*start_line));
    finish_line = shared_memory(sizeof(*finish_line));
    run_processes(core_count, client_main, NULL);

    for (unsigned i = 0; i < core_count; i++) {
        units[i] = clients[i].units;
        cycles[i] = clients[i].cycles;
        total += clients[i].units;
        sent += clients[i].sent;
        replies += clients[i].replies;
        dropped += clients[i].dropped;
        late += clients[i].late;
        wrong += clients[i].wrong;
    }
    bool agree = servers_agree(replies, sent, servers, sizeof(servers));

    snprintf(detail, sizeof(detail),
             "%lu requests without a reply in time and %lu late replies in the region; %lu wrong replies; %s", dropped, late,
             wrong, servers);
    snprintf(members, sizeof(members), "\"dropped\":%lu,\"late\":%lu", dropped, late);
    return report_of(&(struct roi_result){
        .units = total,
        .unit = "requests",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = wrong == 0 && agree && replies == core_count * (1 + warmup + requests),
        .detail = detail,
    });
}
