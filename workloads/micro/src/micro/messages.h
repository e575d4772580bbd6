/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the streams and the chat say byte by byte. The servers in the guest and the machines behind the network card
 * (native/load) use it, so this is C and C++.
 *
 * A message begins with the numbers of its connection and of the request that it belongs to. Over TCP a head comes once, and then
 * the message's data. Over UDP the data is in pieces, a datagram for each, and a piece's head has the piece's number too. Data
 * is a part of one pattern; which part follows from the two numbers, so that no message is taken for another.
 */
#ifndef MOSBENCH_MICRO_MESSAGES_H
#define MOSBENCH_MICRO_MESSAGES_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MESSAGE_HEAD 8       /* bytes; numbers have 32 bits in network order */
#define PIECE_HEAD 12        /* bytes */
#define PIECE_DATA 1388      /* bytes, at most: a datagram has 1400 */
#define PATTERN_PLACES 4093u /* where data may begin in the pattern; a prime */

static inline void put_number(void *bytes, size_t index, uint32_t number)
{
    const uint32_t network = htonl(number);

    memcpy((char *)bytes + 4 * index, &network, sizeof(network));
}

static inline uint32_t get_number(const void *bytes, size_t index)
{
    uint32_t network;

    memcpy(&network, (const char *)bytes + 4 * index, sizeof(network));
    return ntohl(network);
}

static inline void put_head(void *head, uint32_t connection, uint32_t number)
{
    put_number(head, 0, connection);
    put_number(head, 1, number);
}

/* Bytes of the pattern from which messages with `most` bytes of data are taken. */
static inline size_t pattern_bytes(size_t most)
{
    return most + PATTERN_PLACES;
}

static inline void fill_pattern(void *pattern, size_t bytes)
{
    uint64_t state = 1;

    for (size_t i = 0; i < bytes; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        ((unsigned char *)pattern)[i] = (unsigned char)(state >> 56);
    }
}

/* Where a message's data begins in the pattern. */
static inline size_t request_place(uint32_t connection, uint32_t number)
{
    return (connection * 31u + number * 7u) % PATTERN_PLACES;
}

static inline size_t reply_place(uint32_t connection, uint32_t number)
{
    return (request_place(connection, number) + PATTERN_PLACES / 2) % PATTERN_PLACES;
}

/* Datagrams of a message, and data of one of them. */
static inline uint32_t piece_count(size_t bytes)
{
    return bytes == 0 ? 1 : (uint32_t)((bytes + PIECE_DATA - 1) / PIECE_DATA);
}

static inline size_t piece_bytes(size_t bytes, uint32_t piece)
{
    const size_t left = bytes - (size_t)piece * PIECE_DATA;

    return left < PIECE_DATA ? left : PIECE_DATA;
}

/* The chat: which room a connection belongs to. Connections take turns among the server's ports. `apart`: a room's members come
 * to different ports, where there are as many; otherwise they come to one. */
static inline uint32_t room_of(uint32_t connection, uint32_t ports, uint32_t members, int apart)
{
    return apart ? connection / members : connection % ports + ports * (connection / ports / members);
}

#endif
