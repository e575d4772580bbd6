/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Data in bulk over the network card: a request has `message_bytes` of data, and its reply `reply_bytes` (messages.h). Workers
 * are processes. All data is compared, here and by the clients.
 */
#define _GNU_SOURCE
#include "card_load.h"
#include "messages.h"

#include <sys/epoll.h>
#include <sys/uio.h>

#define READ_BYTES 65536
#define UDP_ROOM (1 << 24) /* bytes of datagrams that wait for the worker: the messages of all its clients come at once */

struct stream {
    uint64_t message_bytes, reply_bytes;
    char *pattern;
};

static struct stream stream_prepare(void)
{
    struct stream stream = {.message_bytes = number_setting("P_MESSAGE_BYTES"), .reply_bytes = number_setting("P_REPLY_BYTES")};
    const size_t bytes = pattern_bytes(stream.message_bytes > stream.reply_bytes ? stream.message_bytes : stream.reply_bytes);

    stream.pattern = memory(bytes, -1, PAGES_SMALL, NULL);
    fill_pattern(stream.pattern, bytes);
    return stream;
}

static void stream_finish(void)
{
    load_finish("messages answered");
}

/* ---- card-tcp-stream: on the connections to the worker's port, which stay ---- */

struct tcp_stream {
    struct stream stream;
    struct tcp *tcp;
    char read[READ_BYTES];
};

static void tcp_stream_prepare(struct worker *worker)
{
    struct tcp_stream *own = memory(sizeof(*own), -1, PAGES_SMALL, NULL);

    load_prepare(worker);
    own->stream = stream_prepare();
    own->tcp = tcp_prepare(worker, MESSAGE_HEAD + own->stream.message_bytes);
    worker->state = own;
}

/* The head goes to the end's bytes; data is compared and forgotten. */
static bool is_as_sent(const struct stream *stream, struct tcp_end *end, const char *bytes, uint64_t count)
{
    uint64_t of_head = end->have < MESSAGE_HEAD ? MESSAGE_HEAD - end->have : 0, data;

    of_head = of_head < count ? of_head : count;
    if (of_head > 0)
        memcpy(end->bytes + end->have, bytes, of_head);
    if (count == of_head)
        return true;
    data = end->have + of_head - MESSAGE_HEAD;
    return memcmp(bytes + of_head, stream->pattern + request_place(get_number(end->bytes, 0), get_number(end->bytes, 1)) + data,
                  count - of_head) == 0;
}

/* What there is room for; the rest when there is more. */
static void send_reply(struct worker *worker, struct tcp_stream *own, struct tcp_end *end)
{
    const uint64_t whole = MESSAGE_HEAD + own->stream.reply_bytes;

    while (end->sent < whole) {
        const uint64_t of_head = end->sent < MESSAGE_HEAD ? MESSAGE_HEAD - end->sent : 0;
        char *data = own->stream.pattern + reply_place(get_number(end->bytes, 0), get_number(end->bytes, 1)) + end->sent +
                     of_head - MESSAGE_HEAD;
        struct iovec parts[2] = {{end->bytes + MESSAGE_HEAD - of_head, of_head}, {data, whole - end->sent - of_head}};
        const struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent = sendmsg(end->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN) {
            errno = 0;
            if (!end->full)
                tcp_wait_for(own->tcp, end, EPOLLOUT);
            end->full = true;
            return;
        }
        if (sent < 0) {
            tcp_broken(worker, end, sent);
            return;
        }
        end->sent += (uint64_t)sent;
    }
    if (end->full)
        tcp_wait_for(own->tcp, end, EPOLLIN);
    end->full = false;
    end->have = end->sent = 0;
    own->tcp->answered++;
}

static void tcp_stream_serve(struct worker *worker, struct tcp *tcp, struct tcp_end *end)
{
    struct tcp_stream *own = worker->state;

    if (end->have < tcp->bytes) {
        const uint64_t left = tcp->bytes - end->have;
        ssize_t got = recv(end->fd, own->read, left < READ_BYTES ? left : READ_BYTES, MSG_DONTWAIT);

        if (got <= 0) {
            tcp_broken(worker, end, got);
            return;
        }
        EXPECT(worker, is_as_sent(&own->stream, end, own->read, (uint64_t)got), "a request has wrong data", got);
        end->have += (uint64_t)got;
    }
    if (end->have == tcp->bytes)
        send_reply(worker, own, end);
}

static void tcp_stream_work(struct worker *worker, uint64_t iterations)
{
    struct tcp_stream *own = worker->state;

    if (worker->index == 0)
        load_order_or_again(own->tcp, iterations, "stream bytes=%lu reply_bytes=%lu", own->stream.message_bytes,
                            own->stream.reply_bytes);
    tcp_work(worker, own->tcp, iterations, tcp_stream_serve);
}

/* ---- card-udp-stream: in datagrams to the worker's port; one that is lost is an error ---- */

struct udp_client {
    uint32_t number, pieces; /* of the last request: pieces that have come */
};
struct udp_stream {
    struct stream stream;
    int fd;
    uint64_t connections;
    struct udp_client *clients;
};

static void udp_stream_prepare(struct worker *worker)
{
    struct udp_stream *own = memory(sizeof(*own), -1, PAGES_SMALL, NULL);
    int room = UDP_ROOM;

    load_prepare(worker);
    *own = (struct udp_stream){
        .stream = stream_prepare(), .fd = own_udp_port(worker), .connections = number_setting("P_CONNECTIONS")};
    own->clients = memory(own->connections * sizeof(*own->clients), -1, PAGES_SMALL, NULL);
    if (setsockopt(own->fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)))
        die("cannot make the socket's buffer larger");
    worker->state = own;
}

/* Whether a message is whole with this piece. */
static bool take_piece(struct worker *worker, struct udp_stream *own, const char *datagram, size_t bytes)
{
    const struct stream *stream = &own->stream;
    const uint32_t connection = get_number(datagram, 0), number = get_number(datagram, 1), piece = get_number(datagram, 2);
    const uint64_t place = connection / run.workers;
    struct udp_client *client = &own->clients[place];

    if (bytes < PIECE_HEAD || connection % run.workers != worker->index || place >= own->connections ||
        piece >= piece_count(stream->message_bytes) || bytes - PIECE_HEAD != piece_bytes(stream->message_bytes, piece) ||
        memcmp(datagram + PIECE_HEAD, stream->pattern + request_place(connection, number) + (size_t)piece * PIECE_DATA,
               bytes - PIECE_HEAD) != 0) {
        worker_error(worker, "a datagram is not what a client has sent", (long)bytes);
        return false;
    }
    if (client->number != number)
        *client = (struct udp_client){.number = number};
    if (++client->pieces < piece_count(stream->message_bytes))
        return false;
    client->pieces = 0; /* another order's numbers begin anew */
    return true;
}

static void send_pieces(struct worker *worker, const struct udp_stream *own, const struct sockaddr_in *to, char *head)
{
    const uint64_t bytes = own->stream.reply_bytes;
    char *data = own->stream.pattern + reply_place(get_number(head, 0), get_number(head, 1));

    for (uint32_t piece = 0; piece < piece_count(bytes); piece++) {
        struct iovec parts[2] = {{head, PIECE_HEAD}, {data + (size_t)piece * PIECE_DATA, piece_bytes(bytes, piece)}};
        const struct msghdr message = {
            .msg_name = (void *)(uintptr_t)to, .msg_namelen = sizeof(*to), .msg_iov = parts, .msg_iovlen = 2};
        ssize_t sent;

        put_number(head, 2, piece);
        sent = sendmsg(own->fd, &message, 0);
        EXPECT(worker, sent == (ssize_t)(PIECE_HEAD + piece_bytes(bytes, piece)), "sendmsg failed", sent);
    }
}

static void udp_stream_work(struct worker *worker, uint64_t iterations)
{
    struct udp_stream *own = worker->state;
    char datagram[MAX_MESSAGE];

    if (worker->index == 0)
        load_order(run.workers, iterations, "udp-stream bytes=%lu reply_bytes=%lu", own->stream.message_bytes,
                   own->stream.reply_bytes);
    for (uint64_t i = 0; i < iterations;) {
        struct sockaddr_in client;
        socklen_t room = sizeof(client);
        ssize_t got = recvfrom(own->fd, datagram, sizeof(datagram), 0, (struct sockaddr *)&client, &room);

        if (got < 0) {
            worker_error(worker, "no datagram came", got);
            return;
        }
        if (take_piece(worker, own, datagram, (size_t)got)) {
            send_pieces(worker, own, &client, datagram);
            worker->sums[0]++;
            i++;
        }
    }
    if (worker->index == 0)
        take_answer(worker);
    worker->units += iterations;
}

const struct benchmark card_stream_benchmarks[] = {
    {
        .name = "card-tcp-stream",
        .unit = "messages",
        .processes = true,
        .setup = load_setup,
        .prepare = tcp_stream_prepare,
        .work = tcp_stream_work,
        .finish = stream_finish,
    },
    {
        .name = "card-udp-stream",
        .unit = "messages",
        .processes = true,
        .setup = load_setup,
        .prepare = udp_stream_prepare,
        .work = udp_stream_work,
        .finish = stream_finish,
    },
    {.name = NULL},
};
