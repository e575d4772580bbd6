/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * `-object mosbench-engine,id=engine,machine=FILE,model=FILE,output=FOLDER`: reads the resolved machine, loads the model and
 * switches the process to the fast engine. Made before the machine and its memory.
 */
#include "qemu/osdep.h"
#include "mosbench/hooks.h"
#include "qapi/error.h"
#include "qom/object_interfaces.h"
#include "settings.h"
#include "usage.h"

#define TYPE_MOSBENCH_ENGINE "mosbench-engine"
OBJECT_DECLARE_SIMPLE_TYPE(MosbenchEngine, MOSBENCH_ENGINE)

struct MosbenchEngine {
    Object parent;
};

static void complete(UserCreatable *object G_GNUC_UNUSED, Error **errp)
{
    if (mosbench_settings_apply(errp)) {
        mosbench_usage_init();
        mosbench_on = true;
    }
}

#define STRING_SETTING(name)                                                                            \
    static void set_##name(Object *object G_GNUC_UNUSED, const char *value, Error **errp G_GNUC_UNUSED) \
    {                                                                                                   \
        g_free(mosbench_settings.name);                                                                 \
        mosbench_settings.name = g_strdup(value);                                                       \
    }
STRING_SETTING(machine)
STRING_SETTING(model)
STRING_SETTING(kernel)
STRING_SETTING(output)

static void set_reverse(Object *object G_GNUC_UNUSED, bool value, Error **errp G_GNUC_UNUSED)
{
    mosbench_settings.reverse = value;
}

static void set_gdb(Object *object G_GNUC_UNUSED, bool value, Error **errp G_GNUC_UNUSED)
{
    mosbench_settings.gdb = value;
}

static void set_snapshot(Object *object G_GNUC_UNUSED, bool value, Error **errp G_GNUC_UNUSED)
{
    mosbench_settings.snapshot = value;
}

static void instance_init(Object *object)
{
    object_property_add_uint32_ptr(object, "quantum", &mosbench_settings.quantum, OBJ_PROP_FLAG_READWRITE);
}

static void class_init(ObjectClass *class, void *data G_GNUC_UNUSED)
{
    USER_CREATABLE_CLASS(class)->complete = complete;
    object_class_property_add_str(class, "machine", NULL, set_machine);
    object_class_property_add_str(class, "model", NULL, set_model);
    object_class_property_add_str(class, "output", NULL, set_output);
    object_class_property_add_str(class, "kernel", NULL, set_kernel);
    object_class_property_add_bool(class, "gdb", NULL, set_gdb);
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
