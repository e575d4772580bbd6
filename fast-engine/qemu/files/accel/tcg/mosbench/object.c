/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `-object mosbench-engine,id=engine,machine=FILE,model=FILE,output=FOLDER`: reads the resolved machine, loads the model and
 * switches the process to the fast engine. Made before the machine and its memory.
 */
#include "engine.h"
#include <dlfcn.h>
#include "qapi/error.h"
#include "qom/object_interfaces.h"

#define TYPE_MOSBENCH_ENGINE "mosbench-engine"
OBJECT_DECLARE_SIMPLE_TYPE(MosbenchEngine, MOSBENCH_ENGINE)

struct MosbenchEngine {
    Object parent;
};

/* mosbench_on itself is defined in util/qemu-timer.c, which every QEMU tool links. */
bool mosbench_hooks;
uint32_t mosbench_l1d_mask, mosbench_l1i_mask, mosbench_access_cycles, mosbench_atomic_cycles;
uint64_t mosbench_code_pages;
size_t mosbench_tlb_entries;
EngineSettings mosbench_settings = { .snapshot = true };
struct model *mosbench_model;
struct model_operations mosbench_operations;

uint64_t mosbench_insn_pc;
uint32_t mosbench_insn_cycles, mosbench_block_cycles, mosbench_insn_accesses;
bool mosbench_insn_atomic, mosbench_insn_stream;

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
    static const struct { const char *key; uint32_t *value; } numbers[] = {
        { "sample_period_cycles", &mosbench_settings.sample_period },
        { "tlb_entries", &mosbench_settings.tlb_entries },
        { "l1_cycles", &mosbench_access_cycles },
        { "atomic_cycles", &mosbench_atomic_cycles },
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
    return !*errp;
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
    mosbench_l1d_mask = mosbench_operations.l1d_sets - 1;
    mosbench_l1i_mask = mosbench_operations.l1i_sets - 1;
    mosbench_access_cycles = mosbench_operations.l1_cycles;
    if (!mosbench_settings.quantum) {
        mosbench_settings.quantum = mosbench_operations.quantum;
    }
    return true;
}

static void complete(UserCreatable *object, Error **errp)
{
    Error *problem = NULL;

    if (!read_machine(&problem) || (mosbench_settings.model && !load_model(&problem))) {
        error_propagate(errp, problem);
        return;
    }
    if (!mosbench_settings.output) {
        error_setg(errp, "output folder not given");
        return;
    }
    if (!mosbench_settings.quantum) {
        error_setg(errp, "without a model the quantum must be given");
        return;
    }
    mosbench_tlb_entries = mosbench_settings.tlb_entries;
    mosbench_region_init();
    mosbench_on = true;
}

#define STRING_SETTING(name)                                                                    \
    static void set_##name(Object *object, const char *value, Error **errp)                     \
    {                                                                                           \
        g_free(mosbench_settings.name);                                                         \
        mosbench_settings.name = g_strdup(value);                                               \
    }
STRING_SETTING(machine)
STRING_SETTING(model)
STRING_SETTING(output)

static void set_reverse(Object *object, bool value, Error **errp)
{
    mosbench_settings.reverse = value;
}

static void set_snapshot(Object *object, bool value, Error **errp)
{
    mosbench_settings.snapshot = value;
}

static void instance_init(Object *object)
{
    object_property_add_uint32_ptr(object, "quantum", &mosbench_settings.quantum, OBJ_PROP_FLAG_READWRITE);
}

static void class_init(ObjectClass *class, void *data)
{
    USER_CREATABLE_CLASS(class)->complete = complete;
    object_class_property_add_str(class, "machine", NULL, set_machine);
    object_class_property_add_str(class, "model", NULL, set_model);
    object_class_property_add_str(class, "output", NULL, set_output);
    object_class_property_add_bool(class, "reverse", NULL, set_reverse);
    object_class_property_add_bool(class, "snapshot", NULL, set_snapshot);
}

static const TypeInfo info = {
    .name = TYPE_MOSBENCH_ENGINE,
    .parent = TYPE_OBJECT,
    .instance_size = sizeof(MosbenchEngine),
    .instance_init = instance_init,
    .class_init = class_init,
    .interfaces = (InterfaceInfo[]) { { TYPE_USER_CREATABLE }, { } },
};

static void register_types(void)
{
    type_register_static(&info);
}

type_init(register_types)
