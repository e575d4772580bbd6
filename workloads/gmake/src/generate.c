/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Writes the source tree that gmake builds: headers, P_OBJECTS units in folders and a program that calls them all, always the
 * same for the same parameters. As in a kernel's tree a make of its own builds each folder and links its objects into one. Each
 * unit computes a number; the value the whole program must print is computed here too, in `expected`.
 */
#define _GNU_SOURCE
#include "workers.h"

#include <stdbool.h>
#include <sys/stat.h>

#define HEADERS 12
#define TABLE 32
#define PER_FOLDER 8 /* units */

static uint32_t random_state;

/* The generator of Lehmer with the multiplier of Park and Miller. */
static uint32_t next_random(void)
{
    return random_state = (uint32_t)((uint64_t)random_state * 48271 % 2147483647);
}

static FILE *create(const char *path)
{
    FILE *file = fopen(path, "w");

    if (!file)
        die("cannot write %s", path);
    return file;
}

static void finish(FILE *file)
{
    if (ferror(file) | fclose(file))
        die("cannot write the source tree");
}

/* No header of the system's: as in a kernel's tree, and because tmpfs does not remember which names it lacks. A compiler that
 * looks for <stdint.h> here first would take the folder's mutex, on all cores, for each of these headers in each unit. */
static void write_headers(unsigned declarations)
{
    char path[64];
    FILE *common = create("include/common.h");

    fprintf(common, "#ifndef COMMON_H\n#define COMMON_H\ntypedef unsigned int uint32_t;\n");
    for (unsigned h = 0; h < HEADERS; h++) {
        fprintf(common, "#include <part-%02u.h>\n", h);
        snprintf(path, sizeof(path), "include/part-%02u.h", h);
        FILE *part = create(path);

        fprintf(part, "#ifndef PART_%02u_H\n#define PART_%02u_H\n", h, h);
        for (unsigned i = 0; i < declarations; i++)
            fprintf(part,
                    "struct record_%u_%u { uint32_t key, value; struct record_%u_%u *next; };\n"
                    "extern int compare_%u_%u(const struct record_%u_%u *, const struct record_%u_%u *);\n"
                    "#define LIMIT_%u_%u (%uu + sizeof(struct record_%u_%u))\n",
                    h, i, h, i, h, i, h, i, h, i, h, i, next_random(), h, i);
        fprintf(part, "#endif\n");
        finish(part);
    }
    fprintf(common, "#endif\n");
    finish(common);
}

/* Write unit `number` and return what it makes of `value`. */
static uint32_t write_unit(unsigned number, unsigned functions, uint32_t value)
{
    char path[64];
    uint32_t table[TABLE];

    snprintf(path, sizeof(path), "src/%04u/unit-%04u.c", number / PER_FOLDER, number);
    FILE *unit = create(path);

    fprintf(unit, "#include <common.h>\nstatic const uint32_t table[%d] = {", TABLE);
    for (unsigned i = 0; i < TABLE; i++) {
        table[i] = next_random();
        fprintf(unit, "%s%uu", i ? ", " : "", table[i]);
    }
    fprintf(unit, "};\n");
    for (unsigned f = 0; f < functions; f++) {
        uint32_t factor = next_random() | 1, first = next_random() % TABLE, limit = next_random();

        fprintf(unit,
                "static uint32_t mix_%u(uint32_t value)\n{\n"
                "    for (unsigned i = 0; i < %d; i++) {\n"
                "        value = (value ^ table[(i + %u) %% %d]) * %uu;\n"
                "        if (value > %uu)\n            value ^= value >> 15;\n        else\n            value += i;\n"
                "    }\n    return value;\n}\n",
                f, TABLE, first, TABLE, factor, limit);
        for (unsigned i = 0; i < TABLE; i++) {
            value = (value ^ table[(i + first) % TABLE]) * factor;
            if (value > limit)
                value ^= value >> 15;
            else
                value += i;
        }
    }
    fprintf(unit, "uint32_t unit_%04u(uint32_t value)\n{\n", number);
    for (unsigned f = 0; f < functions; f++)
        fprintf(unit, "    value = mix_%u(value);\n", f);
    fprintf(unit, "    return value;\n}\n");
    finish(unit);
    return value;
}

static void write_program(unsigned units, uint32_t value)
{
    FILE *program = create("src/main.c");

    fprintf(program, "#include <common.h>\nint printf(const char *format, ...);\n");
    for (unsigned u = 0; u < units; u++)
        fprintf(program, "uint32_t unit_%04u(uint32_t value);\n", u);
    fprintf(program, "int main(void)\n{\n    uint32_t value = %uu;\n", value);
    for (unsigned u = 0; u < units; u++)
        fprintf(program, "    value = unit_%04u(value);\n", u);
    fprintf(program, "    printf(\"%%08x\\n\", value);\n    return 0;\n}\n");
    finish(program);
}

static unsigned folders_of(unsigned units)
{
    return (units + PER_FOLDER - 1) / PER_FOLDER;
}

static void write_rules(FILE *makefile, const char *objects, const char *sources)
{
    fprintf(makefile, "HEADERS := include/common.h");
    for (unsigned h = 0; h < HEADERS; h++)
        fprintf(makefile, " include/part-%02u.h", h);
    fprintf(makefile,
            "\n%s/%%.o: %s/%%.c $(HEADERS)\n"
            "\t$(CC) -O1 -Iinclude -c -o $@ $<\n",
            objects, sources);
}

/* The folder's makefile, which is started in the root of the tree. */
static void write_folder(unsigned folder, unsigned units)
{
    char path[64], objects[32], sources[32];

    snprintf(objects, sizeof(objects), "out/%04u", folder);
    snprintf(sources, sizeof(sources), "src/%04u", folder);
    snprintf(path, sizeof(path), "%s/Makefile", sources);
    FILE *makefile = create(path);

    fprintf(makefile, "%s/all.o:", objects);
    for (unsigned u = folder * PER_FOLDER; u < units && u < (folder + 1) * PER_FOLDER; u++)
        fprintf(makefile, " %s/unit-%04u.o", objects, u);
    fprintf(makefile, "\n\t$(CC) -r -o $@ $^\n");
    write_rules(makefile, objects, sources);
    finish(makefile);
}

static void write_makefile(unsigned units, unsigned warm_units)
{
    unsigned folders = folders_of(units), warm = folders_of(warm_units);
    FILE *makefile = create("Makefile");

    fprintf(makefile, "MAKEFLAGS += --no-builtin-rules --no-builtin-variables\nPARTS :=");
    for (unsigned f = 0; f < folders; f++)
        fprintf(makefile, " out/%04u/all.o", f);
    fprintf(makefile, "\nout/program: out/main.o $(PARTS)\n"
                      "\t$(CC) -o $@ $^\n"
                      "$(PARTS): out/%%/all.o: src/%%/Makefile\n"
                      "\t$(MAKE) -f $<\n"
                      "warm: out/main.o");
    for (unsigned f = 0; f < folders && f < warm; f++)
        fprintf(makefile, " out/%04u/all.o", f);
    fprintf(makefile, "\n.PHONY: warm\n");
    write_rules(makefile, "out", "src");
    finish(makefile);
}

int main(void)
{
    unsigned objects = (unsigned)number_setting("P_OBJECTS"), functions = (unsigned)number_setting("P_FUNCTIONS");
    unsigned declarations = (unsigned)number_setting("P_DECLARATIONS"), cores = (unsigned)number_setting("MOSBENCH_NCORES");
    uint32_t first = 2166136261u, value = first;

    if (objects < 2 || objects > 9999 || functions < 1 || declarations < 1)
        die("P_OBJECTS=%u must be 2 to 9999, P_FUNCTIONS=%u and P_DECLARATIONS=%u at least 1", objects, functions, declarations);
    random_state = 20101004; /* any seed; this is the day on which the paper was presented */
    if (mkdir("include", 0755) || mkdir("src", 0755) || mkdir("out", 0755))
        die("cannot make the folders of the source tree");
    write_headers(declarations);
    for (unsigned f = 0; f < folders_of(objects - 1); f++) {
        char path[64];

        snprintf(path, sizeof(path), "src/%04u", f);
        bool made = mkdir(path, 0755) == 0;

        snprintf(path, sizeof(path), "out/%04u", f);
        if (!made || mkdir(path, 0755))
            die("cannot make the folders of the source tree");
        write_folder(f, objects - 1);
    }
    for (unsigned u = 0; u + 1 < objects; u++) /* one object is main's */
        value = write_unit(u, functions, value);
    write_program(objects - 1, first);
    write_makefile(objects - 1, cores);
    FILE *expected = create("expected");

    fprintf(expected, "%08x\n", value);
    finish(expected);
    return 0;
}
