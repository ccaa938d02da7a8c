// SPDX-License-Identifier: MIT
/** @file The capture: its strings, its messages, and what can be asked of it. */
#include "capture/marks.h"
#include "live/live.h"
#include "tree/embed.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *pug_capture_add(struct pug_capture *capture, struct pug_list *list, size_t item_size)
{
    void *item = pug_list_add(list, item_size);
    if (!item)
        pug_capture_starve(capture);
    return item;
}

/* ---- strings ---- */

const char *pug_capture_keep(struct pug_capture *capture, const char *text, size_t size)
{
    char *copy = text ? strndup(text, size) : NULL;
    char **place = copy ? pug_capture_add(capture, &capture->texts, sizeof(*place)) : NULL;
    if (!place) {
        free(copy);
        if (text)
            pug_capture_starve(capture);
        return "";
    }
    return *place = copy;
}

const char *pug_capture_keep_format(struct pug_capture *capture, const char *format, ...)
{
    char text[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return pug_capture_keep(capture, text, sizeof(text));
}

void pug_capture_add_fact(struct pug_capture *capture, const char *name, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    struct pug_capture_fact *fact = pug_capture_add(capture, &capture->facts, sizeof(*fact));
    if (fact)
        *fact = (struct pug_capture_fact){name, pug_capture_keep(capture, text, sizeof(text))};
}

enum pug_status pug_capture_say(const struct pug_capture *capture, enum pug_severity severity,
                                enum pug_status status, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    pug_log_put(capture->log, &(struct pug_log_record){.severity = severity,
                                                       .code = status,
                                                       .index = PUG_NO_INDEX,
                                                       .source = PUG_NO_SOURCE,
                                                       .component = "capture",
                                                       .text = text});
    return status;
}

uint32_t pug_capture_tree_kind(const struct pug_capture *capture, uint32_t segment)
{
    return capture->ops->tree_kind ? capture->ops->tree_kind(capture, segment)
                                   : pug_capture_segments(capture)[segment].buffer;
}

/* Code maps of a tree, of one source, and the least that is of use. */
#define CODE_OF_ALL   ((size_t)64 << 20)
#define CODE_OF_ONE   ((size_t)8 << 20)
#define CODE_AT_LEAST ((size_t)128 << 10)

size_t pug_capture_code_limit(const struct pug_capture *capture, size_t sources)
{
    const size_t share = CODE_OF_ALL / (sources + 1);
    if (capture->options.code_limit)
        return capture->options.code_limit;
    return share > CODE_OF_ONE ? CODE_OF_ONE : share < CODE_AT_LEAST ? CODE_AT_LEAST : share;
}

struct pug_capture_object *pug_capture_add_object(struct pug_capture *capture)
{
    struct pug_capture_object *object = calloc(1, sizeof(*object));
    struct pug_capture_object **place =
        object ? pug_capture_add(capture, &capture->objects, sizeof(*place)) : NULL;
    if (!place) {
        pug_capture_starve(capture);
        free(object);
        return NULL;
    }
    return *place = object;
}

/* ---- the end ---- */

void pug_capture_free(struct pug_capture *capture)
{
    if (!capture)
        return;
    if (capture->ops && capture->ops->free)
        capture->ops->free(capture);
    pug_capture_drop_marks(capture);
    pug_capture_images_free(capture);
    char **texts = capture->texts.items;
    for (size_t i = 0; i < capture->texts.count; i++)
        free(texts[i]);
    struct pug_capture_object **objects = pug_capture_objects(capture);
    for (size_t i = 0; i < capture->objects.count; i++)
        free(objects[i]);
    struct pug_capture_task **threads = capture->threads.items;
    for (size_t i = 0; i < capture->threads.count; i++)
        free(threads[i]);
    struct pug_list *lists[] = {&capture->facts,    &capture->buffers, &capture->segments,
                                &capture->sources,  &capture->tasks,   &capture->objects,
                                &capture->texts,    &capture->unread,  &capture->too_large,
                                &capture->nameless, &capture->threads};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        free(lists[i]->items);
    free((void *)(uintptr_t)capture->head.bytes);
    pug_live_free(capture->stream);
    pthread_mutex_destroy(&capture->lock);
    pthread_mutex_destroy(&capture->marks_lock);
    free(capture->title);
    free(capture->path);
    free(capture);
}

/* ---- asking ---- */

enum pug_capture_kind pug_capture_kind(const struct pug_capture *capture)
{
    return capture->kind;
}

const char *pug_capture_path(const struct pug_capture *capture)
{
    return capture->path;
}

const char *pug_capture_title(const struct pug_capture *capture)
{
    return capture->title ? capture->title : "";
}

struct pug_capture_time pug_capture_times(const struct pug_capture *capture)
{
    struct pug_capture_time times = capture->times;
    return times;
}

struct pug_capture_time pug_capture_record_times(const struct pug_capture *capture)
{
    struct pug_capture_time times = capture->record_times;
    if (!times.origin)
        times.origin = "there are no records";
    return times;
}

bool pug_capture_segment_taken(const struct pug_capture *capture, size_t n, uint64_t *time)
{
    return n < capture->segments.count && capture->ops->taken &&
           capture->ops->taken(capture, (uint32_t)n, time);
}

bool pug_capture_fact(const struct pug_capture *capture, size_t n, const char **name,
                      const char **value)
{
    const struct pug_capture_fact *facts = capture->facts.items;
    if (n >= capture->facts.count)
        return false;
    *name = facts[n].name;
    *value = facts[n].value;
    return true;
}

static const void *item_at(const struct pug_list *list, size_t n, size_t size)
{
    return n < list->count ? (const char *)list->items + n * size : NULL;
}

const struct pug_capture_buffer *pug_capture_buffer_at(const struct pug_capture *capture, size_t n)
{
    return item_at(&capture->buffers, n, sizeof(struct pug_capture_buffer));
}

const struct pug_capture_segment *pug_capture_segment_at(const struct pug_capture *capture,
                                                         size_t n)
{
    return item_at(&capture->segments, n, sizeof(struct pug_capture_segment));
}

const struct pug_capture_source *pug_capture_source_at(const struct pug_capture *capture, size_t n)
{
    return item_at(&capture->sources, n, sizeof(struct pug_capture_source));
}

static bool same_task(const struct pug_capture_task *a, const struct pug_capture_task *b)
{
    return a->pid == b->pid && a->tid == b->tid && strcmp(a->comm, b->comm) == 0;
}

/** A new thread, with its name; the capture is locked. False: no memory. */
static bool add_thread(struct pug_capture *capture, const struct pug_capture_task *task)
{
    const size_t size = strlen(task->comm) + 1;
    struct pug_capture_task *copy = malloc(sizeof(*copy) + size);
    struct pug_capture_task **place =
        copy ? pug_capture_add(capture, &capture->threads, sizeof(*place)) : NULL;
    if (!place) {
        free(copy);
        return false;
    }
    *copy = *task;
    copy->comm = memcpy(copy + 1, task->comm, size);
    *place = copy;
    return true;
}

uint32_t pug_capture_found_task(struct pug_capture *capture, uint32_t from,
                                const struct pug_capture_task *task)
{
    const size_t first = capture->tasks.count;
    pthread_mutex_lock(&capture->lock);
    struct pug_capture_task *const *threads = capture->threads.items;
    size_t n = from > first ? from - first : 0;
    while (n < capture->threads.count && !same_task(threads[n], task))
        n++;
    const bool there = n < capture->threads.count || add_thread(capture, task);
    pthread_mutex_unlock(&capture->lock);
    return there ? (uint32_t)(first + n) : PUG_NO_TASK;
}

const struct pug_capture_task *pug_capture_task_at(const struct pug_capture *capture, size_t n)
{
    struct pug_capture *locked = (struct pug_capture *)capture;
    if (n < capture->tasks.count)
        return item_at(&capture->tasks, n, sizeof(struct pug_capture_task));
    pthread_mutex_lock(&locked->lock);
    struct pug_capture_task *const *thread =
        item_at(&capture->threads, n - capture->tasks.count, sizeof(*thread));
    pthread_mutex_unlock(&locked->lock);
    return thread ? *thread : NULL;
}

const struct pug_capture_object *pug_capture_object_at(struct pug_capture *capture, size_t n)
{
    if (n >= capture->objects.count)
        return NULL;
    if (capture->ops->seek)
        capture->ops->seek(capture, (uint32_t)n);
    return pug_capture_objects(capture)[n];
}

const struct pug_image *pug_address_space_image(const struct pug_address_space *space)
{
    return space->image;
}

/* ---- bytes ---- */

bool pug_capture_is_live(const struct pug_capture *capture)
{
    return capture->live;
}

uint64_t pug_capture_came(const struct pug_capture *capture)
{
    return capture->stream ? pug_live_came(capture->stream) : 0;
}

bool pug_capture_live_restarted(const struct pug_capture *capture)
{
    return capture->restarted;
}

void pug_capture_restart(const struct pug_capture *capture, struct pug_tree *tree)
{
    if (capture->stream)
        pug_tree_set_live(tree);
    if (capture->restarted)
        pug_tree_restart(tree, capture->dropped);
}

size_t pug_capture_live(struct pug_capture *capture, uint64_t from, void *bytes, size_t size,
                        enum pug_status *status)
{
    *status = PUG_OK;
    return capture->live ? capture->ops->live(capture, from, bytes, size, status) : 0;
}

/** A request for any bytes of a stream reads all of it. */
static void settle(const struct pug_capture *capture)
{
    if (capture->live)
        capture->ops->settle((struct pug_capture *)(uintptr_t)capture);
}

size_t pug_capture_bytes(const struct pug_capture *capture, size_t segment, uint64_t from,
                         void *bytes, size_t size, enum pug_status *status)
{
    *status = PUG_OK;
    settle(capture);
    const struct pug_capture_segment *asked = pug_capture_segment_at(capture, segment);
    if (!asked || from >= asked->size)
        return 0;
    if (size > asked->size - from)
        size = (size_t)(asked->size - from);
    return capture->ops->read(capture, (uint32_t)segment, from, bytes, size, status);
}

const uint8_t *pug_capture_memory(const struct pug_capture *capture, size_t segment)
{
    settle(capture);
    return capture->ops->memory && segment < capture->segments.count
               ? capture->ops->memory(capture, (uint32_t)segment)
               : NULL;
}

bool pug_capture_failure(const struct pug_capture *capture, struct pug_read_failure *failure)
{
    const struct pug_capture_images *images = capture->images.items;
    for (size_t i = 0; i < capture->images.count; i++)
        if (images[i].image && pug_image_failure(images[i].image, failure))
            return true;
    *failure = (struct pug_read_failure){.path = capture->path, .status = PUG_ERR_MEM};
    return capture->starved || capture->ops->failure(capture, failure);
}

static void worker_leave(void *companion)
{
    struct pug_capture_worker *worker = companion;
    worker->capture->ops->worker_free(worker);
}

/** A worker for somebody's tree, which keeps it. */
static enum pug_status give_worker(struct pug_capture *capture, uint32_t segment,
                                   struct pug_tree *tree)
{
    struct pug_capture_worker *worker = capture->ops->worker(capture);
    if (!worker)
        return PUG_ERR_MEM;
    worker->capture = capture;
    worker->segment = segment;
    pug_tree_set_companion(tree, worker, worker_leave);
    const enum pug_status status = capture->ops->begin(worker, tree);
    return status == PUG_OK ? pug_tree_renew(tree) : status;
}

enum pug_status pug_capture_tree(struct pug_capture *capture, size_t segment, bool decode,
                                 struct pug_log *log, struct pug_tree **tree)
{
    if (!tree)
        return PUG_ERR_INVALID_PARAM_VAL;
    *tree = NULL;
    if (!capture || segment >= capture->segments.count)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = capture->ops->tree(capture, (uint32_t)segment, decode, log, tree);
    if (status != PUG_OK || !decode || !capture->ops->begin)
        return status;
    status = give_worker(capture, (uint32_t)segment, *tree);
    if (status != PUG_OK) {
        pug_tree_free(*tree);
        *tree = NULL;
    }
    return status;
}

bool pug_capture_locate(struct pug_capture *capture, const struct pug_origin *origin,
                        uint64_t address, struct pug_location *location)
{
    *location = (struct pug_location){.object = PUG_NO_OBJECT, .first = address, .last = address};
    if (!origin->space)
        return false;
    return capture->ops->locate
               ? capture->ops->locate(capture, origin->space, address, location)
               : pug_capture_locate_in_image(capture, origin->space, address, location);
}

const struct pug_address_space *pug_capture_space(struct pug_capture *capture, uint64_t number)
{
    return capture->ops->space ? capture->ops->space(capture, number)
                               : pug_capture_numbered_space(capture, number);
}

bool pug_capture_clock(const struct pug_capture *capture, uint64_t timestamp, uint64_t *time)
{
    if (capture->ops->clock && capture->ops->clock(capture, timestamp, time))
        return true;
    if (capture->hertz > 0)
        *time = pug_capture_from_ticks(capture, timestamp);
    return capture->hertz > 0;
}

bool pug_capture_timestamp(const struct pug_capture *capture, uint64_t time, uint64_t *timestamp)
{
    if (capture->ops->timestamp && capture->ops->timestamp(capture, time, timestamp))
        return true;
    if (capture->hertz == 0 && capture->times.unit != PUG_CAPTURE_TICKS)
        return false;
    *timestamp = pug_capture_to_ticks(capture, time);
    return true;
}
