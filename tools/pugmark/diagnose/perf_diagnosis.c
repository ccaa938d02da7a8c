// SPDX-License-Identifier: MIT
/**
 * @file What is off with a perf.data. Each process has memory of its own there, and each file of a
 * program was looked for: so it is files that are missing, not addresses.
 */
#include "perf_diagnosis.h"

#include "diagnosis_private.h"

#include <inttypes.h>
#include <stdio.h>
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
    struct diagnosis diagnosis;     /**< evidence of all processes, and the paragraph */
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
        part->evidence = pug_diagnosis_begin(looking->diagnosis.evidence);
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
    if (pug_capture_locate(looking->diagnosis.input->capture, &place->where, place->address,
                           &location) &&
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
    pug_diagnosis_take(looking->diagnosis.evidence, part->evidence);
    free(part);
    return true;
}

/* ---- saying ---- */

/** "12 times " as text needs it. */
static const char *times(uint64_t count, char text[32])
{
    snprintf(text, 32, "%" PRIu64 " time%s", count, count == 1 ? "" : "s");
    return text;
}

/** Is it of interest, where options name objects? */
static bool is_selected(const struct input *input, const struct pug_capture_object *object)
{
    const struct option_list *wanted = &input->options->objects;
    const char *slash = strrchr(object->path, '/');
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->items[i], object->path) == 0 ||
            (slash && strcmp(wanted->items[i], slash + 1) == 0))
            return true;
    return wanted->count == 0;
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

static void say_missing(struct looking *looking)
{
    struct pug_capture *capture = looking->diagnosis.input->capture;
    char text[32];
    size_t named = 0, more = 0;
    qsort(looking->objects, looking->object_count, sizeof(looking->objects[0]), by_count);
    for (size_t i = 0; i < looking->object_count && looking->objects[i].count > 0; i++) {
        const struct pug_capture_object *object =
            pug_capture_object_at(capture, looking->objects[i].object);
        if (!is_selected(looking->diagnosis.input, object))
            continue;
        if (named == NAMED) {
            more++;
            continue;
        }
        named++;
        diagnosis_say(&looking->diagnosis, "execution came %s to %s, whose text is missing: %s\n",
                      times(looking->objects[i].count, text), object->path, reason(object));
    }
    if (more > 0)
        diagnosis_say(&looking->diagnosis,
                      "and to %zu more; `pugmark info` lists what is missing\n", more);
    if (looking->unmapped > 0 && looking->diagnosis.input->options->objects.count == 0)
        diagnosis_say(
            &looking->diagnosis,
            "execution came %s to addresses where no record maps a file, the first 0x%" PRIx64 "\n",
            times(looking->unmapped, text), looking->first_unmapped);
}

/** Report the files without a build id as possible causes of what does not match. */
static void say_unverified(struct looking *looking)
{
    const struct pug_capture_object *object;
    size_t named = 0;
    for (size_t n = 0;
         (object = pug_capture_object_at(looking->diagnosis.input->capture, n)) != NULL; n++)
        if (object->state == PUG_OBJECT_UNVERIFIED && named++ < NAMED)
            diagnosis_say(&looking->diagnosis, "no build id tells whether %s is the %s that ran\n",
                          object->file, object->path);
}

static void say_mismatch(struct looking *looking)
{
    const struct pug_evidence *evidence;
    bool any = false;
    for (size_t n = 0; pug_diagnosis_evidence(looking->diagnosis.evidence, n, &evidence); n++) {
        const uint64_t count = pug_evidence_contradictions(evidence);
        char first[256];
        diagnosis_note_undefined(&looking->diagnosis, evidence);
        if (count == 0)
            continue;
        any = true;
        diagnosis_say(&looking->diagnosis,
                      "source 0x%02x: a program does not match the trace: %" PRIu64
                      " contradiction%s in "
                      "%" PRIu64 " branches, %s\n",
                      evidence->source, count, count == 1 ? "" : "s", evidence->branches,
                      diagnosis_first(evidence, first));
    }
    if (any)
        say_unverified(looking);
}

/** Bytes, and nothing in them. What options leave out says nothing. */
static void say_silence(struct looking *looking, uint64_t bytes)
{
    const struct pug_evidence *evidence;
    if (bytes == 0 || input_selects(looking->diagnosis.input))
        return;
    for (size_t n = 0; pug_diagnosis_evidence(looking->diagnosis.evidence, n, &evidence); n++)
        if (evidence->told > 0)
            return;
    diagnosis_say(&looking->diagnosis,
                  "nothing could be decoded of its %s%" PRIu64 " bytes of trace\n",
                  bytes < input_bytes(looking->diagnosis.input) ? "first " : "", bytes);
}

/* ---- the whole ---- */

static bool set_up(struct looking *looking)
{
    size_t count = 0;
    while (pug_capture_object_at(looking->diagnosis.input->capture, count))
        count++;
    looking->diagnosis.evidence = pug_diagnosis_new(NULL);
    looking->objects = calloc(count + 1, sizeof(*looking->objects));
    if (!looking->diagnosis.evidence || !looking->objects)
        return false;
    looking->object_count = count;
    for (size_t i = 0; i < count; i++)
        looking->objects[i].object = (uint32_t)i;
    return true;
}

bool perf_diagnosis(struct input *input, uint64_t most)
{
    struct looking looking = {.diagnosis = {.input = input, .quiet = input->options->quiet}};
    struct pug_capture_result result = {0};
    const struct pug_consumer consumer = {.context = &looking,
                                          .begin = begin_part,
                                          .elements = look_at_elements,
                                          .take = take_part,
                                          .drop = drop_part};
    struct pug_capture_decode decode = {.consumers = &consumer,
                                        .consumer_count = 1,
                                        .threads = input_jobs(input),
                                        .selection = &input->lists.selection,
                                        .to = most};
    if (set_up(&looking) && pug_capture_decode(input->capture, &decode, &result) == PUG_OK) {
        if (!input->options->reference) { /* its defects would contradict the programs */
            say_mismatch(&looking);
            say_missing(&looking);
        }
        say_silence(&looking, result.bytes);
        looking.diagnosis.input->partial = most < input_bytes(input);
        diagnosis_say_checked(&looking.diagnosis);
        looking.diagnosis.input->partial = false;
    }
    pug_diagnosis_free(looking.diagnosis.evidence);
    free(looking.objects);
    return looking.diagnosis.said;
}
