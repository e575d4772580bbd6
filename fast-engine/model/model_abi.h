/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The C interface between the coherence model (a shared object, C++20, knows nothing of QEMU) and the engine that drives it.
 * The engine loads the object, calls mosbench_model_create once, and then serves every access its inline filter lets through.
 *
 * Everything is called from one thread, in the order of simulated time within one quantum. Times are core cycles.
 */
#ifndef MOSBENCH_MODEL_ABI_H
#define MOSBENCH_MODEL_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever this file does in a way that matters; the engine refuses another number. */
#define MODEL_ABI_VERSION 13

/* What an access is. A page walk is a read by the walker; a stream is a store that goes past the caches (MOVNTI and its like), of
 * which each is told to the model: no filter is about them. */
enum model_access_kind { MODEL_READ, MODEL_WRITE, MODEL_ATOMIC, MODEL_FETCH, MODEL_WALK, MODEL_STREAM };

/* A filter says "this access hits the L1 way that was used last in its set: nothing changes, do not call". Entry i of a table
 * belongs to L1 set i and holds a line or none. The engine owns the storage and its generated code reads it;
 * only the model writes it. A line is in `read` when a load of it would change nothing in the model, in `write` when a store
 * would change nothing (its state is M), in `fetch` for instruction fetches. A line that cores have from each other is in neither
 * of the first two tables: what gets through is the core's own business, and the engine may let it run further ahead there. */
#define MODEL_NO_LINE UINT32_MAX
#define MODEL_NO_PLACE UINT64_MAX
#define MODEL_MAX_SETS 1024
struct model_filter {
    /* Where the lines are in the engine's address space (model_place()), or MODEL_NO_PLACE: an access to a line differs from its
     * place in the lower six bits only. Both tables in one, since an instruction that changes memory looks at both. */
    struct {
        uint64_t read, write;
    } pass[MODEL_MAX_SETS];
    uint32_t fetch[MODEL_MAX_SETS]; /* line numbers, or MODEL_NO_LINE */
    /* The line of the last call, if cores have it from each other: until the next call the core's loads (`held_read`) and stores
     * (`held_write`) of it would change nothing either, but they have to be in the order of their times. */
    uint32_t held_read, held_write;
    /* Not 0: stores of the core are under way, so a locked instruction has to ask though its line is in `write`. */
    uint32_t stores_under_way;
    uint64_t base; /* the engine's: where line 0 is */
};

static inline uint64_t model_place(const struct model_filter *filter, uint32_t line)
{
    return filter->base + ((uint64_t)line << 6);
}

/* What the translated code says of an access: the loads that its address comes from. Registers are the guest's sixteen, a bit
 * each; loads of the same block have numbers, modulo MODEL_NUMBERED_LOADS. */
#define MODEL_NUMBERED_LOADS 32
struct model_origin {
    uint16_t from_registers; /* as they were when the block began */
    uint16_t into_registers; /* that a value from this load is in when the block ends */
    uint32_t from_loads;     /* a bit for each earlier load of the block */
};

/* One access of one core to one 64-byte line of guest memory. */
struct model_access {
    uint64_t now;     /* the core's clock, cycles */
    uint64_t pc;      /* guest virtual address of the instruction */
    uint64_t address; /* guest virtual address accessed (of a walk: the address walked for) */
    uint32_t line;    /* line number: (offset in guest memory, nodes laid one after the other) / 64 */
    uint16_t core;
    uint8_t kind;         /* enum model_access_kind */
    uint8_t kernel;       /* 1 at privilege level 0 */
    bool may_defer;       /* the engine can start the instruction anew later */
    bool early;           /* others may still make accesses before this one: only if it asks nobody outside the socket */
    uint8_t size;         /* bytes of it in this line, 1 to 64 */
    uint8_t load;         /* number of a load in its block */
    uint64_t block;       /* instructions of the core up to the end of its block; 0: generated code did not make the access */
    uint64_t instruction; /* and up to this one, or up to the end of the block of the helper that made it */
    struct model_origin origin;
};

/* Set in the answer to an access that was not performed: the line is busy with others' requests. The core has its place in the
 * line's queue; it is to ask again when its clock has gone on by the remaining bits, and not before. Without remaining bits, the
 * access was early: the core has no place, and is to ask again when the others' accesses before it have been made. */
#define MODEL_DEFERRED (UINT64_C(1) << 63)

/* A piece of guest memory: its place in the line numbering and in the guest's physical address space. */
struct model_memory {
    uint64_t offset;   /* bytes, in the numbering of lines */
    uint64_t physical; /* guest physical address */
    uint64_t bytes;
};

/* What only the engine knows of a core between begin and end. `cycles` is the sum of the cycles below it and of all waits that
 * the model answered. */
struct model_core_totals {
    uint64_t cycles, instructions;
    uint64_t idle_cycles;        /* halted */
    uint64_t instruction_cycles; /* of instructions, without L1 hits and PAUSE */
    uint64_t l1_cycles;          /* L1 hits beyond that, and locked instructions */
    uint64_t pause_cycles;
    uint64_t device_cycles; /* waited for registers of devices */
};

/* Lines that a core may watch at a time. */
#define MODEL_MAX_WATCHED 4

struct model;

/* A core that watches lines has lost one of them, at `now`. */
typedef void model_line_lost(uint16_t core, uint64_t now);

/* The guest as one of its cores sees it, for walks of its stack. Reading leaves no trace in what is simulated. */
struct model_guest {
    /* Stack and frame pointer at the access or the sample that the model was called for; reads are this core's from then on. */
    void (*stack)(uint16_t core, uint64_t *stack_pointer, uint64_t *frame_pointer);
    /* Eight bytes at a virtual address of that core; false where nothing is mapped. */
    bool (*read)(uint64_t address, uint64_t *value);
};

struct model_operations {
    uint32_t abi_version;
    uint32_t quantum; /* cycles a core may run past the slowest other one: the smallest latency between two cores */
    uint32_t sockets, cores;
    uint32_t l1_cycles; /* a load or store that hits L1 costs this in all; the engine charges it, the model what is beyond */
    uint32_t l1d_sets, l1i_sets;
    double clock_ghz;

    /* Memory layout; `filters` has one entry per core of the machine, NULL for one that is not plugged. Called once before any
     * access. */
    void (*attach)(struct model *, const struct model_memory *, size_t pieces, struct model_filter *const *filters,
                   model_line_lost *lost);
    /* Find out who called, with the call frame information of the kernel's ELF file: of some accesses (chain_period_transfers of
     * the machine) and of each sample. Called once before `attach`, or not: then nobody's callers are known. Returns 0, or -1
     * with a sentence in `error` (error_bytes of room). */
    int (*follow_calls)(struct model *, const struct model_guest *, const char *kernel, char *error, size_t error_bytes);
    /* Forget all cache contents and start answering accesses, without counting: the warm-up. */
    void (*warm)(struct model *, uint64_t now);
    /* Start and stop counting. Cache contents stay. */
    void (*begin)(struct model *, uint64_t now);
    void (*end)(struct model *, uint64_t now);

    /* Perform the access; returns the cycles that the core waits beyond an L1 hit, or MODEL_DEFERRED | cycles. */
    uint64_t (*access)(struct model *, const struct model_access *);
    /* The core comes to a serializing instruction; returns the cycles that it waits for its loads. */
    uint64_t (*serialized)(struct model *, uint16_t core, uint64_t now);
    /* The core stands before an access to that line, which will be performed after some of others. A hint: it saves the host time
     * and changes nothing else. */
    void (*expect)(struct model *, uint16_t core, uint32_t line, uint8_t kind);
    /* Call `lost` when one of these lines (at most MODEL_MAX_WATCHED) next leaves the core's caches; in place of those it watched
     * before. False: one is not there, or every access is to be counted and so none may be left out. */
    bool (*watch)(struct model *, uint16_t core, const uint32_t *lines, size_t count);
    /* A device reads (write = false) or writes a line; `card`: it is the network card. */
    void (*dma)(struct model *, uint64_t now, uint32_t line, bool write, bool card);

    /* Core `core` was seen at pc (privilege as in model_access) after `periods` sampling periods had gone by. */
    void (*sample)(struct model *, uint16_t core, uint64_t pc, uint8_t kernel, uint32_t periods);
    void (*core_totals)(struct model *, uint16_t core, const struct model_core_totals *);

    /* Write the records file (native/records). Returns 0, or -1 with a sentence in `error` (error_bytes of room). */
    int (*write_records)(struct model *, const char *path, char *error, size_t error_bytes);
    /* Write guest memory as an ELF core file (native/snapshot). `memory` is where line 0 is, private anonymous memory of the
     * process; what it holds is the guest's, since caches of the model hold no data. Returns as write_records. */
    int (*write_snapshot)(struct model *, const void *memory, const char *path, char *error, size_t error_bytes);
    void (*destroy)(struct model *);
};

/* Make a model from a resolved machine: a text file of "key value" lines as the harness writes it.
 * Returns NULL with a sentence in `error` if the file is not one. `operations` is filled in. */
struct model *mosbench_model_create(const char *machine_file, struct model_operations *operations, char *error,
                                    size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif
