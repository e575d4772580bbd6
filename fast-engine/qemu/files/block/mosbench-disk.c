/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * A disk whose completions are tied to the guest's time. The image file is mapped privately: writes are kept in memory and are gone
 * with the process. A request takes latency + bytes / bandwidth of QEMU_CLOCK_VIRTUAL and completes from that clock's timers,
 * which the engine's thread runs at a reproducible place; nothing depends on when the host delivers data. Where the guest stands
 * (a debugger stops it) that clock does too, and QEMU waits for all requests before it lets anybody in: those end at once then.
 */
#include "qemu/osdep.h"
#include <sys/mman.h>
#include "block/block_int.h"
#include "qapi/error.h"
#include "qapi/qmp/qdict.h"
#include "qemu/module.h"
#include "qemu/option.h"
#include "qemu/timer.h"
#include "sysemu/runstate.h"

#define OPT_IMAGE "image"
#define OPT_LATENCY "latency-us"
#define OPT_BANDWIDTH "mbytes-per-second"

typedef struct Request {
    QEMUTimer *timer;
    QLIST_ENTRY(Request) next;
} Request;

typedef struct {
    uint8_t *bytes;
    int64_t length;
    int64_t latency_ns;
    int64_t mbytes_per_second;
    int64_t free_at;           /* ns of guest time: requests are served one after the other */
    QLIST_HEAD(, Request) pending;
} MosbenchDisk;

static QemuOptsList options_list = {
    .name = "mosbench-disk",
    .head = QTAILQ_HEAD_INITIALIZER(options_list.head),
    .desc = {
        { .name = OPT_IMAGE, .type = QEMU_OPT_STRING, .help = "raw image file" },
        { .name = OPT_LATENCY, .type = QEMU_OPT_NUMBER, .help = "microseconds of guest time a request takes at least" },
        { .name = OPT_BANDWIDTH, .type = QEMU_OPT_NUMBER, .help = "transfer rate in 10^6 bytes per second of guest time" },
        { /* end of list */ }
    },
};

static int disk_open(BlockDriverState *bs, QDict *options, int flags G_GNUC_UNUSED, Error **errp)
{
    MosbenchDisk *disk = bs->opaque;
    QemuOpts *opts = qemu_opts_create(&options_list, NULL, 0, &error_abort);
    const char *image;
    struct stat status;
    int fd = -1;
    int result = -EINVAL;

    if (!qemu_opts_absorb_qdict(opts, options, errp)) {
        goto out;
    }
    image = qemu_opt_get(opts, OPT_IMAGE);
    disk->latency_ns = qemu_opt_get_number(opts, OPT_LATENCY, 100) * SCALE_US;
    disk->mbytes_per_second = MAX(1, qemu_opt_get_number(opts, OPT_BANDWIDTH, 100));
    if (!image) {
        error_setg(errp, "mosbench-disk: no image given");
        goto out;
    }
    fd = open(image, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status)) {
        result = -errno;
        error_setg_errno(errp, errno, "mosbench-disk: %s", image);
        goto out;
    }
    disk->length = QEMU_ALIGN_DOWN(status.st_size, 512);
    disk->bytes = mmap(NULL, disk->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (disk->bytes == MAP_FAILED) {
        result = -errno;
        error_setg_errno(errp, errno, "mosbench-disk: %s", image);
        goto out;
    }
    result = 0;
out:
    if (fd >= 0) {
        close(fd);
    }
    qemu_opts_del(opts);
    return result;
}

static void disk_close(BlockDriverState *bs)
{
    MosbenchDisk *disk = bs->opaque;
    munmap(disk->bytes, disk->length);
}

static int64_t disk_length(BlockDriverState *bs)
{
    MosbenchDisk *disk = bs->opaque;
    return disk->length;
}

static void wake(void *opaque)
{
    aio_co_wake(opaque);
}

/* The clock's own timer list and not the block layer's: only the former is run by the engine. */
static void coroutine_fn take_time(MosbenchDisk *disk, int64_t bytes)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    Request request = { .timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, wake, qemu_coroutine_self()) };

    disk->free_at = MAX(disk->free_at, now) + disk->latency_ns + bytes * 1000 / disk->mbytes_per_second;
    QLIST_INSERT_HEAD(&disk->pending, &request, next);
    timer_mod(request.timer, disk->free_at);
    qemu_coroutine_yield();
    QLIST_REMOVE(&request, next);
    timer_free(request.timer);
}

/* A timer set to the past would do for a clock that runs. This one may stand: call what the timer would have called. */
static void coroutine_fn disk_drain(BlockDriverState *bs)
{
    MosbenchDisk *disk = bs->opaque;
    Request *request;

    QLIST_FOREACH(request, &disk->pending, next) {
        if (timer_pending(request->timer)) {
            timer_del(request->timer);
            wake(request->timer->opaque);
        }
    }
}

static int coroutine_fn disk_read(BlockDriverState *bs, int64_t offset, int64_t bytes, QEMUIOVector *qiov,
                                  BdrvRequestFlags flags G_GNUC_UNUSED)
{
    MosbenchDisk *disk = bs->opaque;

    if (runstate_is_running()) {
        take_time(disk, bytes);
    }
    qemu_iovec_from_buf(qiov, 0, disk->bytes + offset, bytes);
    return 0;
}

static int coroutine_fn disk_write(BlockDriverState *bs, int64_t offset, int64_t bytes, QEMUIOVector *qiov,
                                   BdrvRequestFlags flags G_GNUC_UNUSED)
{
    MosbenchDisk *disk = bs->opaque;

    if (runstate_is_running()) {
        take_time(disk, bytes);
    }
    qemu_iovec_to_buf(qiov, 0, disk->bytes + offset, bytes);
    return 0;
}

/* Never reached from IDE, which completes a flush at once: nothing is ever written back. */
static int coroutine_fn disk_flush(BlockDriverState *bs G_GNUC_UNUSED)
{
    return 0;
}

static BlockDriver mosbench_disk = {
    .format_name = "mosbench-disk",
    .protocol_name = "mosbench-disk",
    .instance_size = sizeof(MosbenchDisk),
    .bdrv_file_open = disk_open,
    .bdrv_close = disk_close,
    .bdrv_getlength = disk_length,
    .bdrv_co_preadv = disk_read,
    .bdrv_co_pwritev = disk_write,
    .bdrv_co_flush_to_disk = disk_flush,
    .bdrv_co_drain_begin = disk_drain,
};

static void register_disk(void)
{
    bdrv_register(&mosbench_disk);
}

block_init(register_disk);
