// SPDX-License-Identifier: MIT
/** @file The objects of a capture in a profile. */
#include "profile/steps.h"
#include "pugmark/names.h"

#include <stdlib.h>
#include <string.h>

void pug_profile_objects_free(struct profile_objects *objects)
{
    free(objects->numbers);
    free(objects->files);
}

static bool make_room(struct profile_objects *objects, uint32_t object)
{
    if (object < objects->room)
        return true;
    const size_t room = (size_t)object * 2 + 16;
    void *numbers = realloc(objects->numbers, room * sizeof(*objects->numbers));
    if (!numbers)
        return false;
    objects->numbers = numbers;
    void *files = realloc(objects->files, room * sizeof(*objects->files));
    if (!files)
        return false;
    objects->files = files;
    for (size_t i = objects->room; i < room; i++) {
        objects->numbers[i] = PUG_PROFILE_NONE;
        objects->files[i] = NULL;
    }
    objects->room = room;
    return true;
}

static enum pug_status add(struct profile_objects *objects, uint32_t number,
                           const struct pug_capture_object *from)
{
    struct pug_profile_object object = {
        .path = from->path, .file = from->file, .build_id_size = from->build_id_size};
    struct pug_names_file *file = NULL;
    if (objects->names && !pug_capture_names(objects->capture, number, objects->names, &file))
        file = NULL;
    const struct pug_names_segment *segments = NULL;
    const size_t count = file ? pug_names_segments(file, &segments) : 0;
    struct pug_profile_segment *copies = calloc(count + 1, sizeof(*copies));
    if (!copies)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        copies[i] = (struct pug_profile_segment){segments[i].vaddr, segments[i].offset,
                                                 segments[i].size, segments[i].executable};
    object.segments = copies;
    object.segment_count = count;
    memcpy(object.build_id, from->build_id, from->build_id_size);
    const uint8_t *id;
    if (file && object.build_id_size == 0 &&
        (object.build_id_size = (uint8_t)pug_names_build_id(file, &id)) <= PUG_PROFILE_BUILD_ID)
        memcpy(object.build_id, id, object.build_id_size);
    else if (object.build_id_size > PUG_PROFILE_BUILD_ID)
        object.build_id_size = 0;
    objects->files[number] = file;
    enum pug_status status =
        pug_profile_object(objects->profile, &object, &objects->numbers[number]);
    if (status != PUG_OK)
        objects->numbers[number] = PUG_PROFILE_NONE;
    free(copies);
    return status;
}

enum pug_status pug_profile_object_number(struct profile_objects *objects, uint32_t object,
                                          uint32_t *number)
{
    *number = PUG_PROFILE_NONE;
    if (object == PUG_PROFILE_NONE)
        return PUG_OK;
    if (!make_room(objects, object))
        return PUG_ERR_MEM;
    enum pug_status status = PUG_OK;
    if (objects->numbers[object] == PUG_PROFILE_NONE) {
        const struct pug_capture_object *from = pug_capture_object_at(objects->capture, object);
        status = from ? add(objects, object, from) : PUG_ERR_INVALID_PARAM_VAL;
    }
    *number = objects->numbers[object];
    return status;
}

struct pug_names_file *pug_profile_object_names(struct profile_objects *objects, uint32_t object)
{
    uint32_t number;
    if (pug_profile_object_number(objects, object, &number) != PUG_OK || number == PUG_PROFILE_NONE)
        return NULL;
    return objects->files[object];
}

enum pug_status pug_profile_range_of(struct profile_objects *objects,
                                     const struct profile_node *node,
                                     struct pug_profile_range *range)
{
    *range = (struct pug_profile_range){
        .first = node->step.start,
        .last = pug_profile_node_last(node),
        .instructions = node->step.instructions,
        .last_size = node->step.shape.last_size,
        .isa = node->step.shape.isa,
        .end = pug_profile_node_end(node),
    };
    return pug_profile_object_number(objects, node->object, &range->object);
}
