// SPDX-License-Identifier: MIT
#include "items/places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct object {
    bool opened;
    struct pug_names_file *file; /* or NULL */
};

/* When a task was seen last, and where. */
struct seen {
    uint64_t time;    /* its last timestamp; 0: none yet */
    uint64_t earlier; /* what it reported elsewhere since; 0: nothing */
    uint32_t buffer;
    uint16_t source;
    struct pug_origin where; /* of its last range */
};

struct places {
    struct pug_capture *capture;
    struct pug_names *names;
    struct trace_place *tasks; /* where the last range of each was */
    struct seen *seen;         /* as many */
    uint64_t returns;
    struct object *objects;
    uint32_t task_count, object_count;
};

struct places *pug_places_new(struct pug_capture *capture, struct pug_names *names)
{
    struct places *places = calloc(1, sizeof(*places));
    if (places)
        *places = (struct places){.capture = capture, .names = names};
    return places;
}

void pug_places_free(struct places *places)
{
    if (!places)
        return;
    free(places->tasks);
    free(places->seen);
    free(places->objects);
    free(places);
}

bool pug_places_have_times(const struct pug_capture *capture)
{
    return pug_capture_kind(capture) == PUG_CAPTURE_PERF &&
           pug_capture_times(capture).unit != PUG_CAPTURE_NO_TIME;
}

uint32_t pug_places_task(const struct trace_item *item)
{
    return item->where->task == PUG_NO_TASK ? item->element.source : item->where->task;
}

static struct trace_place *place_of(struct places *places, uint32_t task)
{
    if (task >= places->task_count) {
        uint32_t count = task + task / 2 + 16;
        struct trace_place *tasks = realloc(places->tasks, count * sizeof(*tasks));
        places->tasks = tasks ? tasks : places->tasks;
        struct seen *seen = tasks ? realloc(places->seen, count * sizeof(*seen)) : NULL;
        if (!seen)
            return NULL;
        places->seen = seen;
        for (uint32_t i = places->task_count; i < count; i++) {
            tasks[i] = (struct trace_place){.object = PUG_NO_OBJECT};
            seen[i] = (struct seen){.time = 0};
        }
        places->task_count = count;
    }
    return &places->tasks[task];
}

static bool has_object(struct places *places, uint32_t number)
{
    if (number < places->object_count)
        return true;
    const uint32_t count = number + number / 2 + 16;
    struct object *objects = realloc(places->objects, count * sizeof(*objects));
    if (!objects)
        return false;
    memset(objects + places->object_count, 0, (count - places->object_count) * sizeof(*objects));
    places->objects = objects;
    places->object_count = count;
    return true;
}

/**
 * A timestamp of a task that was elsewhere before, and later. That may be all that is left of its
 * time there; if something follows it, it is out of its place.
 */
static void see(struct places *places, uint32_t task, const struct trace_item *item)
{
    struct seen *seen = &places->seen[task];
    const struct pug_origin *where = item->where;
    const uint64_t time = item->element.timestamp;
    if (where->task == PUG_NO_TASK)
        return;
    const bool moved = seen->buffer != where->buffer || seen->source != where->source;
    if (item->element.type == PUG_ELEM_INSTR_RANGE && seen->earlier > 0 && moved) {
        places->returns++;
        *seen = (struct seen){seen->earlier, 0, where->buffer, where->source, seen->where};
    }
    if (item->element.type != PUG_ELEM_TIMESTAMP || time == 0)
        return;
    if (moved && time < seen->time)
        seen->earlier = time;
    else
        *seen = (struct seen){time, 0, where->buffer, where->source, seen->where};
}

uint64_t pug_places_returns(const struct places *places)
{
    return places->returns;
}

bool pug_places_follow(struct places *places, const struct trace_item *item)
{
    const uint32_t task = pug_places_task(item);
    struct trace_place *place = place_of(places, task);
    if (place)
        see(places, task, item);
    if (place && item->place) {
        *place = *item->place;
        places->seen[task].where = *item->where;
    }
    return place && (place->object == PUG_NO_OBJECT || has_object(places, place->object));
}

static struct pug_names_file *file_of(struct places *places, uint32_t number)
{
    if (!places->objects[number].opened) {
        places->objects[number].opened = true;
        (void)pug_capture_names(places->capture, number, places->names,
                                &places->objects[number].file);
    }
    return places->objects[number].file;
}

bool pug_places_vaddr(const struct places *places, uint32_t task, uint64_t address, uint64_t *vaddr)
{
    if (task >= places->task_count)
        return false;
    const struct trace_place *place = &places->tasks[task];
    if (place->object == PUG_NO_OBJECT || address < place->first || address > place->last)
        return false;
    *vaddr = address + place->to_vaddr;
    return true;
}

/**
 * What an address lies in: what the task ran last, or elsewhere in its space, as where an exception
 * came before the first instruction of what was called. False: nothing is known to lie there.
 */
static bool find_object(struct places *places, uint32_t task, uint64_t address, uint64_t *vaddr,
                        uint32_t *object)
{
    struct pug_location location;
    if (task >= places->task_count)
        return false;
    *object = places->tasks[task].object;
    if (pug_places_vaddr(places, task, address, vaddr))
        return true;
    if (!places->seen[task].where.space ||
        !pug_capture_locate(places->capture, &places->seen[task].where, address, &location) ||
        location.object == PUG_NO_OBJECT || !has_object(places, location.object))
        return false;
    *vaddr = location.vaddr;
    *object = location.object;
    return true;
}

struct pug_names_file *pug_places_find(struct places *places, uint32_t task, uint64_t address,
                                       uint64_t *vaddr)
{
    uint32_t object;
    return find_object(places, task, address, vaddr, &object) ? file_of(places, object) : NULL;
}

bool pug_places_locate(void *context, uint32_t task, const struct pug_element *element,
                       uint64_t address, struct pug_function *function)
{
    struct places *places = context;
    struct pug_names_function found;
    uint64_t vaddr;
    uint32_t object;
    (void)element;
    struct pug_names_file *file =
        find_object(places, task, address, &vaddr, &object) ? file_of(places, object) : NULL;
    if (!file || !pug_names_function(file, vaddr, &found))
        return false;
    *function = (struct pug_function){.name = found.name,
                                      .start = address - (vaddr - found.start),
                                      .size = found.size,
                                      .id = object};
    return true;
}

void pug_places_task_words(struct places *places, const struct trace_item *item, char *words,
                           size_t size)
{
    const struct pug_capture_task *task =
        item->where->task == PUG_NO_TASK ? NULL
                                         : pug_capture_task_at(places->capture, item->where->task);
    if (task && pug_capture_kind(places->capture) != PUG_CAPTURE_PERF)
        snprintf(words, size, "thread %.64s", task->comm); /* of a kernel, by its name */
    else if (task)
        snprintf(words, size, "thread %" PRId32 " %.64s", task->tid, task->comm);
    else
        snprintf(words, size, "source 0x%02x", item->element.source);
}
