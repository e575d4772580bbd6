/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * See settings.h.
 */
#include "qemu/osdep.h"
#include "settings.h"
#include <dlfcn.h>
#include "guest_stack.h"
#include "mosbench/hooks.h"
#include "qapi/error.h"

EngineSettings mosbench_settings = { .snapshot = true };
uint32_t mosbench_quantum;
struct model *mosbench_model;
struct model_operations mosbench_operations;

/* A number of the machine file; 0 with an error if it is not there or not above zero. */
static double machine_number(const char *text, const char *wanted, Error **errp)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

    for (int i = 0; lines[i]; i++) {
        size_t length = strlen(wanted);
        if (!strncmp(lines[i], wanted, length) && lines[i][length] == ' ') {
            double value = g_ascii_strtod(lines[i] + length, NULL);
            if (value > 0) {
                return value;
            }
        }
    }
    error_setg(errp, "machine file %s: %s is missing or no number above zero", mosbench_settings.machine, wanted);
    return 0;
}

static bool read_machine(Error **errp)
{
    uint32_t tlb_entries = 0;
    const struct { const char *key; uint32_t *value; } numbers[] = {
        { "sample_period_cycles", &mosbench_settings.sample_period },
        { "tlb_entries", &tlb_entries },
        { "l1_cycles", &mosbench_access_cycles },
        { "atomic_cycles", &mosbench_atomic_cycles },
        { "pause_cycles", &mosbench_settings.pause_cycles },
    };
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;

    if (!mosbench_settings.machine || !g_file_get_contents(mosbench_settings.machine, &text, NULL, &problem)) {
        error_setg(errp, "machine file: %s", problem ? problem->message : "not given");
        return false;
    }
    mosbench_settings.clock_ghz = machine_number(text, "clock_ghz", errp);
    for (size_t i = 0; i < ARRAY_SIZE(numbers) && !*errp; i++) {
        *numbers[i].value = machine_number(text, numbers[i].key, errp);
    }
    mosbench_settings.caches_from_job = g_strrstr(text, "caches_from job\n") != NULL;
    if (!*errp && g_strrstr(text, "core interval\n")) {
        mosbench_issue_width = machine_number(text, "issue_width", errp);
        mosbench_jump_cycles = *errp ? 0 : machine_number(text, "jump_cycles", errp);
        mosbench_serializing_cycles = *errp ? 0 : machine_number(text, "serializing_cycles", errp);
    }
    if (*errp) {
        return false;
    }
    mosbench_tlb_entries = tlb_entries;
    return true;
}

static bool load_model(Error **errp)
{
    void *library = dlopen(mosbench_settings.model, RTLD_NOW | RTLD_LOCAL);
    typeof(&mosbench_model_create) create;
    char problem[256] = "";

    if (!library) {
        error_setg(errp, "model: %s", dlerror());
        return false;
    }
    create = (typeof(create))dlsym(library, "mosbench_model_create");
    if (!create) {
        error_setg(errp, "model: %s", dlerror());
        return false;
    }
    mosbench_model = create(mosbench_settings.machine, &mosbench_operations, problem, sizeof(problem));
    if (!mosbench_model) {
        error_setg(errp, "model: %s", problem);
        return false;
    }
    if (mosbench_operations.abi_version != MODEL_ABI_VERSION) {
        error_setg(errp, "model: interface version %u, this engine has %u", mosbench_operations.abi_version, MODEL_ABI_VERSION);
        return false;
    }
    if (mosbench_settings.kernel &&
        mosbench_operations.follow_calls(mosbench_model, &mosbench_guest, mosbench_settings.kernel, problem, sizeof(problem))) {
        error_setg(errp, "model: %s", problem);
        return false;
    }
    mosbench_l1d_mask = mosbench_operations.l1d_sets - 1;
    mosbench_l1i_mask = mosbench_operations.l1i_sets - 1;
    mosbench_access_cycles = mosbench_operations.l1_cycles;
    if (!mosbench_settings.quantum) {
        mosbench_settings.quantum = mosbench_operations.quantum;
    }
    return true;
}

bool mosbench_settings_apply(Error **errp)
{
    ERRP_GUARD();

    if (!read_machine(errp) || (mosbench_settings.model && !load_model(errp))) {
        return false;
    }
    if (!mosbench_settings.output) {
        error_setg(errp, "output folder not given");
        return false;
    }
    if (!mosbench_settings.quantum) {
        error_setg(errp, "without a model the quantum must be given");
        return false;
    }
    mosbench_quantum = mosbench_settings.quantum;
    return true;
}
