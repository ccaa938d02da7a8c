// SPDX-License-Identifier: MIT
/** @file Devices to protocols and settings: which registers a type has, and what a core is. */
#include "pugmark/author/protocol.h"
#include "snapshot/setting.h"

#include <ctype.h>
#include <strings.h>

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

/** A kind of trace source. */
struct type_rule {
    const char *type; /**< as the reference has it up to the first '.' */
    const char *name; /**< of the protocol, before its version; NULL: as the type */
    int major;        /**< the version's, where several protocols have the name; else 0 */
    const char *protocol;
    bool core; /**< it traces a core; to the reference the others must have none */
    const struct register_rule *registers;
    size_t count;
    enum pug_arch arch; /**< of a core of which nothing is known */
};

#define REGISTERS(list) list, sizeof(list) / sizeof((list)[0])

static const struct type_rule types[] = {
    {"ETM4", "ETM", 4, "ETMV4I", true, REGISTERS(etm4_registers), PUG_ARCH_AA64},
    {"ETE", NULL, 0, "ETE", true, REGISTERS(ete_registers), PUG_ARCH_AA64},
    {"ETM3", "ETM", 3, "ETMV3", true, REGISTERS(etm_registers), PUG_ARCH_V7},
    {"PTM1", "PTM", 0, "PTM", true, REGISTERS(etm_registers), PUG_ARCH_V7},
    {"PFT1", "PFT", 0, "PTM", true, REGISTERS(etm_registers), PUG_ARCH_V7},
    {"STM", NULL, 0, "STM", false, REGISTERS(stm_registers), PUG_ARCH_UNKNOWN},
    {"ITM", NULL, 0, "ITM", false, REGISTERS(itm_registers), PUG_ARCH_UNKNOWN},
};

#define TYPES (sizeof(types) / sizeof(types[0]))

static const struct type_rule *find_reference_type(const char *type)
{
    size_t length = strcspn(type, ".");
    for (size_t i = 0; i < TYPES; i++)
        if (strncmp(types[i].type, type, length) == 0 && types[i].type[length] == 0)
            return &types[i];
    return NULL;
}

/** Where the version of a type begins ("ETM4.5", "ETMv4", "STM-500"): its name is before that. */
static size_t version_of(const char *type, unsigned long *major)
{
    size_t digits = strcspn(type, "0123456789"), length = digits;
    *major = strtoul(type + digits, NULL, 10);
    if (length > 0 && type[digits] && tolower((unsigned char)type[length - 1]) == 'v')
        length--;
    while (length > 0 && strchr(" -_.", type[length - 1]))
        length--;
    return length;
}

/** Name and version, whatever the version, where there is but one protocol of the name. */
static const struct type_rule *find_native_type(const char *type)
{
    unsigned long major;
    size_t length = version_of(type, &major);
    for (size_t i = 0; i < TYPES; i++) {
        const char *name = types[i].name ? types[i].name : types[i].type;
        if (strncasecmp(name, type, length) == 0 && name[length] == 0 &&
            (types[i].major == 0 || (unsigned long)types[i].major == major))
            return &types[i];
    }
    return NULL;
}

static const struct type_rule *find_type(const struct pug_snapshot *snapshot, const char *type)
{
    return pug_snapshot_is_native(snapshot) ? find_native_type(type) : find_reference_type(type);
}

/** A known protocol by its name, with or without a version behind it. */
static const struct pug_protocol *find_protocol(const char *type)
{
    const struct pug_protocol *protocol = pug_protocol_find(type);
    unsigned long major;
    size_t length = version_of(type, &major);
    for (size_t n = 0; !protocol && pug_protocol_at(n); n++) {
        const char *name = pug_protocol_at(n)->name;
        bool whole = strcasecmp(name, type) == 0;
        if (whole || (length > 0 && strncasecmp(name, type, length) == 0 && name[length] == 0))
            protocol = pug_protocol_at(n);
    }
    return protocol;
}

const char *pug_snapshot_recipe_protocol(const struct pug_snapshot *snapshot,
                                         const struct pug_snapshot_device *device, bool core)
{
    const struct type_rule *rule = find_type(snapshot, device->type);
    bool native = pug_snapshot_is_native(snapshot);
    if (rule)
        return native || rule->core == core ? rule->protocol : NULL;
    const struct pug_protocol *protocol = native ? find_protocol(device->type) : NULL;
    return protocol ? protocol->name : NULL;
}

bool pug_snapshot_traces_core(const struct pug_snapshot_device *device)
{
    const struct type_rule *rule = find_native_type(device->type);
    return rule && rule->core;
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

/** What is being made, and from what. */
struct cook {
    const struct pug_snapshot *snapshot;
    const struct pug_snapshot_source *source;
    const struct pug_settings *overrides;
    struct recipe *recipe;
    bool native;
};

/** The value of a register; a word is none. */
static bool register_value(const struct cook *cook, const struct pug_snapshot_register *found,
                           uint32_t *value)
{
    char *end;
    *value = (uint32_t)strtoull(found->value, &end, 0);
    if (!cook->native || (end != found->value && !*end))
        return true;
    pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK,
                     "Error:%s in %s is no number: '%s'\n", found->name, cook->source->device->file,
                     found->value);
    return false;
}

static void say_missing(const struct cook *cook, const struct register_rule *rule)
{
    bool required = rule->need == REQUIRED;
    if (cook->native && rule->need == UNUSED)
        return;
    pug_snapshot_say(cook->snapshot, BUILDER, required ? PUG_SEV_ERROR : PUG_SEV_WARN, PUG_OK,
                     "%sMissing %s%s%s\n",
                     required ? "Error:" : "Warning: Default set for register. ", rule->name,
                     cook->native ? " in " : "", cook->native ? cook->source->device->file : "");
}

static bool is_overridden(const struct cook *cook, const char *name)
{
    const struct pug_setting *items = cook->recipe->settings.items;
    for (size_t i = 0; i < cook->recipe->settings.count; i++)
        if (strcmp(items[i].name, name) == 0)
            return true;
    return false;
}

/** One register by its rule. False: it is missing or no number, and that is an error. */
static bool take_register(struct cook *cook, const struct register_rule *rule)
{
    const struct pug_snapshot_device *device = cook->source->device;
    const struct pug_snapshot_register *found = find_register(device, rule->name);
    if (!found && cook->native && other_name(rule->name))
        found = find_register(device, other_name(rule->name));
    uint32_t value = rule->otherwise;
    if (is_overridden(cook, rule->name))
        return true;
    if (!found)
        say_missing(cook, rule);
    if ((!found && rule->need == REQUIRED) || (found && !register_value(cook, found, &value)))
        return false;
    return pug_snapshot_setting_add(&cook->recipe->settings,
                                    (struct pug_setting){.name = rule->name, .value = value});
}

static bool take_registers(struct cook *cook, const struct type_rule *rule)
{
    bool complete = true;
    for (size_t i = 0; i < rule->count; i++)
        if (!take_register(cook, &rule->registers[i]))
            complete = false;
    return complete;
}

/** Everything that the device file has, as it stands. */
static bool take_all(struct cook *cook)
{
    const struct pug_snapshot_device *device = cook->source->device;
    for (size_t i = 0; i < device->register_count; i++)
        if (!pug_snapshot_setting_add(
                &cook->recipe->settings,
                pug_snapshot_setting_make(device->registers[i].name, device->registers[i].value)))
            return false;
    return true;
}

/** The overrides of all sources and of this one, which go first. */
static bool take_overrides(struct cook *cook)
{
    const char *name = cook->source->name;
    size_t length = strlen(name);
    for (size_t i = 0; i < cook->overrides->count; i++) {
        struct pug_setting setting = cook->overrides->items[i];
        const char *colon = strrchr(setting.name, ':');
        if (colon == setting.name + length && strncmp(setting.name, name, length) == 0)
            setting.name = colon + 1;
        else if (colon)
            continue;
        if (!pug_snapshot_setting_add(&cook->recipe->settings, setting))
            return false;
    }
    return true;
}

static bool add_core(struct cook *cook, enum pug_arch arch, enum pug_arch_profile profile)
{
    struct list *settings = &cook->recipe->settings;
    return pug_snapshot_setting_add(settings,
                                    (struct pug_setting){.name = "arch", .value = arch}) &&
           pug_snapshot_setting_add(settings,
                                    (struct pug_setting){.name = "profile", .value = profile});
}

/** Nobody can say what the core is: packets can be listed all the same, and most code decoded. */
static bool take_unknown_core(struct cook *cook, const struct type_rule *rule)
{
    const struct pug_snapshot_source *source = cook->source;
    const char *taken = rule->arch == PUG_ARCH_V7 ? "ARMv7-A" : "an AArch64 core";
    if (!source->core)
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "Nothing says which core %s traces: taken for %s\n", source->name, taken);
    else if (*source->core->type)
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "Core type %s in %s is not known: taken for %s\n", source->core->type,
                         source->core->file, taken);
    else
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "No type of core %s in %s: taken for %s\n", source->core->name,
                         source->core->file, taken);
    return add_core(cook, rule->arch, PUG_PROFILE_A);
}

static bool take_core(struct cook *cook, const struct type_rule *rule)
{
    const struct pug_snapshot_device *core = cook->source->core;
    enum pug_arch arch;
    enum pug_arch_profile profile;
    if (is_overridden(cook, "core"))
        return true;
    if (cook->source->assumed_core)
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "Nothing says which core %s traces: it is %s, of which there is no other "
                         "trace\n",
                         cook->source->name, cook->source->core_name);
    if (core &&
        (cook->native ? pug_core_by_name : pug_core_by_reference_name)(core->type, &arch, &profile))
        return add_core(cook, arch, profile);
    if (cook->native)
        return take_unknown_core(cook, rule);
    pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_TREE,
                     "Unrecognized Core name %s. Cannot evaluate profile or architecture.",
                     core->type);
    return false;
}

bool pug_snapshot_recipe_make(const struct pug_snapshot *snapshot,
                              const struct pug_snapshot_source *source,
                              const struct pug_settings *overrides, struct recipe *recipe)
{
    const struct type_rule *rule = find_type(snapshot, source->device->type);
    struct cook cook = {snapshot, source, overrides, recipe, pug_snapshot_is_native(snapshot)};
    *recipe = (struct recipe){.protocol = pug_snapshot_recipe_protocol(snapshot, source->device,
                                                                       source->core_name != NULL)};
    if (!recipe->protocol) {
        if (cook.native) /* the reference does not say why */
            pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK,
                             "Error:Unknown type %s in %s\n", source->device->type,
                             source->device->file);
        return false;
    }
    if (!take_overrides(&cook) || (rule && !take_registers(&cook, rule)))
        return false;
    if (rule && rule->core && !take_core(&cook, rule))
        return false;
    return !cook.native || take_all(&cook);
}

void pug_snapshot_recipe_free(struct recipe *recipe)
{
    free(recipe->settings.items);
    *recipe = (struct recipe){.protocol = NULL};
}
