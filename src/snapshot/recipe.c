// SPDX-License-Identifier: MIT
/** @file Devices to protocols and settings: which registers a type has, and what a core is. */
#include "snapshot/setting.h"

/** What a register is where the snapshot does not have it. */
enum need {
    ASSUMED,  /* told: what a decoder does depends on it */
    REQUIRED, /* there is no value that would do */
    UNUSED,   /* told by the reference: it is read, but nothing depends on it */
};

/** A register that a protocol needs, or has a value for. */
struct register_rule {
    const char *name;
    enum need need;
    uint32_t otherwise;
};

static const struct register_rule etm4_registers[] = {
    {"TRCCONFIGR", REQUIRED, 0},      {"TRCTRACEIDR", REQUIRED, 0}, {"TRCIDR0", REQUIRED, 0},
    {"TRCIDR1", ASSUMED, 0x4100F403}, {"TRCIDR2", REQUIRED, 0},     {"TRCIDR8", ASSUMED, 0},
    {"TRCIDR9", UNUSED, 0},           {"TRCIDR10", UNUSED, 0},      {"TRCIDR11", UNUSED, 0},
    {"TRCIDR12", UNUSED, 0},          {"TRCIDR13", UNUSED, 0}};

static const struct register_rule ete_registers[] = {
    {"TRCCONFIGR", REQUIRED, 0},        {"TRCTRACEIDR", REQUIRED, 0}, {"TRCIDR0", REQUIRED, 0},
    {"TRCIDR1", ASSUMED, 0x4100F403},   {"TRCIDR2", REQUIRED, 0},     {"TRCIDR8", ASSUMED, 0},
    {"TRCDEVARCH", ASSUMED, 0x47705A13}};

/* Of ETMv3 and of PTM. */
static const struct register_rule etm_registers[] = {{"ETMIDR", REQUIRED, 0},
                                                     {"ETMCR", REQUIRED, 0},
                                                     {"ETMCCER", REQUIRED, 0},
                                                     {"ETMTRACEIDR", REQUIRED, 0}};

static const struct register_rule stm_registers[] = {{"STMTCSR", REQUIRED, 0}};
static const struct register_rule itm_registers[] = {{"ITMTCR", REQUIRED, 0}};

/** A device type, as it is up to the first '.'. */
struct type_rule {
    const char *type, *protocol;
    bool core; /* it traces a core; else it must have none */
    const struct register_rule *registers;
    size_t count;
};

#define REGISTERS(list) list, sizeof(list) / sizeof((list)[0])

static const struct type_rule types[] = {
    {"ETM4", "ETMV4I", true, REGISTERS(etm4_registers)},
    {"ETE", "ETE", true, REGISTERS(ete_registers)},
    {"ETM3", "ETMV3", true, REGISTERS(etm_registers)},
    {"PTM1", "PTM", true, REGISTERS(etm_registers)},
    {"PFT1", "PTM", true, REGISTERS(etm_registers)},
    {"STM", "STM", false, REGISTERS(stm_registers)},
    {"ITM", "ITM", false, REGISTERS(itm_registers)},
};

static const struct type_rule *find_type(const char *type)
{
    size_t length = strcspn(type, ".");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (strncmp(types[i].type, type, length) == 0 && types[i].type[length] == 0)
            return &types[i];
    return NULL;
}

const char *pug_snapshot_recipe_protocol(const struct pug_snapshot *snapshot,
                                         const struct pug_snapshot_device *device, bool core)
{
    const struct type_rule *rule = find_type(device->type);
    if (rule)
        return rule->core == core ? rule->protocol : NULL;
    const struct pug_protocol *protocol =
        pug_snapshot_is_native(snapshot) ? pug_protocol_find(device->type) : NULL;
    return protocol ? protocol->name : NULL;
}

/* ---- registers ---- */

static const struct pug_snapshot_register *find_register(const struct pug_snapshot_device *device,
                                                         const char *name)
{
    for (size_t i = 0; i < device->register_count; i++)
        if (strcmp(device->registers[i].name, name) == 0)
            return &device->registers[i];
    return NULL;
}

/** Another name that a register has, or NULL. */
static const char *other_name(const char *name)
{
    return strcmp(name, "ITMTCR") == 0 ? "CONTROL_REGISTER" : NULL;
}

/** One register by its rule. False: it is missing, and that is an error. */
static bool take_register(const struct pug_snapshot *snapshot,
                          const struct pug_snapshot_device *device,
                          const struct register_rule *rule, struct recipe *recipe)
{
    const struct pug_snapshot_register *found = find_register(device, rule->name);
    if (!found && pug_snapshot_is_native(snapshot) && other_name(rule->name))
        found = find_register(device, other_name(rule->name));
    bool native = pug_snapshot_is_native(snapshot), required = rule->need == REQUIRED;
    if (!found && !(native && rule->need == UNUSED))
        pug_snapshot_say(snapshot, BUILDER, required ? PUG_SEV_ERROR : PUG_SEV_WARN, PUG_OK,
                         "%sMissing %s%s%s\n",
                         required ? "Error:" : "Warning: Default set for register. ", rule->name,
                         native ? " in " : "", native ? device->file : "");
    if (!found && required)
        return false;
    uint32_t value = found ? (uint32_t)strtoull(found->value, NULL, 0) : rule->otherwise;
    return pug_snapshot_setting_add(&recipe->settings,
                                    (struct pug_setting){.name = rule->name, .value = value});
}

static bool take_registers(const struct pug_snapshot *snapshot,
                           const struct pug_snapshot_device *device, const struct type_rule *rule,
                           struct recipe *recipe)
{
    bool complete = true;
    for (size_t i = 0; i < rule->count; i++)
        if (!take_register(snapshot, device, &rule->registers[i], recipe))
            complete = false;
    return complete;
}

/** Everything that the device file has, as it stands. */
static bool take_all(const struct pug_snapshot_device *device, struct recipe *recipe)
{
    for (size_t i = 0; i < device->register_count; i++)
        if (!pug_snapshot_setting_add(
                &recipe->settings,
                pug_snapshot_setting_make(device->registers[i].name, device->registers[i].value)))
            return false;
    return true;
}

static bool take_core(const struct pug_snapshot *snapshot, const struct pug_snapshot_device *core,
                      struct recipe *recipe)
{
    enum pug_arch arch;
    enum pug_arch_profile profile;
    if (!pug_core_by_name(core->type, &arch, &profile)) {
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_TEST_SS_TO_DECODER,
                         "Unrecognized Core name %s. Cannot evaluate profile or architecture.",
                         core->type);
        return false;
    }
    return pug_snapshot_setting_add(&recipe->settings,
                                    (struct pug_setting){.name = "arch", .value = arch}) &&
           pug_snapshot_setting_add(&recipe->settings,
                                    (struct pug_setting){.name = "profile", .value = profile});
}

/** Why there is no protocol for a source. The reference does not say. */
static void say_refused(const struct pug_snapshot *snapshot,
                        const struct pug_snapshot_source *source, const struct type_rule *rule)
{
    const struct pug_snapshot_device *device = source->device;
    if (!pug_snapshot_is_native(snapshot))
        return;
    if (rule)
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK,
                         "Error:%s is of type %s, which traces %s core\n", device->name,
                         device->type, rule->core ? "a" : "no");
    else
        pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK, "Error:Unknown type %s in %s\n",
                         device->type, device->file);
}

bool pug_snapshot_recipe_make(const struct pug_snapshot *snapshot,
                              const struct pug_snapshot_source *source, struct recipe *recipe)
{
    const struct type_rule *rule = find_type(source->device->type);
    *recipe = (struct recipe){.protocol = pug_snapshot_recipe_protocol(snapshot, source->device,
                                                                       source->core_name != NULL)};
    if (!recipe->protocol) {
        say_refused(snapshot, source, rule);
        return false;
    }
    if (rule && !take_registers(snapshot, source->device, rule, recipe))
        return false;
    if (rule && rule->core && !take_core(snapshot, source->core, recipe))
        return false;
    return !pug_snapshot_is_native(snapshot) || take_all(source->device, recipe);
}

void pug_snapshot_recipe_free(struct recipe *recipe)
{
    free(recipe->settings.items);
    *recipe = (struct recipe){.protocol = NULL};
}
