/* SPDX-License-Identifier: BSD-3-Clause
 *
 * card-chat: clients behind the network card talk in rooms. What one says the worker at whose port it came sends to all members
 * of its room, whichever worker's port they came to. Workers are threads of one process, as one of them writes to the others'
 * connections. Checked: each message came to all members of its room, once and in order, and to nobody else.
 */
#define _GNU_SOURCE
#include "card_load.h"
#include "messages.h"

struct room {
    _Alignas(LINE_BYTES) uint32_t size; /* members there will be */
    uint32_t places, joined;            /* taken by members that come; members that have come */
    struct {
        int fd;
        const struct tcp_end *end;
    } *members;
};
static struct room *rooms;
static int apart;
static uint32_t most, connections; /* members of a room; clients of all */

static uint32_t room_number(uint32_t connection)
{
    return room_of(connection, run.workers, most, apart);
}

static void chat_setup(void)
{
    load_setup();
    connections = (uint32_t)number_setting("P_CONNECTIONS") * run.workers;
    most = (uint32_t)number_setting("P_MEMBERS");
    apart = strcmp(text_setting("P_ROOMS"), "apart") == 0;
    rooms = memory((size_t)(connections + run.workers) * sizeof(*rooms), -1, PAGES_SMALL, NULL);
    for (uint32_t connection = 0; connection < connections; connection++)
        rooms[room_number(connection)].size++;
    for (uint32_t connection = 0; connection < connections; connection++) {
        struct room *room = &rooms[room_number(connection)];

        if (!room->members)
            room->members = memory(room->size * sizeof(*room->members), -1, PAGES_SMALL, NULL);
    }
}

static void chat_prepare(struct worker *worker)
{
    struct tcp *tcp;

    load_prepare(worker);
    worker->state = tcp = tcp_prepare(worker, number_setting("P_DATAGRAM_BYTES"));
    tcp->joins = tcp->connections;
}

static void say(struct worker *worker, int fd, const char *text, uint64_t bytes)
{
    ssize_t sent = send(fd, text, bytes, MSG_NOSIGNAL);

    EXPECT(worker, sent == (ssize_t)bytes, "send failed", sent);
}

/* The last member that comes says to all that their room is full: each gets its own first message back. */
static void join(struct worker *worker, const struct tcp *tcp, struct room *room, const struct tcp_end *end)
{
    const uint32_t place = __atomic_fetch_add(&room->places, 1, __ATOMIC_RELAXED);

    if (place >= room->size) {
        worker_error(worker, "a room has more members than it should", place);
        return;
    }
    room->members[place].fd = end->fd;
    room->members[place].end = end;
    if (__atomic_add_fetch(&room->joined, 1, __ATOMIC_ACQ_REL) == room->size)
        for (uint32_t i = 0; i < room->size; i++)
            say(worker, room->members[i].fd, room->members[i].end->bytes, tcp->bytes);
}

static void chat_serve(struct worker *worker, struct tcp *tcp, struct tcp_end *end)
{
    struct room *room;

    if (!tcp_receive(worker, end, tcp->bytes))
        return;
    end->have = 0;
    if (get_number(end->bytes, 0) >= connections) {
        worker_error(worker, "a message is of no client", get_number(end->bytes, 0));
        return;
    }
    room = &rooms[room_number(get_number(end->bytes, 0))];
    if (get_number(end->bytes, 1) == 0) {
        join(worker, tcp, room, end);
        tcp->joined++;
        return;
    }
    for (uint32_t i = 0; i < room->size; i++)
        say(worker, room->members[i].fd, end->bytes, tcp->bytes);
    tcp->answered++;
}

static void chat_work(struct worker *worker, uint64_t iterations)
{
    struct tcp *tcp = worker->state;

    if (worker->index == 0)
        load_order_or_again(tcp, iterations, "chat bytes=%lu members=%u apart=%d", tcp->bytes, most, apart);
    tcp_work(worker, tcp, iterations, chat_serve);
}

static void chat_finish(void)
{
    load_finish("messages passed on");
}

const struct benchmark card_chat_benchmarks[] = {
    {
        .name = "card-chat",
        .unit = "messages",
        .setup = chat_setup,
        .prepare = chat_prepare,
        .work = chat_work,
        .finish = chat_finish,
    },
    {.name = NULL},
};
