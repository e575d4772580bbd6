/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Process 1 of the guest: sets the system up, runs the one job that the kernel command line names, reports, powers off.
 *
 *     mosbench.job=<workload>:<variant>:<key=value,...>
 *
 * makes the second disk, the workload's own, the root, and runs /mosbench/workloads/<workload>/run there. With
 * mosbench.engine=gem5 and mosbench.job=readfile it lets gem5 take a checkpoint first, and then reads the job from the file that
 * gem5 was started with. Whatever goes wrong ends in an exit event with a status and a sentence, never in a hang. Uses only
 * system calls that Linux 2.6.35 has.
 */

#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/random.h>
#include <net/if.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>

#include "roi.h"

enum {
    STATUS_INIT_FAILED = 125, /* init itself could not do its part */
    STATUS_NOT_FOUND = 127,   /* no such workload in the image */
    MAX_CPUS = 1024,
    MAX_PARAMETERS = 64,
};

static __attribute__((noreturn)) void power_off(void)
{
    fflush(stdout);
    sync();
    tcdrain(STDOUT_FILENO);
    if (roi_in_gem5())
        ROI_GEM5(ROI_GEM5_EXIT, 0ul, 0ul, 0ul);
    reboot(RB_POWER_OFF);
    reboot(RB_AUTOBOOT);
    for (;;)
        pause();
}

/* Report the end of the job and power off. `format` is a sentence, empty when all went well. */
static __attribute__((noreturn, format(printf, 2, 3))) void finish(int status, const char *format, ...)
{
    char sentence[512], json[640];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    for (char *c = sentence; *c; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = '\'';
    if (sentence[0])
        snprintf(json, sizeof(json), "{\"event\":\"exit\",\"status\":%d,\"error\":\"%s\"}", status, sentence);
    else
        snprintf(json, sizeof(json), "{\"event\":\"exit\",\"status\":%d}", status);
    roi_report(json);
    power_off();
}

/* First `size - 1` bytes of a small file without the final line break; false if it cannot be read. */
static bool read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    size_t used = 0;

    for (ssize_t got; used < size - 1 && (got = read(fd, text + used, size - 1 - used)) > 0;)
        used += (size_t)got;
    close(fd);
    while (used && text[used - 1] == '\n')
        used--;
    text[used] = '\0';
    return true;
}

static void mount_or_finish(const char *type, const char *folder, const char *options)
{
    /* EBUSY: the kernel mounted it already (devtmpfs). */
    if (mount(type, folder, type, 0, options) && errno != EBUSY)
        finish(STATUS_INIT_FAILED, "init cannot mount %s on %s: %s.", type, folder, strerror(errno));
}

static void mount_file_systems(void)
{
    /* First, and even if the kernel did it: a redirect into a read-only empty /dev would end process 1. */
    mount_or_finish("devtmpfs", "/dev", "mode=0755");
    int console = open("/dev/console", O_RDWR | O_NOCTTY);

    if (console >= 0) {
        for (int fd = 0; fd < 3; fd++)
            dup2(console, fd);
        if (console > 2)
            close(console);
    }
    mount_or_finish("proc", "/proc", "");
    mount_or_finish("sysfs", "/sys", "");
    mount_or_finish("tmpfs", "/tmp", "mode=1777");
    mount_or_finish("tmpfs", "/run", "mode=0755");
    mount_or_finish("tmpfs", "/work", "mode=1777");
    mkdir("/run/lock", 01777);
    mkdir("/dev/shm", 01777);
    mount_or_finish("tmpfs", "/dev/shm", "mode=1777");
    mkdir("/dev/pts", 0755);
    mount_or_finish("devpts", "/dev/pts", "gid=5,mode=620,ptmxmode=666");
    /* Not every kernel of the study has these two. */
    mkdir("/dev/mqueue", 01777);
    (void)!mount("mqueue", "/dev/mqueue", "mqueue", 0, "");
    (void)!mount("hugetlbfs", "/hugepages", "hugetlbfs", 0, "mode=1777");
    (void)!symlink("/proc/self/fd", "/dev/fd");
    (void)!symlink("fd/0", "/dev/stdin");
    (void)!symlink("fd/1", "/dev/stdout");
    (void)!symlink("fd/2", "/dev/stderr");
}

/* Errors and worse still show, if they do on this kernel command line; what a driver says later would tear the lines of the
 * protocol. */
static void quieten_kernel(void)
{
    char levels[64];

    if (!read_file("/proc/sys/kernel/printk", levels, sizeof(levels)) || atoi(levels) > 4)
        klogctl(8, NULL, 4);
}

static void bring_up_loopback(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {.ifr_name = "lo"};

    if (fd < 0)
        finish(STATUS_INIT_FAILED, "init cannot open a socket: %s.", strerror(errno));
    if (ioctl(fd, SIOCGIFFLAGS, &request) == 0) {
        request.ifr_flags |= IFF_UP | IFF_RUNNING;
        if (ioctl(fd, SIOCSIFFLAGS, &request) == 0) {
            close(fd);
            return;
        }
    }
    finish(STATUS_INIT_FAILED, "init cannot bring up the loopback interface: %s.", strerror(errno));
}

/* The machine has no entropy, and waiting for some would take seconds of simulated time; nothing here is a secret. */
static void seed_random_numbers(void)
{
    struct {
        struct rand_pool_info info;
        unsigned char bytes[64];
    } seed = {.info = {.entropy_count = 512, .buf_size = 64}};

    for (unsigned i = 0; i < sizeof(seed.bytes); i++)
        ((unsigned char *)seed.info.buf)[i] = (unsigned char)(i * 37 + 11);
    int fd = open("/dev/random", O_RDWR | O_CLOEXEC);

    if (fd >= 0) {
        (void)!ioctl(fd, RNDADDENTROPY, &seed);
        close(fd);
    }
}

static void set_limit(int resource, rlim_t value)
{
    /* Not setrlimit(): glibc 2.36 makes it prlimit64, which Linux 2.6.35 lacks. */
    struct rlimit limit = {value, value};

    (void)!syscall(SYS_setrlimit, resource, &limit);
}

/* Numbers in a list such as "0-5,8"; returns how many, at most `room` are stored. */
static unsigned parse_list(const char *text, unsigned *numbers, unsigned room)
{
    unsigned count = 0;

    while (isdigit((unsigned char)*text)) {
        char *end;
        unsigned long first = strtoul(text, &end, 10), last = first;

        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        for (unsigned long number = first; number <= last && count < room; number++)
            numbers[count++] = (unsigned)number;
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* The distances between the nodes as firmware gave them, as a JSON list of rows; nothing if the kernel does not tell. */
static void read_distances(const unsigned *nodes, unsigned count, char *json, size_t size)
{
    char path[64], row[512];
    size_t used = 0;

    json[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/distance", nodes[i]);
        if (!read_file(path, row, sizeof(row)) || used + strlen(row) + 8 > size) {
            json[0] = '\0';
            return;
        }
        for (char *c = row; *c; c++)
            if (*c == ' ')
                *c = ',';
        used += (size_t)sprintf(json + used, "%s[%s]", i ? "," : "[", row);
    }
    if (count)
        strcpy(json + used, "]");
}

/* The value of `key` (with its =) on the kernel command line, in `value`; false if it is not there. */
static bool read_word(const char *key, char *value, size_t size)
{
    static char line[4096];

    if (!read_file("/proc/cmdline", line, sizeof(line)))
        finish(STATUS_INIT_FAILED, "init cannot read /proc/cmdline.");
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " ")) {
        if (strncmp(word, key, strlen(key)))
            continue;
        snprintf(value, size, "%s", word + strlen(key));
        return true;
    }
    return false;
}

/* The job's text, in `job`. */
static void read_job(char *job, size_t size)
{
    if (!read_word("mosbench.job=", job, size))
        finish(STATUS_INIT_FAILED, "The kernel command line has no mosbench.job=<workload>:<variant>:<key=value,...>.");
    if (strcmp(job, "readfile"))
        return;
    if (!roi_in_gem5())
        finish(STATUS_INIT_FAILED, "mosbench.job=readfile is for gem5, and mosbench.engine=gem5 is not on the command line.");
    /* Touched before the checkpoint: gem5 writes into it without a page fault. */
    memset(job, 0, size);
    tcdrain(STDOUT_FILENO);
    ROI_GEM5(ROI_GEM5_CHECKPOINT, 0ul, 0ul, 0ul);
    uint64_t got = ROI_GEM5(ROI_GEM5_READ_FILE, job, size - 1, 0ul);

    job[got < size ? got : 0] = '\0';
    job[strcspn(job, "\n")] = '\0';
    if (!job[0])
        finish(STATUS_INIT_FAILED, "gem5 has no job to read.");
}

/* The disk that is not the one of the root: which of the two is found first may change from boot to boot. */
static const char *other_disk(void)
{
    enum { SCSI_DISK_MAJOR = 8, MINORS_OF_A_DISK = 16 };
    struct stat root;

    if (stat("/", &root) || major(root.st_dev) != SCSI_DISK_MAJOR || minor(root.st_dev) / MINORS_OF_A_DISK > 1)
        finish(STATUS_INIT_FAILED, "init was not started from the first or second disk.");
    return minor(root.st_dev) / MINORS_OF_A_DISK ? "/dev/sda" : "/dev/sdb";
}

/* The workload's disk becomes the root, with all that is mounted already. Only when the job is known: gem5 puts the job's disk in
 * after the boot, and what the kernel read of the one before is not to be taken for it. */
static void enter_workload_disk(void)
{
    static const char *const mounted[] = {"/dev", "/proc", "/sys", "/tmp", "/run", "/work", "/hugepages"};
    const char *workload_disk = other_disk();
    int disk = open(workload_disk, O_RDONLY | O_CLOEXEC);

    if (disk < 0 || ioctl(disk, BLKFLSBUF, 0))
        finish(STATUS_INIT_FAILED, "init cannot read the workload's disk %s: %s.", workload_disk, strerror(errno));
    close(disk);
    if (mount(workload_disk, "/root", "ext2", MS_RDONLY, ""))
        finish(STATUS_INIT_FAILED, "init cannot mount the workload's disk %s: %s.", workload_disk, strerror(errno));
    for (size_t i = 0; i < sizeof(mounted) / sizeof(mounted[0]); i++) {
        char place[64];

        snprintf(place, sizeof(place), "/root%s", mounted[i]);
        /* EINVAL: nothing is mounted there. */
        if (mount(mounted[i], place, NULL, MS_MOVE, NULL) && errno != EINVAL)
            finish(STATUS_INIT_FAILED, "init cannot move %s to the workload's disk: %s.", mounted[i], strerror(errno));
    }
    if (chdir("/root") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
        finish(STATUS_INIT_FAILED, "init cannot make the workload's disk the root: %s.", strerror(errno));
}

static bool is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") == strlen(text);
}

static char *setting(const char *key, const char *value)
{
    char *text = NULL;

    if (asprintf(&text, "%s=%s", key, value) < 0)
        finish(STATUS_INIT_FAILED, "init has no memory.");
    return text;
}

/* "iterations=100" to "P_ITERATIONS=100". */
static char *parameter_setting(char *parameter)
{
    char *value = strchr(parameter, '=');
    char key[64] = "P_";

    if (!value)
        finish(STATUS_INIT_FAILED, "The job's parameter %s is not of the form key=value.", parameter);
    *value++ = '\0';
    if (!is_name(parameter) || strlen(parameter) > sizeof(key) - 3)
        finish(STATUS_INIT_FAILED, "The job's parameter name %s is not lower-case letters, digits, - and _.", parameter);
    for (size_t i = 0; parameter[i]; i++)
        key[2 + i] = parameter[i] == '-' ? '_' : (char)toupper((unsigned char)parameter[i]);
    return setting(key, value);
}

static __attribute__((noreturn)) void run_child(const char *path, char **environment)
{
    sigset_t none;

    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    char *arguments[] = {(char *)path, NULL};

    execve(path, arguments, environment);
    dprintf(STDOUT_FILENO, "init: cannot execute %s: %s\n", path, strerror(errno));
    _exit(STATUS_NOT_FOUND);
}

int main(void)
{
    static unsigned cpus[MAX_CPUS], nodes[MAX_CPUS];
    static char text[4096], cores[8 * MAX_CPUS], job[4096], json[4096];
    struct utsname system;

    if (getpid() != 1) {
        fputs("init: runs as process 1 of the guest only\n", stderr);
        return 2;
    }
    umask(022);
    mount_file_systems();
    if (read_word("mosbench.engine=", text, sizeof(text)))
        setenv("MOSBENCH_ENGINE", text, 1);
    quieten_kernel();
    sethostname("mosbench", 8);
    bring_up_loopback();
    seed_random_numbers();
    set_limit(RLIMIT_NOFILE, 1 << 18);
    set_limit(RLIMIT_MEMLOCK, RLIM_INFINITY);
    set_limit(RLIMIT_NPROC, RLIM_INFINITY);
    set_limit(RLIMIT_CORE, 0);

    uname(&system);
    unsigned cpu_count = read_file("/sys/devices/system/cpu/online", text, sizeof(text)) ? parse_list(text, cpus, MAX_CPUS) : 0;

    if (!cpu_count)
        finish(STATUS_INIT_FAILED, "init cannot tell which processors are online.");
    unsigned node_count =
        read_file("/sys/devices/system/node/online", text, sizeof(text)) ? parse_list(text, nodes, MAX_CPUS) : 1;

    read_distances(nodes, node_count, text, 3000);
    snprintf(json, sizeof(json), "{\"event\":\"boot\",\"kernel\":\"%s\",\"cpus\":%u,\"nodes\":%u%s%s}", system.release, cpu_count,
             node_count, text[0] ? ",\"distances\":" : "", text);
    roi_report(json);
    for (unsigned i = 0, used = 0; i < cpu_count; i++)
        used += (unsigned)snprintf(cores + used, sizeof(cores) - used, "%s%u", i ? " " : "", cpus[i]);

    read_job(job, sizeof(job));
    roi_job();
    char *rest = job, *workload = strsep(&rest, ":"), *variant = strsep(&rest, ":");

    if (!is_name(workload) || !variant || !is_name(variant))
        finish(STATUS_INIT_FAILED, "mosbench.job is not of the form <workload>:<variant>:<key=value,...>.");

    char *environment[MAX_PARAMETERS + 16];
    unsigned count = 0;

    environment[count++] = setting("PATH", "/mosbench/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    environment[count++] = setting("HOME", "/root");
    environment[count++] = setting("LC_ALL", "C");
    environment[count++] = setting("MOSBENCH_WORKLOAD", workload);
    environment[count++] = setting("MOSBENCH_VARIANT", variant);
    environment[count++] = setting("MOSBENCH_CORES", cores);
    if (roi_in_gem5())
        environment[count++] = setting("MOSBENCH_ENGINE", "gem5");
    environment[count++] = setting("MOSBENCH_INIT", "1");
    snprintf(text, sizeof(text), "%u", cpu_count);
    environment[count++] = setting("MOSBENCH_NCORES", text);
    unsigned parameters = 0;

    for (char *parameter; rest && (parameter = strsep(&rest, ","));) {
        if (!*parameter)
            continue;
        if (++parameters > MAX_PARAMETERS)
            finish(STATUS_INIT_FAILED, "The job has more than %d parameters.", MAX_PARAMETERS);
        environment[count++] = parameter_setting(parameter);
    }
    environment[count] = NULL;

    char path[512];

    enter_workload_disk();
    snprintf(path, sizeof(path), "/mosbench/workloads/%s/run", workload);
    if (access(path, X_OK))
        finish(STATUS_NOT_FOUND, "The image has no workload %s (%s: %s).", workload, path, strerror(errno));
    if (mkdir("/work/job", 0755) || chdir("/work/job"))
        finish(STATUS_INIT_FAILED, "init cannot make the folder /work/job: %s.", strerror(errno));
    snprintf(json, sizeof(json), "{\"event\":\"start\",\"workload\":\"%.64s\",\"variant\":\"%.64s\"}", workload, variant);
    roi_report(json);
    fflush(stdout);

    sigset_t awaited;

    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, ROI_DONE_SIGNAL);
    sigprocmask(SIG_BLOCK, &awaited, NULL);
    pid_t child = fork();

    if (child < 0)
        finish(STATUS_INIT_FAILED, "init cannot fork: %s.", strerror(errno));
    if (child == 0)
        run_child(path, environment);
    int status = 0;

    for (pid_t ended = 0; ended != child;) {
        if (sigwaitinfo(&awaited, NULL) == ROI_DONE_SIGNAL)
            finish(0, "%s", ""); /* its processes sleep, and to end them would take the time of a simulator */
        /* Process 1 also reaps what daemons leave behind. */
        while (ended != child && (ended = waitpid(-1, &status, WNOHANG)) > 0)
            ;
        if (ended < 0 && errno != EINTR)
            finish(STATUS_INIT_FAILED, "init lost the job: %s.", strerror(errno));
    }
    kill(-1, SIGKILL);
    if (WIFSIGNALED(status))
        finish(128 + WTERMSIG(status), "The job was ended by signal %d (%s).", WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status))
        finish(WEXITSTATUS(status), "The job %s:%s exited with status %d.", workload, variant, WEXITSTATUS(status));
    finish(0, "%s", "");
}
