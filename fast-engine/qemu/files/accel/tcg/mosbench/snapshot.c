/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Guest memory at the end of the region, as an ELF core file with physical addresses. Pages never touched or zero are left out.
 */
#include "qemu/osdep.h"
#include "snapshot.h"
#include "elf.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "arena.h"

#define PAGE 4096ull

static bool page_is_present(int pagemap, const uint8_t *page, uint64_t *entries, uint64_t *first, uint64_t *count)
{
    uint64_t number = (uintptr_t)page / PAGE;

    if (number < *first || number >= *first + *count) {
        ssize_t got = pread(pagemap, entries, 512 * sizeof(*entries), number * sizeof(*entries));
        *first = number;
        *count = got > 0 ? got / sizeof(*entries) : 0;
        if (!*count) {
            return true;
        }
    }
    return entries[number - *first] >> 62;     /* present, or swapped out */
}

static GArray *find_runs(const struct model_memory *pieces, size_t count)
{
    GArray *runs = g_array_new(false, false, sizeof(struct model_memory));
    int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    uint64_t entries[512], first = 0, known = 0;

    for (size_t i = 0; i < count; i++) {
        for (uint64_t done = 0; done < pieces[i].bytes; done += PAGE) {
            const uint8_t *page = (const uint8_t *)mosbench_arena + pieces[i].offset + done;
            struct model_memory run = {
                .offset = pieces[i].offset + done, .physical = pieces[i].physical + done, .bytes = PAGE,
            };
            if (!page_is_present(pagemap, page, entries, &first, &known) || buffer_is_zero(page, PAGE)) {
                continue;
            }
            if (runs->len) {
                struct model_memory *last = &g_array_index(runs, struct model_memory, runs->len - 1);
                if (last->physical + last->bytes == run.physical && last->offset + last->bytes == run.offset) {
                    last->bytes += PAGE;
                    continue;
                }
            }
            g_array_append_val(runs, run);
        }
    }
    if (pagemap >= 0) {
        close(pagemap);
    }
    return runs;
}

/* e_phnum has 16 bits: past 65,000 runs, neighbours with small gaps are joined (the gap's zero pages are written out). */
static void join_runs(GArray *runs)
{
    for (uint64_t gap = PAGE; runs->len > 65000; gap *= 2) {
        guint kept = 0;
        for (guint i = 1; i < runs->len; i++) {
            struct model_memory *last = &g_array_index(runs, struct model_memory, kept);
            struct model_memory next = g_array_index(runs, struct model_memory, i);
            if (next.physical - last->physical == next.offset - last->offset &&
                next.offset - (last->offset + last->bytes) <= gap) {
                last->bytes = next.offset + next.bytes - last->offset;
            } else {
                g_array_index(runs, struct model_memory, ++kept) = next;
            }
        }
        g_array_set_size(runs, kept + 1);
    }
}

bool mosbench_write_snapshot(const char *path, Error **errp)
{
    struct model_memory pieces[4];
    g_autoptr(GArray) runs = find_runs(pieces, mosbench_memory_pieces(pieces, ARRAY_SIZE(pieces)));
    FILE *file = fopen(path, "wb");
    uint64_t place;
    bool good;

    if (!file) {
        error_setg_errno(errp, errno, "%s", path);
        return false;
    }
    join_runs(runs);
    place = ROUND_UP(sizeof(Elf64_Ehdr) + (uint64_t)runs->len * sizeof(Elf64_Phdr), PAGE);
    Elf64_Ehdr header = {
        .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
        .e_type = ET_CORE, .e_machine = EM_X86_64, .e_version = EV_CURRENT, .e_phoff = sizeof(Elf64_Ehdr),
        .e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = runs->len,
    };
    good = fwrite(&header, sizeof(header), 1, file) == 1;
    for (guint i = 0; i < runs->len && good; i++) {
        const struct model_memory *run = &g_array_index(runs, struct model_memory, i);
        Elf64_Phdr segment = {
            .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = place, .p_paddr = run->physical,
            .p_filesz = run->bytes, .p_memsz = run->bytes, .p_align = PAGE,
        };
        good = fwrite(&segment, sizeof(segment), 1, file) == 1;
        place += run->bytes;
    }
    good = good && !fseek(file, ROUND_UP(ftell(file), PAGE), SEEK_SET);
    for (guint i = 0; i < runs->len && good; i++) {
        const struct model_memory *run = &g_array_index(runs, struct model_memory, i);
        good = fwrite((const uint8_t *)mosbench_arena + run->offset, run->bytes, 1, file) == 1;
    }
    if (fclose(file) || !good) {
        error_setg_errno(errp, errno, "%s", path);
        return false;
    }
    return true;
}
