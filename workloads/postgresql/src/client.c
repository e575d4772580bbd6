/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Load generator for PostgreSQL: makes a table of keys and values, then asks for rows by key from one connection on each core.
 *
 * A client sends a batch of queries at once (queries.h), and then takes all the replies. At the end every row of the table is
 * compared.
 *
 * With P_LOAD=card the clients are other machines, behind the network card: this program makes and checks the table, orders what
 * they do, and what they count is the result.
 *
 * The protocol is version 3 of PostgreSQL's: a type (one byte), a length (32 bits, network order, with itself) and the content.
 */
#define _GNU_SOURCE
#include "card.h"
#include "queries.h"
#include "roi.h"
#include "workers.h"

#include <netinet/tcp.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#define LATE_US 2000000
#define MAX_WAITS 120       /* of LATE_US: then the server is taken for dead */
#define START_TRIES 3000    /* 20 ms apart */
#define END_TRIES 10000     /* 1 ms apart */
#define MAX_REPLY (1 << 16) /* bytes of one message */

/* Of one client, in memory that all share. */
struct client {
    _Alignas(128) uint64_t units, cycles;
    uint64_t late;    /* in the region: batches without a reply for LATE_US */
    uint64_t missing; /* queries that found no row */
    uint64_t wrong;   /* rows with another value than they must have, replies that are none, errors */
};

struct connection {
    int fd;
    int process; /* of the server */
    size_t begin, end;
    char buffer[2 * MAX_REPLY];
};

/* The server's memory that all its processes have at the same place. */
struct shared {
    uint64_t begin, pages, page_bytes;
    uint64_t *map; /* of each page what /proc/PID/pagemap says */
};

/* One message of the server. */
struct message {
    char type;
    const char *content;
    uint32_t bytes;
};

static int cores[MAX_WORKERS];
static unsigned core_count;
static uint64_t batches, warmup, batch, rows, port;
static bool updates;
static struct sleeping_place *place;
static struct client *clients;
static uint32_t *versions; /* of all rows, those of a client together */
static struct shared shared;

/* What a client asks for from its first query on. */
static struct queries queries_of(unsigned index)
{
    struct queries of = {.random = index + 1, .index = index, .clients = core_count, .rows = (uint32_t)rows};

    if (updates)
        of.versions = versions + index * row_count(&of);
    return of;
}

static uint32_t number_at(const char *bytes)
{
    uint32_t number;

    memcpy(&number, bytes, sizeof(number));
    return ntohl(number);
}

static void send_all(struct connection *connection, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t sent = send(connection->fd, data, bytes, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            die("PostgreSQL takes no more queries");
        data += sent;
        bytes -= (size_t)sent;
    }
}

/* The server's next message; its content is valid until the next call. `late` counts waits of LATE_US. */
static struct message receive(struct connection *connection, uint64_t *late)
{
    unsigned waits = 0;

    for (;;) {
        size_t have = connection->end - connection->begin;
        const char *start = connection->buffer + connection->begin;

        if (have >= 5 && have >= 1 + number_at(start + 1)) {
            uint32_t length = number_at(start + 1);

            if (length < 4)
                die("PostgreSQL sent a message with a length of %u", length);
            connection->begin += 1 + length;
            return (struct message){.type = start[0], .content = start + 5, .bytes = length - 4};
        }
        if (have >= 5 && number_at(start + 1) > MAX_REPLY)
            die("PostgreSQL sent a message of %u bytes", number_at(start + 1));
        memmove(connection->buffer, start, have);
        connection->begin = 0;
        connection->end = have;
        ssize_t bytes = recv(connection->fd, connection->buffer + have, sizeof(connection->buffer) - have, 0);

        if (bytes < 0 && errno == EINTR)
            continue;
        if (bytes < 0 && errno == EAGAIN) {
            errno = 0;
            *late += waits == 0;
            if (++waits == MAX_WAITS)
                die("PostgreSQL had no reply for %d s", MAX_WAITS * (LATE_US / 1000000));
            continue;
        }
        if (bytes <= 0)
            die("PostgreSQL closed a connection");
        connection->end += (size_t)bytes;
    }
}

/* The text of an error or a notice: fields of a type (one byte) and a string. */
static const char *message_text(const struct message *message)
{
    for (uint32_t at = 0; at < message->bytes && message->content[at];) {
        const char *text = message->content + at + 1;

        if (message->content[at] == 'M')
            return text;
        at += 2 + (uint32_t)strnlen(text, message->bytes - at - 1);
    }
    return "no text";
}

/* Connect as the user postgres, who needs no password here; false if nobody listens, or the server is still starting. */
static bool try_to_connect(struct connection *connection)
{
    static const char parameters[] = "user\0postgres\0database\0postgres\0";
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const struct timeval timeout = {.tv_sec = LATE_US / 1000000};
    uint32_t head[2] = {htonl(sizeof(head) + sizeof(parameters)), htonl(3 << 16)};
    char start[sizeof(head) + sizeof(parameters)];
    int on = 1;
    uint64_t late = 0;

    *connection = (struct connection){.fd = socket(AF_INET, SOCK_STREAM, 0)};
    if (connection->fd < 0 || setsockopt(connection->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) ||
        setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
        die("no socket");
    if (connect(connection->fd, (struct sockaddr *)&address, sizeof(address))) {
        close(connection->fd);
        return false;
    }
    memcpy(start, head, sizeof(head));
    memcpy(start + sizeof(head), parameters, sizeof(parameters));
    send_all(connection, start, sizeof(start));
    for (;;) {
        struct message message = receive(connection, &late);

        if (message.type == 'K' && message.bytes >= 4)
            connection->process = (int)number_at(message.content);
        if (message.type == 'E') {
            close(connection->fd);
            return false;
        }
        if (message.type == 'R' && (message.bytes != 4 || number_at(message.content) != 0))
            die("PostgreSQL wants a password");
        if (message.type == 'Z')
            return true;
    }
}

static void connect_to_server(struct connection *connection)
{
    for (unsigned tries = 0; !try_to_connect(connection); tries++) {
        if (tries == START_TRIES)
            die("no PostgreSQL comes up on port %lu", port);
        usleep(20000);
    }
    errno = 0;
}

/* Close a connection and wait for its process of the server to end: what that has to clear away is no part of what follows. */
static void end_connection(struct connection *connection)
{
    close(connection->fd);
    for (unsigned tries = 0; kill(connection->process, 0) == 0; tries++) {
        if (tries == END_TRIES)
            die("the server's process %d does not end", connection->process);
        usleep(1000);
    }
    errno = 0;
}

/* Write a simple query message to `out`; returns its length. */
static size_t put_query(char *out, const char *text)
{
    size_t length = strlen(text);

    memcpy(out + QUERY_HEAD, text, length);
    return end_query(out, QUERY_HEAD + length);
}

/* Run a command that returns no rows, or one row of one column, which is then the result. */
static uint64_t command(struct connection *connection, const char *text)
{
    char query[512];
    uint64_t late = 0, value = 0;

    errno = 0;
    send_all(connection, query, put_query(query, text));
    for (;;) {
        struct message message = receive(connection, &late);

        if (message.type == 'E')
            die("PostgreSQL refused \"%s\": %s", text, message_text(&message));
        if (message.type == 'D' && message.bytes > 6) {
            char number[32] = "";

            memcpy(number, message.content + 6, message.bytes - 6 < 31 ? message.bytes - 6 : 31);
            value = strtoull(number, NULL, 10);
        }
        if (message.type == 'Z' || message.type == 'G') /* ready, or waiting for rows */
            return value;
    }
}

/* Send rows in the text format of COPY. */
static void copy_rows(struct connection *connection)
{
    static char data[1 << 16];
    char value[VALUE_BYTES + 1];
    uint64_t late = 0;

    for (uint64_t key = 0; key < rows;) {
        size_t used = 5;

        for (; key < rows && used < sizeof(data) - 64; key++) {
            write_value(value, (uint32_t)key, 0);
            used += (size_t)sprintf(data + used, "%lu\t%s\n", key, value);
        }
        uint32_t size = htonl((uint32_t)(used - 1));

        data[0] = 'd';
        memcpy(data + 1, &size, 4);
        send_all(connection, data, used);
    }
    send_all(connection, "c\0\0\0\4", 5);
    for (struct message message; (message = receive(connection, &late)).type != 'Z';)
        if (message.type == 'E')
            die("PostgreSQL did not take the rows: %s", message_text(&message));
}

/* Empty tables, a file each, so that the inodes of table and index may lie elsewhere in memory. */
static void make_files(struct connection *connection)
{
    uint64_t files = number_setting("P_FILES");

    for (uint64_t n = 0; n < files; n++) {
        char text[64];

        snprintf(text, sizeof(text), "CREATE TABLE before_%lu ()", n);
        command(connection, text);
    }
}

/* The table. Loaded in the transaction that made it, its rows need no later visit to be marked as visible to all. */
static void load_table(struct connection *connection)
{
    make_files(connection);
    command(connection, "BEGIN");
    command(connection, "CREATE TABLE pairs (key integer NOT NULL, value text NOT NULL)");
    command(connection, "COPY pairs FROM STDIN WITH (FREEZE)");
    copy_rows(connection);
    command(connection, "ALTER TABLE pairs ADD PRIMARY KEY (key)");
    command(connection, "COMMIT");
}

/* All of table and index into the server's cache, at any number of cores: what made them has left it outside. */
static void fill_cache(struct connection *connection, bool on_disk)
{
    if (on_disk) {
        command(connection, "SELECT pg_prewarm('pairs')");
        command(connection, "SELECT pg_prewarm('pairs_pkey')");
    } else {
        command(connection, "SET enable_seqscan = off");
        command(connection, "SELECT sum(length(value)) FROM pairs WHERE key >= 0");
    }
}

/* The largest memory that a process of the server shares, and which of its pages the process has met. */
static void find_shared(int process)
{
    char path[64], line[512];

    snprintf(path, sizeof(path), "/proc/%d/maps", process);
    FILE *maps = fopen(path, "r");
    uint64_t bytes = 0;

    if (!maps)
        die("cannot read %s", path);
    while (fgets(line, sizeof(line), maps)) {
        char may[5];
        uint64_t begin, end;

        if (sscanf(line, "%lx-%lx %4s", &begin, &end, may) == 3 && may[3] == 's' && end - begin > bytes) {
            shared.begin = begin;
            bytes = end - begin;
        }
    }
    fclose(maps);
    shared.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    shared.pages = bytes / shared.page_bytes;
    shared.map = calloc(shared.pages, sizeof(*shared.map));
    snprintf(path, sizeof(path), "/proc/%d/pagemap", process);
    int pagemap = open(path, O_RDONLY | O_CLOEXEC);

    if (pagemap < 0 || !shared.map || shared.pages == 0)
        die("the server's process %d has no shared memory that can be found", process);
    for (size_t done = 0, all = shared.pages * sizeof(*shared.map); done < all;) {
        ssize_t got = pread(pagemap, (char *)shared.map + done, all - done,
                            (off_t)(shared.begin / shared.page_bytes * sizeof(*shared.map) + done));

        if (got <= 0)
            die("cannot read %s", path);
        done += (size_t)got;
    }
    close(pagemap);
}

/* Let a process of the server have mapped what find_shared() found. A process maps a page when it first touches it, which in a
 * run of minutes is long over: reading its memory from outside does the same. The process stands meanwhile, as Linux 2.6.35
 * wants. */
static void map_shared(int process)
{
    char path[64], byte;

    snprintf(path, sizeof(path), "/proc/%d/mem", process);
    if (ptrace(PTRACE_ATTACH, process, NULL, NULL) || waitpid(process, NULL, __WALL) != process)
        die("cannot stop the server's process %d", process);
    int memory = open(path, O_RDONLY | O_CLOEXEC);

    if (memory < 0)
        die("cannot open %s", path);
    for (uint64_t page = 0; page < shared.pages; page++)
        if (shared.map[page] >> 63 && pread(memory, &byte, 1, (off_t)(shared.begin + page * shared.page_bytes)) != 1)
            die("cannot read the memory of the server's process %d", process);
    close(memory);
    if (ptrace(PTRACE_DETACH, process, NULL, NULL))
        die("cannot let the server's process %d go", process);
}

static void make_table(void)
{
    static struct connection connection;
    bool on_disk = strcmp(text_setting("P_TABLE"), "disk") == 0; /* made when the workload's disk was */

    connect_to_server(&connection);
    if (!on_disk)
        load_table(&connection);
    if (strcmp(text_setting("P_FAULT"), "lost-row") == 0) {
        char text[64];

        snprintf(text, sizeof(text), "DELETE FROM pairs WHERE key=%lu", rows / 2);
        command(&connection, text);
    }
    command(&connection, "CHECKPOINT");
    fill_cache(&connection, on_disk);
    find_shared(connection.process);
    end_connection(&connection);
}

/* Of one client's batches: what it has on its own stack would be too much. */
struct work {
    struct connection connection;
    struct queries of;
    struct query queries[MAX_BATCH];
    char out[MAX_BATCH * QUERY_ROOM];
};

/* Take the replies to a batch: to each query rows, if it is a SELECT, and its end. */
static void take_batch(unsigned index, struct work *work, uint64_t count)
{
    struct client *client = &clients[index];
    uint64_t at = 0, found = 0;
    bool ready = false;

    while (!(ready && at == count)) {
        struct message message = receive(&work->connection, &client->late);
        const struct query *query = &work->queries[at < count ? at : count - 1];

        if (message.type == 'Z') {
            ready = true;
            continue;
        }
        ready = false;
        if (message.type == 'D') {
            /* Number of columns (16 bits), then length and bytes of each. */
            found++;
            if (message.bytes < 6 ||
                !is_value(message.content + 6, message.bytes - 6, query->key, newest_version(&work->of, query->key)))
                client->wrong++;
        } else if (message.type == 'C') {
            if (query->update)
                found = (uint64_t)(strcmp(message.content, "UPDATE 1") == 0);
            if (found == 0)
                client->missing++;
            if (found > 1)
                client->wrong++;
            found = 0;
            at++;
        } else if (message.type == 'E') {
            /* What follows in the same message is not run, so the replies would not be told apart. */
            errno = 0;
            die("client %u: PostgreSQL refused a query: %s", index, message_text(&message));
        } else if (message.type != 'T' && message.type != 'N' && message.type != 'S') {
            client->wrong++;
        }
    }
}

static void ask(unsigned index, struct work *work, uint64_t queries)
{
    unsigned messages;
    size_t bytes = write_batch(&work->of, queries, work->queries, work->out, &messages);

    send_all(&work->connection, work->out, bytes);
    take_batch(index, work, queries);
}

static void client_main(unsigned index, void *argument)
{
    static struct work work;
    struct client *client = &clients[index];
    uint64_t begin;
    cpu_set_t set;

    (void)argument;
    work.of = queries_of(index);
    pin(cores[index]);
    connect_to_server(&work.connection);
    /* The server's process for this connection shares the client's core. */
    CPU_ZERO(&set);
    CPU_SET((size_t)cores[index], &set);
    if (sched_setaffinity(work.connection.process, sizeof(set), &set))
        die("cannot pin the server's process %d", work.connection.process);
    map_shared(work.connection.process);
    meet_asleep(place, core_count, 1, roi_warm);
    ask(index, &work, warmup);
    client->late = 0;
    meet_asleep(place, core_count, 2, roi_begin);
    begin = roi_cycles();
    for (uint64_t i = 0; i < batches; i++)
        ask(index, &work, batch);
    client->cycles = roi_cycles() - begin;
    client->units = batches * batch;
    meet_asleep(place, core_count, 3, roi_end);
}

/* A row in the text format of COPY: whether its key is one of the table and its value one that it has in some version. */
static bool read_row(const struct message *row, uint64_t *key, uint32_t *version)
{
    char number[16] = "";
    const char *tab = memchr(row->content, '\t', row->bytes);
    size_t digits = tab ? (size_t)(tab - row->content) : 0;

    if (digits == 0 || digits >= sizeof(number) || row->content[row->bytes - 1] != '\n')
        return false;
    memcpy(number, row->content, digits);
    *key = strtoull(number, NULL, 10);
    return *key < rows && read_value(tab + 1, row->bytes - digits - 2, (uint32_t)*key, version);
}

/* Of each row, by key, its version and one more; 0 where it is not there. What is no row, or is there twice, is counted in
 * `wrong`. */
static uint32_t *read_table(uint64_t *wrong)
{
    static struct connection connection;
    char query[64];
    uint64_t late = 0;
    uint32_t *found = calloc(rows, sizeof(*found));
    const char *text = "COPY pairs TO STDOUT";

    if (!found)
        die("no memory to check %lu rows", rows);
    connect_to_server(&connection);
    send_all(&connection, query, put_query(query, text));
    for (struct message message; (message = receive(&connection, &late)).type != 'Z';) {
        uint64_t key;
        uint32_t version;

        if (message.type == 'E')
            die("PostgreSQL refused \"%s\": %s", text, message_text(&message));
        if (message.type != 'd')
            continue;
        if (read_row(&message, &key, &version) && !found[key])
            found[key] = version + 1;
        else
            ++*wrong;
    }
    close(connection.fd);
    return found;
}

/* How many rows of the table have the version that they must have by now; others that are there are counted in `wrong`. */
static uint64_t right_of(const uint32_t *found, uint64_t *wrong)
{
    uint64_t right = 0;

    for (uint64_t key = 0; key < rows; key++) {
        struct queries of = queries_of((unsigned)(key % core_count));

        if (found[key] == 0)
            continue;
        if (found[key] - 1 == newest_version(&of, (uint32_t)key))
            right++;
        else
            ++*wrong;
    }
    return right;
}

static int report_of(const struct roi_result *result)
{
    if (!roi_result(result))
        die("cannot write the result");
    return 0;
}

/* Pin the server's processes whose clients are behind the card to a core each. */
static void pin_servers(void)
{
    static const char text[] =
        "SELECT pid FROM pg_stat_activity WHERE client_addr << inet '10.0.0.0/8' ORDER BY client_port, client_addr";
    static struct connection connection;
    char query[sizeof(text) + QUERY_HEAD];
    uint64_t late = 0;
    unsigned pinned = 0;

    connect_to_server(&connection);
    send_all(&connection, query, put_query(query, text));
    for (struct message message; (message = receive(&connection, &late)).type != 'Z';) {
        char number[16] = "";
        cpu_set_t set;

        if (message.type == 'E')
            die("PostgreSQL refused \"%s\": %s", text, message_text(&message));
        if (message.type != 'D' || message.bytes <= 6 || message.bytes > 6 + sizeof(number) - 1)
            continue;
        memcpy(number, message.content + 6, message.bytes - 6);
        CPU_ZERO(&set);
        CPU_SET((size_t)cores[pinned % core_count], &set);
        if (sched_setaffinity(atoi(number), sizeof(set), &set))
            die("cannot pin the server's process %s", number);
        map_shared(atoi(number));
        pinned++;
    }
    end_connection(&connection);
    errno = 0;
    if (pinned != core_count)
        die("the server has %u connections to machines behind the card, not %u", pinned, core_count);
}

/* How often clients behind the card have updated their rows by what the table has: of each its sum, and all as the result. */
static uint64_t updates_found(const uint32_t *found, uint64_t of_client[])
{
    uint64_t all = 0;

    for (uint64_t key = 0; key < rows; key++) {
        uint32_t versions_of_it = found[key] ? found[key] - 1 : 0;

        of_client[key % core_count] += versions_of_it;
        all += versions_of_it;
    }
    return all;
}

/* Write down the first `updates_of_it` updates that a client has asked for. Where its load ends is not known beforehand. */
static void count_updates(unsigned index, uint64_t updates_of_it)
{
    struct queries of = queries_of(index);
    struct query query;
    char out[QUERY_ROOM];
    unsigned messages;

    for (uint64_t done = 0; done < updates_of_it; done += query.update)
        write_batch(&of, 1, &query, out, &messages);
}

/* What the servers said that they updated, in the result of the last order. */
static uint64_t updates_said(const struct card_result *result)
{
    static const char name[] = "\"updated\":";
    const char *member = strstr(result->text, name);

    if (!member)
        die("the load behind the card does not say how many rows were updated: %s", result->text);
    return strtoull(member + sizeof(name) - 1, NULL, 10);
}

/* The clients are behind the card: only the whole is known, not what each core did. */
static int main_behind_card(void)
{
    static struct card_result opened, warm, all, rest;
    static struct card_region region;
    uint64_t of_client[MAX_WORKERS] = {0};
    uint64_t units, dropped, said, in_table, wrong_rows = 0, right_rows;
    char detail[400];
    int load;

    card_bring_up(cores, core_count);
    load = card_load();
    card_order(load, "postgresql connections=%u first_port=%lu requests=0 rows=%lu updates=%d batch=%lu late_ns=%lu", core_count,
               port, rows, updates, warmup, LATE_US * 1000ul);
    card_result_of(load, &opened);
    pin_servers();
    card_before_others();
    roi_warm();
    card_order(load, "again flow=1 requests=1");
    card_result_of(load, &warm);
    card_add(&all, &warm);
    card_order(load, "again requests=1 batch=%lu", batch); /* batches of before are still under way */
    card_result_of(load, &warm);
    card_add(&all, &warm);
    card_flow_region(load, batches, "", &region);
    card_order(load, "again requests=0 flow=0");
    card_result_of(load, &rest);
    card_add(&all, &region.result);
    card_add(&all, &region.after);
    card_add(&all, &rest);

    units = region.units * batch;
    dropped = all.sent - all.right - all.wrong;
    uint32_t *found = read_table(&wrong_rows);

    in_table = updates_found(found, of_client);
    said = updates ? updates_said(&rest) : 0;
    for (unsigned i = 0; updates && in_table == said && i < core_count; i++)
        count_updates(i, of_client[i]);
    right_rows = right_of(found, &wrong_rows);
    snprintf(detail, sizeof(detail),
             "%lu batches were answered wrongly, %lu not; %lu later than %d ms in the region; in the table %lu of %lu rows are "
             "right, %lu are wrong; it has %lu updates of %lu",
             all.wrong, dropped, region.result.late, LATE_US / 1000, right_rows, rows, wrong_rows, in_table, said);
    return report_of(&(struct roi_result){
        .units = units,
        .unit = "queries",
        .cores = 1,
        .per_core = &units,
        .cycles_per_core = &region.cycles,
        .members = card_members(&region.result),
        .checked = units > 0 && all.wrong == 0 && dropped == 0 && in_table == said && wrong_rows == 0 && right_rows == rows,
        .detail = detail,
    });
}

int main(void)
{
    static uint64_t units[MAX_WORKERS], cycles[MAX_WORKERS];
    uint64_t total = 0, late = 0, missing = 0, wrong = 0, wrong_rows = 0;
    char members[64], detail[400];

    core_count = read_cores(cores);
    batches = number_setting("P_BATCHES");
    warmup = number_setting("P_WARMUP");
    batch = number_setting("P_BATCH");
    rows = number_setting("P_ROWS");
    port = number_setting("PGPORT");
    updates = strcmp(text_setting("MOSBENCH_VARIANT"), "read-write") == 0;
    if (batch == 0 || batch > MAX_BATCH)
        die("P_BATCH=%lu is not between 1 and %d", batch, MAX_BATCH);
    if (warmup == 0 || warmup > MAX_BATCH)
        die("P_WARMUP=%lu is not between 1 and %d", warmup, MAX_BATCH);
    if (rows < core_count || rows > INT32_MAX)
        die("P_ROWS=%lu is less than the number of cores, or more than keys have room for", rows);
    place = shared_memory(sizeof(*place));
    clients = shared_memory(core_count * sizeof(*clients));
    versions = shared_memory((rows + core_count) * sizeof(*versions));
    make_table();
    if (card_wanted())
        return main_behind_card();
    run_processes(core_count, client_main, NULL);

    for (unsigned i = 0; i < core_count; i++) {
        units[i] = clients[i].units;
        cycles[i] = clients[i].cycles;
        total += clients[i].units;
        late += clients[i].late;
        missing += clients[i].missing;
        wrong += clients[i].wrong;
    }
    uint64_t right_rows = right_of(read_table(&wrong_rows), &wrong_rows);

    snprintf(members, sizeof(members), "\"dropped\":0,\"late\":%lu", late);
    snprintf(
        detail, sizeof(detail),
        "%lu queries found no row, %lu a wrong one; %lu replies later than %d ms in the region; in the table %lu of %lu rows are "
        "right, %lu are wrong",
        missing, wrong, late, LATE_US / 1000, right_rows, rows, wrong_rows);
    return report_of(&(struct roi_result){
        .units = total,
        .unit = "queries",
        .cores = core_count,
        .per_core = units,
        .cycles_per_core = cycles,
        .cpus = cores,
        .members = members,
        .checked = missing == 0 && wrong == 0 && wrong_rows == 0 && right_rows == rows,
        .detail = detail,
    });
}
