/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Plugin for an unmodified QEMU: counts the guest's instructions, in generated code, into a file that others can read meanwhile.
 * Loaded with -plugin count.so,count=PATH, where PATH is a file of 8 bytes.
 *
 * Debian has no package with the header, so what is used of interface version 1 is declared here
 * (QEMU documentation, "QEMU TCG Plugins").
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct qemu_plugin_tb;
enum { INLINE_ADD_U64 = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*)(uint64_t id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int operation, void *place, uint64_t value);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

static uint64_t *count;

static void translated(uint64_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, count, qemu_plugin_tb_n_insns(block));
}

EXPORT int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv)
{
    int fd = argc == 1 && !strncmp(argv[0], "count=", 6) ? open(argv[0] + 6, O_RDWR | O_CLOEXEC) : -1;

    (void)info;
    if (fd < 0)
        return -1;
    count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (count == MAP_FAILED)
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
