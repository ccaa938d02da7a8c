// SPDX-License-Identifier: MIT
/** @file Address spaces that do not change in time: a buffer's image, by its reader. */
#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

static bool same_reader(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->space == b->space && a->source == b->source &&
           a->has_context_id == b->has_context_id && a->has_vmid == b->has_vmid &&
           a->context_id == b->context_id && a->vmid == b->vmid;
}

static const struct pug_address_space *find(const struct pug_capture_images *images,
                                            const struct pug_reader_space *reader)
{
    struct pug_address_space *const *spaces = images->spaces.items;
    for (size_t i = 0; i < images->spaces.count; i++)
        if (same_reader(&spaces[i]->reader, reader))
            return spaces[i];
    return NULL;
}

static const struct pug_address_space *make(struct pug_capture *capture,
                                            struct pug_capture_images *images,
                                            const struct pug_reader_space *reader)
{
    struct pug_address_space *space = calloc(1, sizeof(*space));
    struct pug_address_space **place = space ? pug_list_add(&images->spaces, sizeof(*place)) : NULL;
    if (!place) {
        free(space);
        return NULL;
    }
    *space = (struct pug_address_space){
        .image = images->image, .reader = *reader, .number = ++capture->spaces};
    return *place = space;
}

const struct pug_address_space *pug_capture_image_space(struct pug_capture *capture,
                                                        uint32_t buffer,
                                                        const struct pug_reader_space *reader)
{
    struct pug_capture_images *images = capture->images.items;
    if (buffer >= capture->images.count || !images[buffer].image)
        return NULL;
    struct pug_reader_space reduced = *reader;
    pug_image_reduce(images[buffer].image, &reduced);
    pthread_mutex_lock(&capture->lock);
    const struct pug_address_space *space = find(&images[buffer], &reduced);
    if (!space)
        space = make(capture, &images[buffer], &reduced);
    capture->starved |= !space;
    pthread_mutex_unlock(&capture->lock);
    return space;
}

const struct pug_address_space *pug_capture_numbered_space(struct pug_capture *capture,
                                                           uint64_t number)
{
    const struct pug_capture_images *images = capture->images.items;
    const struct pug_address_space *found = NULL;
    pthread_mutex_lock(&capture->lock);
    for (size_t i = 0; i < capture->images.count && !found; i++) {
        struct pug_address_space *const *spaces = images[i].spaces.items;
        for (size_t n = 0; n < images[i].spaces.count && !found; n++)
            found = spaces[n]->number == number ? spaces[n] : NULL;
    }
    pthread_mutex_unlock(&capture->lock);
    return found;
}

/* ---- names ---- */

/** The buffer, and who reads: what pug_capture_image_space() is asked for. */
static bool name_image_space(struct pug_capture *capture, uint64_t number,
                             struct pug_space_name *name)
{
    const struct pug_capture_images *images = capture->images.items;
    bool found = false;
    pthread_mutex_lock(&capture->lock);
    for (size_t i = 0; i < capture->images.count; i++) {
        struct pug_address_space *const *spaces = images[i].spaces.items;
        for (size_t n = 0; n < images[i].spaces.count && !found; n++) {
            const struct pug_reader_space *reader = &spaces[n]->reader;
            found = spaces[n]->number == number;
            *name = (struct pug_space_name){{i, (uint64_t)reader->space, reader->source,
                                             reader->has_context_id | reader->has_vmid << 1,
                                             reader->context_id, reader->vmid}};
        }
    }
    pthread_mutex_unlock(&capture->lock);
    return found;
}

bool pug_capture_space_name(struct pug_capture *capture, uint64_t number,
                            struct pug_space_name *name)
{
    if (!capture->ops->name)
        return name_image_space(capture, number, name);
    const struct pug_address_space *space = pug_capture_space(capture, number);
    if (space)
        capture->ops->name(space, name);
    return space != NULL;
}

const struct pug_address_space *pug_capture_space_named(struct pug_capture *capture,
                                                        const struct pug_space_name *name)
{
    const uint64_t *words = name->words;
    const struct pug_reader_space reader = {.space = (uint8_t)words[1],
                                            .source = (uint16_t)words[2],
                                            .has_context_id = words[3] & 1,
                                            .has_vmid = words[3] >> 1 & 1,
                                            .context_id = (uint32_t)words[4],
                                            .vmid = (uint32_t)words[5]};
    return capture->ops->named ? capture->ops->named(capture, name)
                               : pug_capture_image_space(capture, (uint32_t)words[0], &reader);
}

void pug_capture_images_free(struct pug_capture *capture)
{
    struct pug_capture_images *images = capture->images.items;
    for (size_t i = 0; i < capture->images.count; i++) {
        struct pug_address_space **spaces = images[i].spaces.items;
        for (size_t n = 0; n < images[i].spaces.count; n++)
            free(spaces[n]);
        free(images[i].spaces.items);
        pug_image_free(images[i].image);
    }
    free(capture->images.items);
}

/* ---- objects ---- */

static uint32_t object_of(const struct pug_capture *capture, const char *path)
{
    struct pug_capture_object *const *objects = pug_capture_objects(capture);
    for (size_t i = 0; i < capture->objects.count; i++)
        if (strcmp(objects[i]->path, path) == 0)
            return (uint32_t)i;
    return PUG_NO_OBJECT;
}

enum pug_status pug_capture_list_objects(struct pug_capture *capture, struct pug_image *image)
{
    struct pug_image_range range;
    for (size_t n = 0; pug_image_range(image, n, &range); n++) {
        if (!range.path || object_of(capture, range.path) != PUG_NO_OBJECT)
            continue;
        const char *path = pug_capture_keep(capture, range.path, SIZE_MAX);
        struct pug_capture_object *object = path ? pug_capture_add_object(capture) : NULL;
        if (!object)
            return PUG_ERR_MEM;
        *object = (struct pug_capture_object){
            .kind = PUG_OBJECT_FILE, .state = PUG_OBJECT_UNVERIFIED, .path = path, .file = path};
    }
    return PUG_OK;
}

bool pug_capture_locate_in_image(struct pug_capture *capture, const struct pug_address_space *space,
                                 uint64_t address, struct pug_location *location)
{
    struct pug_window window;
    uint64_t last;
    if (!pug_image_find(space->image, &space->reader, address, &window))
        return false;
    /* A dump of memory holds what ran; a program that is there, too, knows its names. */
    const struct pug_accessor *accessor =
        pug_image_program(space->image, &space->reader, address, &last);
    if (!accessor || window.last < last)
        last = window.last;
    if (!accessor)
        accessor = window.accessor;
    if (!accessor->file)
        return false;
    const struct pug_range *range = pug_accessor_range(accessor, address);
    *location = (struct pug_location){
        .object = object_of(capture, pug_file_path(accessor->file)),
        .vaddr = address - accessor->bias,
        .offset = address - range->start + range->offset,
        .first = window.first,
        .last = last,
        .piece_first = range->start,
        .piece_last = range->end,
    };
    return location->object != PUG_NO_OBJECT;
}
