/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Load generator for Exim: P_CLIENTS clients on each core, or P_ALL_CLIENTS on all of them, send mail over SMTP, each to a user
 * of its own.
 *
 * A client opens a connection, sends P_MESSAGES messages of 20 bytes one after another, closes it, and opens the next one. A
 * connection that breaks counts as dropped, and what Exim has not accepted in it is sent in the next one; a reply that takes
 * longer than LATE_US counts as late, and is waited for.
 *
 * The region is the time between two counts of messages that Exim has accepted of all clients, and clients send without a pause
 * before it, in it and for as long as it lasts: no core waits at either end for others, or for the last delivery. What is
 * delivered in it of earlier messages is as much as what is left of its own.
 */
#define _GNU_SOURCE
#include "roi.h"
#include "workers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#define MOST_MESSAGES 10 /* in a connection; Exim only queues those past ten */
#define USERS 96         /* that the image has: user00 to user95 */
#define LATE_US 500000
#define MAX_WAITS 120  /* of LATE_US for one reply: then the server is taken for dead */
#define MAX_DROPPED 60 /* connections of one client that break, one after another */
#define POLL_US 250    /* between two looks at a file that Exim writes */
#define LOST_US 500000 /* without anything new in it: what is missing is lost */

/* Of one client, in memory that all share. */
struct client {
    _Alignas(128) uint64_t units; /* accepted by Exim in the region */
    uint64_t sent;                /* and before, in and after it */
    uint64_t dropped, late;       /* in the region */
    uint64_t missing, wrong;      /* messages not in the mail file, and those there twice or with other content */
};

/* What has been read of a file that grows. */
struct follower {
    int fd;
    size_t used; /* of the last, unfinished line */
    char line[2048];
};

/* Lines of Exim's main log. */
struct log {
    struct follower follower;
    uint64_t received, delivered, completed, other;
};

static int cores[MAX_WORKERS];
static unsigned core_count, client_count;
static uint64_t connections, per_connection, warmup, port;
static struct sleeping_place *place;
static struct client *clients;

/* Messages that Exim has accepted of all clients, and the time stamps of the region's ends. */
static struct region {
    _Alignas(128) uint64_t accepted, begin, end;
} *region;
static uint64_t first, last; /* counts of accepted messages at which the region begins and ends */

/* Call `take` for each line that was added to a file since the last time. Returns whether there were any. */
static bool follow(struct follower *follower, const char *path, void (*take)(const char *line, void *argument), void *argument)
{
    bool any = false;

    if (follower->fd <= 0) {
        follower->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (follower->fd < 0) {
            if (errno != ENOENT)
                die("cannot read %s", path);
            errno = 0;
            return false;
        }
    }
    for (;;) {
        ssize_t bytes = read(follower->fd, follower->line + follower->used, sizeof(follower->line) - follower->used);
        char *start = follower->line, *end;

        if (bytes < 0)
            die("cannot read %s", path);
        if (bytes == 0)
            return any;
        any = true;
        follower->used += (size_t)bytes;
        while ((end = memchr(start, '\n', follower->used - (size_t)(start - follower->line))) != NULL) {
            *end = '\0';
            take(start, argument);
            start = end + 1;
        }
        follower->used -= (size_t)(start - follower->line);
        if (follower->used == sizeof(follower->line))
            die("%s has a line longer than %zu bytes", path, sizeof(follower->line));
        memmove(follower->line, start, follower->used);
    }
}

/* Each line begins with date, time and message identifier; the flag comes next. */
static void take_log_line(const char *line, void *argument)
{
    struct log *log = argument;

    if (strstr(line, " <= "))
        log->received++;
    else if (strstr(line, " => ") && strstr(line, " T=local_delivery"))
        log->delivered++;
    else if (strlen(line) > 10 && strcmp(line + strlen(line) - 10, " Completed") == 0)
        log->completed++;
    else if (!strstr(line, " daemon started: ")) {
        if (log->other++ < 5)
            fprintf(stderr, "Exim's log: %s\n", line);
    }
}

static void nap(unsigned microseconds)
{
    const struct timespec time = {.tv_nsec = (long)microseconds * 1000};

    nanosleep(&time, NULL);
    errno = 0;
}

/* Follow Exim's log until it has `messages` completed, or nothing more comes. */
static void await_completed(struct log *log, uint64_t messages)
{
    for (uint64_t idle = 0; log->completed < messages && idle < LOST_US; idle += POLL_US)
        if (follow(&log->follower, "log/mainlog", take_log_line, log))
            idle = 0;
        else
            nap(POLL_US);
}

static uint64_t accepted(void)
{
    return __atomic_load_n(&region->accepted, __ATOMIC_SEQ_CST);
}

static bool in_region(void)
{
    uint64_t count = accepted();

    return count >= first && count < last;
}

/* Exim has accepted a message of a client; the first and the last one of the region mark it. */
static void count_accepted(struct client *client)
{
    uint64_t number = __atomic_add_fetch(&region->accepted, 1, __ATOMIC_SEQ_CST);

    client->sent++;
    if (number == first) {
        roi_begin();
        region->begin = roi_cycles();
    }
    client->units += number > first && number <= last;
    if (number == last) {
        region->end = roi_cycles();
        roi_end();
    }
}

/* A line of the server's reply whose code is `code`, or false: another one, or the connection broke. */
static bool expect(int fd, unsigned index, const char *code)
{
    char reply[1024];
    size_t used = 0;

    for (unsigned waits = 0;;) {
        ssize_t bytes = recv(fd, reply + used, sizeof(reply) - 1 - used, 0);

        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0 && errno == EAGAIN) {
            clients[index].late += waits == 0 && in_region();
            errno = 0;
            if (++waits == MAX_WAITS)
                die("client %u had no reply from Exim for %d s", index, MAX_WAITS * (LATE_US / 1000) / 1000);
            continue;
        }
        if (bytes <= 0)
            return false;
        used += (size_t)bytes;
        if (reply[used - 1] == '\n' || used == sizeof(reply) - 1)
            break;
    }
    reply[used] = '\0';
    if (strncmp(reply, code, strlen(code)) == 0)
        return true;
    fprintf(stderr, "client %u: Exim replied %s", index, reply);
    return false;
}

static bool say(int fd, unsigned index, const char *text, const char *code)
{
    ssize_t length = (ssize_t)strlen(text);

    return send(fd, text, (size_t)length, MSG_NOSIGNAL) == length && expect(fd, index, code);
}

/* 20 bytes with the end of the line. */
static void write_message(char *text, size_t room, uint64_t number)
{
    snprintf(text, room, "message %06lu sent", number);
}

/* Exim 4.96 holds its reply to QUIT back for 200 ms unless the client closes its side at once, as most do. */
static bool quit(int fd, unsigned index)
{
    return send(fd, "QUIT\r\n", 6, MSG_NOSIGNAL) == 6 && shutdown(fd, SHUT_WR) == 0 && expect(fd, index, "221 ");
}

static bool send_message(int fd, unsigned index, uint64_t number)
{
    char recipient[64], text[64], content[96];

    snprintf(recipient, sizeof(recipient), "RCPT TO:<user%02u@mosbench>\r\n", index);
    write_message(text, sizeof(text), number);
    snprintf(content, sizeof(content), "\r\n%s\r\n.\r\n", text);
    return say(fd, index, "MAIL FROM:<sender@mosbench>\r\n", "250 ") && say(fd, index, recipient, "250 ") &&
           say(fd, index, "DATA\r\n", "354 ") && say(fd, index, content, "250 ");
}

/* A connection after the greeting, or -1. */
static int open_connection(unsigned index)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct timeval timeout = {.tv_usec = LATE_US};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
        die("no socket");
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && expect(fd, index, "220 ") &&
        say(fd, index, "HELO mosbench\r\n", "250 "))
        return fd;
    close(fd);
    return -1;
}

/* Send the client's next `count` messages in one connection, or, if it breaks, in several; fewer when the region is over. */
static void send_messages(unsigned index, unsigned count)
{
    struct client *client = &clients[index];

    for (unsigned broken = 0; count > 0; broken++) {
        int fd;

        if (broken == MAX_DROPPED) {
            errno = 0;
            die("client %u: %d connections to Exim broke", index, MAX_DROPPED);
        }
        if (broken > 0) {
            client->dropped += in_region();
            usleep(LATE_US / 10);
        }
        fd = open_connection(index);
        if (fd < 0)
            continue;
        while (count > 0 && accepted() < last && send_message(fd, index, client->sent)) {
            count_accepted(client);
            count--;
        }
        if (accepted() >= last)
            count = 0;
        if (count == 0 && !quit(fd, index))
            client->dropped += in_region();
        close(fd);
    }
}

static void count_separator(const char *line, void *argument)
{
    if (strncmp(line, "From ", 5) == 0)
        ++*(uint64_t *)argument;
}

/* Wait until the client's mail file has all that it sent. */
static void await_delivered(unsigned index)
{
    struct follower follower = {0};
    uint64_t delivered = 0;
    char path[64];

    snprintf(path, sizeof(path), "mail/user%02u", index);
    for (uint64_t idle = 0; delivered < clients[index].sent && idle < LOST_US; idle += POLL_US)
        if (follow(&follower, path, count_separator, &delivered))
            idle = 0;
        else
            nap(POLL_US);
    if (follower.fd > 0)
        close(follower.fd);
}

static void client_main(unsigned index, void *argument)
{
    (void)argument;
    pin(cores[index % core_count]);
    meet_asleep(place, client_count, 1, roi_warm);
    while (accepted() < last)
        send_messages(index, (unsigned)per_connection);
    await_delivered(index);
}

struct mail_file {
    uint8_t *seen; /* times that each message was found */
    uint64_t sent, wrong;
};

static void take_mail_line(const char *line, void *argument)
{
    struct mail_file *file = argument;
    char expected[64];
    unsigned long number;

    if (strncmp(line, "message ", 8) || sscanf(line, "message %lu", &number) != 1)
        return; /* a header */
    write_message(expected, sizeof(expected), number);
    if (number >= file->sent || strcmp(line, expected))
        file->wrong++;
    else if (file->seen[number] < UINT8_MAX)
        file->seen[number]++;
}

/* Compare a user's mail file with what the client sent. */
static void check_mail_file(unsigned index)
{
    struct client *client = &clients[index];
    struct mail_file file = {.seen = calloc(client->sent + 1, 1), .sent = client->sent};
    struct follower follower = {0};
    uint64_t messages = 0;
    char path[64];

    if (!file.seen)
        die("no memory");
    snprintf(path, sizeof(path), "mail/user%02u", index);
    follow(&follower, path, take_mail_line, &file);
    if (follower.fd > 0)
        close(follower.fd);
    follower = (struct follower){0};
    follow(&follower, path, count_separator, &messages);
    if (follower.fd > 0)
        close(follower.fd);
    for (uint64_t i = 0; i < client->sent; i++) {
        client->missing += file.seen[i] == 0;
        client->wrong += file.seen[i] > 1;
    }
    client->wrong += file.wrong + (messages > client->sent ? messages - client->sent : 0);
    free(file.seen);
}

static void await_server(void)
{
    int fd = -1;

    for (unsigned tries = 0; tries < 3000 && (fd = open_connection(0)) < 0; tries++)
        usleep(20000);
    if (fd < 0)
        die("no Exim comes up on port %lu", port);
    quit(fd, 0);
    close(fd);
    errno = 0;
}

int main(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t total = 0, sent = 0, dropped = 0, late = 0, missing = 0, wrong = 0;
    static struct log log;
    struct stat other;
    char members[64], detail[512];
    uint64_t all;

    core_count = read_cores(cores);
    connections = number_setting("P_CONNECTIONS");
    per_connection = number_setting("P_MESSAGES");
    warmup = number_setting("P_WARMUP");
    all = number_setting("P_ALL_CLIENTS");
    port = number_setting("EXIM_PORT");
    if (all == 0)
        all = core_count * number_setting("P_CLIENTS");
    if (all < core_count || all > USERS)
        die("%u cores cannot have %lu clients: each core has one, and the image %d users of mail", core_count, all, USERS);
    client_count = (unsigned)all;
    first = client_count * warmup;
    last = first + client_count * connections * per_connection;
    if (warmup == 0 || connections == 0)
        die("P_WARMUP=%lu and P_CONNECTIONS=%lu must be at least 1", warmup, connections);
    if (per_connection == 0 || per_connection > MOST_MESSAGES)
        die("P_MESSAGES=%lu must be 1 to %d", per_connection, MOST_MESSAGES);
    place = shared_memory(sizeof(*place));
    clients = shared_memory(client_count * sizeof(*clients));
    region = shared_memory(sizeof(*region));
    await_server();
    run_processes(client_count, client_main, NULL);
    for (unsigned i = 0; i < client_count; i++)
        sent += clients[i].sent;
    await_completed(&log, sent); /* then the mail files are whole */

    for (unsigned i = 0; i < client_count; i++) {
        unsigned core = i % core_count;

        check_mail_file(i);
        units[core] += clients[i].units;
        cycles[core] = region->end - region->begin;
        total += clients[i].units;
        dropped += clients[i].dropped;
        late += clients[i].late;
        missing += clients[i].missing;
        wrong += clients[i].wrong;
    }
    bool panicked = stat("log/paniclog", &other) == 0 || stat("log/rejectlog", &other) == 0;
    bool clean = log.received == sent && log.delivered == sent && log.completed == sent && log.other == 0 && !panicked;

    snprintf(
        detail, sizeof(detail),
        "of %lu messages %lu are missing and %lu are wrong in the mail files; %lu connections dropped and %lu replies later than "
        "%d ms in the region; Exim's log has %lu received, %lu delivered, %lu completed, %lu other lines%s",
        sent, missing, wrong, dropped, late, LATE_US / 1000, log.received, log.delivered, log.completed, log.other,
        panicked ? ", and there is a panic or reject log" : "");
    snprintf(members, sizeof(members), "\"dropped\":%lu,\"late\":%lu", dropped, late);
    struct roi_result result = {
        .units = total,
        .unit = "messages",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = missing == 0 && wrong == 0 && clean && total == last - first,
        .detail = detail,
    };
    if (!roi_result(&result))
        die("cannot write the result");
    return 0;
}
