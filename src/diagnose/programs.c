// SPDX-License-Identifier: MIT
/**
 * @file What is off with a perf.data. Each process has memory of its own there, and each file of a
 * program was looked for: so it is files that are missing, not addresses.
 */
#include "diagnose/findings.h"

#include <stdlib.h>
#include <string.h>

/* A part lists so many places without text, … */
#define PLACES 64u
/* … and so many objects are named. */
#define NAMED 5u

/** Execution came to a page that has no text. */
struct place {
    struct pug_origin where;
    uint64_t address, count;
};

struct part {
    struct pug_diagnosis_part *evidence;
    struct place places[PLACES];
    uint32_t count;
};

/** How often execution came to an object's places without text. */
struct object_missing {
    uint32_t object;
    uint64_t count;
};

struct looking {
    struct pug_capture *capture;
    struct pug_diagnosis *evidence; /**< of all processes */
    const struct pug_capture_selection *selection;
    struct pug_findings *findings;
    struct object_missing *objects; /**< by number, until they are sorted */
    size_t object_count;
    uint64_t unmapped, first_unmapped; /**< where no map says what lies there */
};

/* ---- looking ---- */

static void *begin_part(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct looking *looking = context;
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    (void)piece;
    if (part)
        part->evidence = pug_diagnosis_begin(looking->evidence);
    if (part && part->evidence)
        return part;
    free(part);
    return NULL;
}

static void drop_part(void *taken)
{
    struct part *part = taken;
    pug_diagnosis_drop(part->evidence);
    free(part);
}

/** Without room it is added to the last place: too many places cannot be distinguished. */
static void note_place(struct part *part, const struct pug_origin *where, uint64_t address)
{
    const uint64_t page = address & ~UINT64_C(0xfff);
    uint32_t i = 0;
    while (i < part->count && (part->places[i].address >> 12 != page >> 12 ||
                               part->places[i].where.space != where->space))
        i++;
    if (i == PLACES)
        i--;
    else if (i == part->count)
        part->places[part->count++] = (struct place){*where, address, 0};
    part->places[i].count++;
}

static void look_at_elements(void *taken, const struct pug_origin *origin,
                             const struct pug_element *elements, size_t count)
{
    struct part *part = taken;
    pug_diagnosis_image(part->evidence,
                        origin->space ? pug_address_space_image(origin->space) : NULL);
    pug_diagnosis_elements(part->evidence, elements, count);
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_ADDR_NACC)
            note_place(part, origin, elements[i].start);
}

static void add_place(struct looking *looking, const struct place *place)
{
    struct pug_location location;
    if (pug_capture_locate(looking->capture, &place->where, place->address, &location) &&
        location.object < looking->object_count) {
        looking->objects[location.object].count += place->count;
        return;
    }
    if (looking->unmapped == 0)
        looking->first_unmapped = place->address;
    looking->unmapped += place->count;
}

static bool take_part(void *context, void *taken)
{
    struct looking *looking = context;
    struct part *part = taken;
    for (uint32_t i = 0; i < part->count; i++)
        add_place(looking, &part->places[i]);
    pug_diagnosis_take(looking->evidence, part->evidence);
    free(part);
    return true;
}

/* ---- findings ---- */

/** Is it of interest, if the selection names objects? */
static bool is_selected(const struct pug_capture_selection *selection,
                        const struct pug_capture_object *object)
{
    const char *slash = strrchr(object->path, '/');
    for (size_t i = 0; i < selection->object_count; i++)
        if (strcmp(selection->objects[i], object->path) == 0 ||
            (slash && strcmp(selection->objects[i], slash + 1) == 0))
            return true;
    return selection->object_count == 0;
}

static const char *reason(const struct pug_capture_object *object)
{
    if (object->why)
        return object->why;
    return object->kind == PUG_OBJECT_MEMORY ? "no file holds it" : "its file has nothing there";
}

static int by_count(const void *a, const void *b)
{
    const struct object_missing *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return left->object < right->object ? -1 : left->object > right->object;
}

/** Adds objects whose text is missing, those with the most first. */
static void find_text(const struct looking *looking)
{
    size_t named = 0, more = 0;
    qsort(looking->objects, looking->object_count, sizeof(looking->objects[0]), by_count);
    for (size_t i = 0; i < looking->object_count && looking->objects[i].count > 0; i++) {
        const struct pug_capture_object *object =
            pug_capture_object_at(looking->capture, looking->objects[i].object);
        if (!is_selected(looking->selection, object))
            continue;
        if (named++ < NAMED)
            PUG_FIND(looking->findings, PUG_FINDING_TEXT, .count = looking->objects[i].count,
                     .name = object->path, .words = reason(object));
        else
            more++;
    }
    if (more > 0)
        PUG_FIND(looking->findings, PUG_FINDING_MORE_TEXT, .count = more);
    if (looking->unmapped > 0 && looking->selection->object_count == 0)
        PUG_FIND(looking->findings, PUG_FINDING_UNMAPPED, .count = looking->unmapped,
                 .address = looking->first_unmapped);
}

/** Adds files without a build id as possible causes of what does not match. */
static void find_unverified(const struct looking *looking)
{
    const struct pug_capture_object *object;
    size_t named = 0;
    for (size_t n = 0; (object = pug_capture_object_at(looking->capture, n)) != NULL; n++)
        if (object->state == PUG_OBJECT_UNVERIFIED && named++ < NAMED)
            PUG_FIND(looking->findings, PUG_FINDING_UNVERIFIED, .name = object->file,
                     .other = object->path);
}

static void find_mismatches(const struct looking *looking)
{
    const struct pug_evidence *evidence;
    bool any = false;
    for (size_t n = 0; pug_diagnosis_evidence(looking->evidence, n, &evidence); n++) {
        pug_find_undefined(evidence, looking->findings);
        any |= pug_find_mismatch(evidence, true, looking->findings);
    }
    if (any)
        find_unverified(looking);
}

/** Does the selection leave out more than sources? */
static bool selects(const struct pug_capture_selection *selection)
{
    return selection->pid_count || selection->tid_count || selection->cpu_count ||
           selection->comm_count || selection->object_count || selection->has_from ||
           selection->has_to;
}

/** Bytes, and nothing in them. What a selection leaves out shows nothing. */
static void find_silence(const struct looking *looking, const struct pug_subject *subject,
                         uint64_t bytes)
{
    if (bytes > 0 && !selects(looking->selection) && pug_subject_is_silent(subject))
        PUG_FIND(looking->findings, PUG_FINDING_NO_ELEMENTS, .count = bytes,
                 .cut = bytes < subject->whole);
}

/* ---- the whole ---- */

static bool set_up(struct looking *looking)
{
    size_t count = 0;
    while (pug_capture_object_at(looking->capture, count))
        count++;
    looking->evidence = pug_diagnosis_new(NULL);
    looking->objects = calloc(count + 1, sizeof(*looking->objects));
    if (!looking->evidence || !looking->objects)
        return false;
    looking->object_count = count;
    for (size_t i = 0; i < count; i++)
        looking->objects[i].object = (uint32_t)i;
    return true;
}

static void conclude(const struct looking *looking, struct pug_subject *subject, uint64_t bytes)
{
    subject->evidence = looking->evidence;
    if (!subject->bare) {
        find_mismatches(looking);
        find_text(looking);
    }
    find_silence(looking, subject, bytes);
    pug_find_agreement(subject, looking->findings);
    subject->evidence = NULL;
}

enum pug_status pug_examine_programs(struct pug_subject *subject, unsigned threads,
                                     const struct pug_capture_selection *selection, uint64_t most,
                                     struct pug_findings *findings)
{
    struct looking looking = {
        .capture = subject->capture, .selection = selection, .findings = findings};
    struct pug_capture_result result = {0};
    const struct pug_consumer consumer = {.context = &looking,
                                          .begin = begin_part,
                                          .elements = look_at_elements,
                                          .take = take_part,
                                          .drop = drop_part};
    const struct pug_capture_decode decode = {.consumers = &consumer,
                                              .consumer_count = 1,
                                              .threads = threads,
                                              .selection = selection,
                                              .to = most};
    enum pug_status status = PUG_ERR_MEM;
    if (set_up(&looking))
        status = pug_capture_decode(subject->capture, &decode, &result);
    if (status == PUG_OK)
        conclude(&looking, subject, result.bytes);
    pug_diagnosis_free(looking.evidence);
    free(looking.objects);
    return status;
}
