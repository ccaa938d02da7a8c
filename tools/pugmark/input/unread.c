// SPDX-License-Identifier: MIT
#include "unread.h"

#include "base/edit_distance.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>
#include <string.h>

/** A file and the receiver of its names. */
struct file {
    const struct input *input;
    const char *name;
    const char **names;
    size_t count;
    const struct pug_register *registers; /* that its protocol has besides */
    unread_fn *tell;
    void *context;
};

static bool has(const struct file *file, const char *name)
{
    for (size_t i = 0; i < file->count; i++)
        if (strcmp(file->names[i], name) == 0)
            return true;
    return false;
}

bool unread_is_register(const struct pug_register *registers, const char *name)
{
    for (; registers && registers->name; registers++)
        if (strcmp(registers->name, name) == 0 ||
            (registers->other_name && strcmp(registers->other_name, name) == 0))
            return true;
    return false;
}

/** Keys of parameter files that are no settings. */
static bool is_key(const char *name)
{
    const char *key;
    for (size_t n = 0; (key = pug_params_key(n)) != NULL; n++)
        if (strcmp(key, name) == 0)
            return true;
    return false;
}

/** The nearest name so far: this one, if it is nearer and missing in the file. */
static void compare(const struct file *file, const char *name, const char *known, unsigned *least,
                    const char **nearest)
{
    const unsigned distance = pug_name_distance(name, known);
    if (distance >= *least || has(file, known))
        return;
    *least = distance;
    *nearest = known;
}

static const char *find_meant(const struct file *file, const char *name)
{
    const char *nearest = NULL, *known;
    unsigned least = PUG_NAME_FAR;
    for (size_t n = 0; (known = known_name_at(&file->input->known, n)) != NULL; n++)
        compare(file, name, known, &least, &nearest);
    for (size_t n = 0; (known = pug_params_key(n)) != NULL && !file->registers; n++)
        compare(file, name, known, &least, &nearest);
    for (const struct pug_register *at = file->registers; at && at->name; at++)
        compare(file, name, at->name, &least, &nearest);
    return nearest;
}

/** So many names are compared with all that are known: a file with more slips is another file. */
#define COMPARED_MOST 64u

static void tell_file(const struct file *file)
{
    const struct known *known = &file->input->known;
    size_t compared = 0;
    for (size_t i = 0; i < file->count; i++) {
        const char *name = file->names[i];
        if (!known_has(known, name) && !unread_is_register(file->registers, name) && !is_key(name))
            file->tell(file->context, file->name, name,
                       compared++ < COMPARED_MOST ? find_meant(file, name) : NULL);
    }
}

/* ---- parameter files ---- */

static bool tell_list(const struct input *input, const char *path,
                      const struct pug_settings *settings, unread_fn *tell, void *context)
{
    const char **names = calloc(settings->count + 1, sizeof(*names));
    for (size_t i = 0; names && i < settings->count; i++)
        names[i] = settings->items[i].name;
    if (names)
        tell_file(&(struct file){.input = input,
                                 .name = path,
                                 .names = names,
                                 .count = settings->count,
                                 .tell = tell,
                                 .context = context});
    free(names);
    return names != NULL;
}

static bool tell_params(const struct input *input, unread_fn *tell, void *context)
{
    const char *path = input->options->params;
    struct pug_params *params;
    const enum pug_status status = pug_params_load(path, NULL, &params);
    if (status != PUG_OK)
        return status != PUG_ERR_MEM;
    const size_t sources = pug_params_sources(params);
    bool good = true;
    for (size_t n = 0; n < sources && good; n++)
        good = tell_list(input, pug_params_source_path(params, n), pug_params_source(params, n),
                         tell, context);
    if (sources == 0)
        good = tell_list(input, path, pug_params_settings(params), tell, context);
    pug_params_free(params);
    return good;
}

static size_t count_read(const struct input *input, const struct pug_settings *settings)
{
    size_t count = 0;
    for (size_t i = 0; i < settings->count; i++)
        count +=
            known_has(&input->known, settings->items[i].name) || is_key(settings->items[i].name);
    return count;
}

bool unread_wholly(const struct input *input)
{
    struct pug_params *params;
    if (!input->options->params || pug_params_load(input->options->params, NULL, &params) != PUG_OK)
        return false;
    size_t count = pug_params_settings(params)->count,
           read = count_read(input, pug_params_settings(params));
    for (size_t n = 0; n < pug_params_sources(params); n++) {
        count += pug_params_source(params, n)->count;
        read += count_read(input, pug_params_source(params, n));
    }
    pug_params_free(params);
    return count > 0 && read == 0;
}

/* ---- snapshots ---- */

/** Does the device write into the buffer at hand? */
static const struct pug_capture_source *find_source(const struct input *input,
                                                    const struct pug_snapshot_device *device)
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(input->capture, input->segment);
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (source->buffer == segment->buffer && strcmp(source->name, device->name) == 0)
            return source;
    return NULL;
}

static bool tell_device(const struct input *input, const struct pug_snapshot_device *device,
                        unread_fn *tell, void *context)
{
    const struct pug_capture_source *source = find_source(input, device);
    const struct pug_protocol *protocol = source ? pug_protocol_find(source->protocol) : NULL;
    if (!protocol)
        return true;
    const char **names = calloc(device->register_count + 1, sizeof(*names));
    if (!names)
        return false;
    for (size_t i = 0; i < device->register_count; i++)
        names[i] = device->registers[i].name;
    tell_file(
        &(struct file){.input = input,
                       .name = device->file,
                       .names = names,
                       .count = device->register_count,
                       .registers = protocol->description ? protocol->description->registers : NULL,
                       .tell = tell,
                       .context = context});
    free(names);
    return true;
}

bool unread_each(const struct input *input, unread_fn *tell, void *context)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(input->capture);
    const struct pug_snapshot_device *device;
    for (size_t n = 0; snapshot && (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++)
        if (!tell_device(input, device, tell, context))
            return false;
    return !input->options->params || tell_params(input, tell, context);
}
