// SPDX-License-Identifier: MIT
/** @file Devices to protocols and settings, as the protocols describe their sources. */
#include "pugmark/author/protocol.h"
#include "snapshot/protocols.h"
#include "snapshot/setting.h"

#include <ctype.h>
#include <strings.h>

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

/** Does the type have this name, and the version, where that matters? */
static bool is_type(const struct pug_device_type *known, const char *type)
{
    unsigned long major;
    size_t length = version_of(type, &major);
    return strncasecmp(known->name, type, length) == 0 && known->name[length] == 0 &&
           (known->version == 0 || known->version == major);
}

/** To the reference only what is before the first '.' matters, and each letter of that. */
static bool is_reference_type(const struct pug_device_type *known, const char *type)
{
    size_t length = strcspn(type, ".");
    return known->reference && strncmp(known->reference, type, length) == 0 &&
           known->reference[length] == 0;
}

typedef bool is_type_fn(const struct pug_device_type *known, const char *type);

/** The protocol that knows a stream of a device by its type: the last one, which was registered. */
static const struct pug_protocol *find_by_type(const char *type, unsigned stream, is_type_fn *is)
{
    const struct pug_protocol *protocol, *last = NULL;
    for (size_t n = 0; (protocol = pug_protocol_at(n)) != NULL; n++) {
        const struct pug_device_type *known =
            protocol->description ? protocol->description->types : NULL;
        for (; known && known->name; known++)
            if (known->stream == stream && is(known, type))
                last = protocol;
    }
    return last;
}

/** A protocol by its name, with or without a version after it. */
static const struct pug_protocol *find_by_name(const char *type)
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

const struct pug_protocol *pug_snapshot_protocol_of_type(const char *type)
{
    const struct pug_protocol *protocol = find_by_type(type, 0, is_type);
    return protocol ? protocol : find_by_name(type);
}

static const struct pug_protocol *find_protocol(const struct pug_snapshot *snapshot,
                                                const char *type, unsigned stream)
{
    if (!pug_snapshot_is_native(snapshot))
        return stream == 0 ? find_by_type(type, 0, is_reference_type) : NULL;
    const struct pug_protocol *protocol = find_by_type(type, stream, is_type);
    return protocol || stream > 0 ? protocol : find_by_name(type);
}

static bool traces_core(const struct pug_protocol *protocol)
{
    return protocol && protocol->description && protocol->description->traces_core;
}

const char *pug_snapshot_device_config_protocol(const struct pug_snapshot *snapshot,
                                                const struct pug_snapshot_device *device,
                                                unsigned stream, bool core)
{
    const struct pug_protocol *protocol = find_protocol(snapshot, device->type, stream);
    if (!protocol || (!pug_snapshot_is_native(snapshot) && traces_core(protocol) != core))
        return NULL; /* to the reference only what traces a core has one */
    return protocol->name;
}

bool pug_snapshot_traces_core(const struct pug_snapshot *snapshot,
                              const struct pug_snapshot_device *device)
{
    return traces_core(find_protocol(snapshot, device->type, 0));
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

/** The result and the input. */
struct cook {
    const struct pug_snapshot *snapshot;
    const struct pug_snapshot_source *source;
    const struct pug_settings *overrides;
    struct device_config *device_config;
    bool native;
};

/** The value of a register; a word is none. */
static bool register_value(const struct cook *cook, const struct pug_snapshot_register *found,
                           uint32_t *value)
{
    char *end;
    const unsigned long long read = strtoull(found->value, &end, 0);
    const unsigned bits = found->size < 32 ? found->size : 32;
    const bool number = end != found->value && !*end;
    *value = (uint32_t)read;
    if (!cook->native || (number && read >> bits == 0))
        return true;
    pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK, "%s: %s %s: '%s'\n",
                     cook->source->device->file, found->name,
                     number ? "has more bits than the register" : "is no number", found->value);
    return false;
}

static bool is_required(const struct pug_register *wanted)
{
    return wanted->need == PUG_REGISTER_REQUIRED || wanted->need == PUG_REGISTER_ID;
}

/** Report it in the reference's words. */
static void say_reference_missing(const struct cook *cook, const struct pug_register *wanted)
{
    const bool required = is_required(wanted);
    pug_snapshot_say(cook->snapshot, BUILDER, required ? PUG_SEV_ERROR : PUG_SEV_WARN, PUG_OK,
                     "%sMissing %s\n", required ? "Error:" : "Warning: Default set for register. ",
                     wanted->name);
}

static void say_missing(const struct cook *cook, const struct pug_register *wanted)
{
    const char *file = cook->source->device->file;
    if (!cook->native)
        say_reference_missing(cook, wanted);
    else if (is_required(wanted))
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK,
                         "%s: register %s is missing, without which nothing can be decoded\n", file,
                         wanted->name);
    else if (wanted->need == PUG_REGISTER_ASSUMED)
        pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_WARN, PUG_OK,
                         "%s: register %s is missing: taken for 0x%x\n", file, wanted->name,
                         (unsigned)wanted->assumed);
}

static bool is_overridden(const struct cook *cook, const char *name)
{
    const struct pug_setting *items = cook->device_config->settings.items;
    for (size_t i = 0; i < cook->device_config->settings.count; i++)
        if (strcmp(items[i].name, name) == 0)
            return true;
    return false;
}

/** One register. False: it is missing or no number, and that is an error. */
static bool take_register(struct cook *cook, const struct pug_register *wanted)
{
    const struct pug_snapshot_device *device = cook->source->device;
    const struct pug_snapshot_register *found = find_register(device, wanted->name);
    if (!found && cook->native && wanted->other_name)
        found = find_register(device, wanted->other_name);
    uint32_t value = wanted->assumed;
    if (is_overridden(cook, wanted->name))
        return true;
    if (!found)
        say_missing(cook, wanted);
    if ((!found && is_required(wanted)) || (found && !register_value(cook, found, &value)))
        return false;
    return pug_snapshot_setting_add(&cook->device_config->settings,
                                    (struct pug_setting){.name = wanted->name, .value = value});
}

static bool take_registers(struct cook *cook, const struct pug_register *wanted)
{
    bool complete = true;
    for (; wanted && wanted->name; wanted++)
        if (!take_register(cook, wanted))
            complete = false;
    return complete;
}

/** Everything that the device file has, as it stands. */
static bool take_all(struct cook *cook)
{
    const struct pug_snapshot_device *device = cook->source->device;
    for (size_t i = 0; i < device->register_count; i++)
        if (!pug_snapshot_setting_add(
                &cook->device_config->settings,
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
        if (!pug_snapshot_setting_add(&cook->device_config->settings, setting))
            return false;
    }
    return true;
}

static bool add_core(struct cook *cook, enum pug_arch arch, enum pug_arch_profile profile)
{
    struct list *settings = &cook->device_config->settings;
    return pug_snapshot_setting_add(settings,
                                    (struct pug_setting){.name = "arch", .value = arch}) &&
           pug_snapshot_setting_add(settings,
                                    (struct pug_setting){.name = "profile", .value = profile});
}

/** Nobody can say what the core is: packets can be listed all the same, and most code decoded. */
static bool take_unknown_core(struct cook *cook, const struct pug_description *description)
{
    const struct pug_snapshot_source *source = cook->source;
    const char *taken = description->usual_arch == PUG_ARCH_V7 ? "ARMv7" : "an AArch64 core";
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
    return add_core(cook, description->usual_arch, PUG_PROFILE_UNKNOWN);
}

static bool take_core(struct cook *cook, const struct pug_description *description)
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
        return take_unknown_core(cook, description);
    pug_snapshot_say(cook->snapshot, BUILDER, PUG_SEV_ERROR, PUG_ERR_SNAPSHOT_TREE,
                     "Unrecognized Core name %s. Cannot evaluate profile or architecture.",
                     core ? core->type : "");
    return false;
}

bool pug_snapshot_device_config_make(const struct pug_snapshot *snapshot,
                                     const struct pug_snapshot_source *source,
                                     const struct pug_settings *overrides,
                                     struct device_config *device_config)
{
    struct cook cook = {snapshot, source, overrides, device_config,
                        pug_snapshot_is_native(snapshot)};
    *device_config = (struct device_config){
        .protocol = pug_snapshot_device_config_protocol(snapshot, source->device, source->stream,
                                                        source->core_name != NULL)};
    if (!device_config->protocol) {
        if (cook.native) /* the reference does not say why */
            pug_snapshot_say(snapshot, BUILDER, PUG_SEV_ERROR, PUG_OK, "%s: type %s is not known\n",
                             source->device->file, source->device->type);
        return false;
    }
    const struct pug_description *description =
        pug_protocol_find(device_config->protocol)->description;
    if (source->stream > 0 &&
        !pug_snapshot_setting_add(&device_config->settings,
                                  (struct pug_setting){.name = "stream", .value = source->stream}))
        return false;
    if (!take_overrides(&cook) || (description && !take_registers(&cook, description->registers)))
        return false;
    if (description && description->traces_core && !take_core(&cook, description))
        return false;
    return !cook.native || take_all(&cook);
}

void pug_snapshot_device_config_free(struct device_config *device_config)
{
    free(device_config->settings.items);
    *device_config = (struct device_config){.protocol = NULL};
}
