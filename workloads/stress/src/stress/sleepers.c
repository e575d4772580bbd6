/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Half of the workers sleep in accept() of one listening socket when the others connect to it, all at once. In each turn other
 * workers sleep, and each of them accepts one connection and no more.
 *
 * What must hold: each connection wakes somebody who sleeps, though others do the same at that moment. One that wakes nobody,
 * since another has just woken whom it saw asleep, would stay in the queue.
 */
#define _GNU_SOURCE
#include "tcp.h"

#include "roi.h"
#include <sys/time.h>

#define FALLING_ASLEEP 1000000 /* cycles that those who connect leave the others */
#define PATIENCE_SECONDS 2     /* of accept(), which looks once more at their end; a turn takes milliseconds */

static int listener;
static struct sockaddr_in address;
static struct meeting_place *places;

static void setup(void)
{
    const struct timeval patience = {.tv_sec = PATIENCE_SECONDS};

    listener = listen_at(0, &address, 1024);
    MUST(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0, "SO_RCVTIMEO");
    places = shared_memory(MAX_WORKERS * sizeof(*places));
}

static void nothing(void)
{
}

static double seconds_between(const struct timespec *begin, const struct timespec *end)
{
    return (double)(end->tv_sec - begin->tv_sec) + 1e-9 * (double)(end->tv_nsec - begin->tv_nsec);
}

static void sleep_in_accept(void)
{
    struct timespec begin, end;
    char byte = 0;
    int server;

    clock_gettime(CLOCK_MONOTONIC, &begin);
    server = accept(listener, NULL, NULL);
    clock_gettime(CLOCK_MONOTONIC, &end);
    MUST(server >= 0 && seconds_between(&begin, &end) < PATIENCE_SECONDS / 2.0,
         "accept slept until its time was over, with a connection for each who slept");
    MUST(recv(server, &byte, 1, 0) == 1 && byte == 'x', "an accepted connection lost what was sent");
    MUST(close(server) == 0, "close");
}

static void connect_to_sleepers(void)
{
    uint64_t begin = roi_cycles();
    char byte = 'x';
    int client;

    while (roi_cycles() - begin < FALLING_ASLEEP)
        __asm__ volatile("pause" ::: "memory");
    client = connect_to(&address);
    MUST(send(client, &byte, 1, 0) == 1, "send");
    MUST(recv(client, &byte, 1, 0) == -1 && errno == ECONNRESET, "the other end was not closed");
    errno = 0;
    MUST(close(client) == 0, "close");
}

static void work(struct worker *worker, uint64_t iterations)
{
    unsigned half = worker->workers / 2;

    for (uint64_t i = 0; i < iterations; i++) {
        unsigned place = (unsigned)((worker->index + i) % worker->workers);

        meet(places, worker->workers, worker->index, i + 1, nothing);
        if (place < half)
            sleep_in_accept();
        else if (place < 2 * half)
            connect_to_sleepers();
        did(worker, place < half ? 3 : place < 2 * half ? 5 : 0);
    }
}

const struct stress sleepers_stress = {.name = "sleepers", .setup = setup, .work = work};
