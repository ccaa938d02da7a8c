// SPDX-License-Identifier: MIT
/**
 * @file Inlined copies while they run: where control comes into one, and leaves it, in a frame of
 * the function that it is in. From its last instruction to its first one it is a loop of it.
 */
#include "check/frames.h"

#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/image.h"

/** Of a range on a frame. */
struct run {
    struct check_stream *stream;
    const struct pug_element *range;
    uint64_t start, end; /* as the object's file has them */
    uint32_t depth;      /* of the frame */
};

/* ---- where in a range ---- */

static unsigned length_at(const struct pug_check *check, const struct pug_element *range,
                          uint64_t address)
{
    struct pug_reader_space space;
    uint8_t bytes[2] = {0};
    const struct pug_image *image =
        check->where->space ? pug_address_space_image(check->where->space) : NULL;
    pug_element_space(range, &space);
    if (!image || pug_image_read(image, &space, address, bytes, 2) != 2)
        return 2;
    const unsigned half = bytes[0] | (unsigned)bytes[1] << 8;
    return range->isa == PUG_ISA_T32 ? (half >= 0xe800 ? 4 : 2) : (half & 3) == 3 ? 4 : 2;
}

/** Instructions of a range before an address. */
static uint64_t instructions_before(const struct pug_check *check, const struct pug_element *range,
                                    uint64_t address)
{
    uint64_t count = 0;
    if (range->isa == PUG_ISA_A64 || range->isa == PUG_ISA_A32)
        return (address - range->start) / 4;
    for (uint64_t at = range->start; at < address && count < range->count; count++)
        at += length_at(check, range, at);
    return count;
}

/* ---- entries and exits ---- */

/** The clocks at an address of the range. */
static struct pug_call_clock clock_at(const struct pug_check *check, const struct run *run,
                                      uint64_t vaddr)
{
    const struct check_stream *stream = run->stream;
    const uint64_t before =
        vaddr > run->start
            ? instructions_before(check, run->range, run->range->start + (vaddr - run->start))
            : 0;
    return (struct pug_call_clock){.timestamp = stream->task_time,
                                   .cycles = stream->task_cycles,
                                   .instructions = stream->instructions + before};
}

static struct pug_call_frame frame_of(const struct check_copy *copy, bool found)
{
    return (struct pug_call_frame){.function = {.start = copy->start, .id = copy->function},
                                   .address = copy->start + found,
                                   .kind = found ? PUG_CALL_FOUND : PUG_CALL_CALLED};
}

static void enter(struct pug_check *check, struct check_stream *stream,
                  const struct check_copy *copy, const struct pug_call_event *event)
{
    struct check_event stamp;
    struct check_open_copy *open = pug_list_add(&stream->copies, sizeof(*open));
    if (!open) {
        pug_check_starve(check);
        return;
    }
    *open = (struct check_open_copy){.copy = copy, .depth = event->depth};
    pug_check_enter_links(check, stream, event, CHECK_FUNCTION_AT(check, copy->function - 1),
                          &stamp, false);
}

static void enter_at(struct pug_check *check, const struct run *run, const struct check_copy *copy,
                     uint64_t vaddr)
{
    struct pug_call_frame frame = frame_of(copy, !run->stream->on_track && vaddr != copy->start);
    const struct pug_call_event event = {.kind = PUG_CALL_ENTER,
                                         .frame = &frame,
                                         .depth = run->depth,
                                         .now = clock_at(check, run, vaddr)};
    enter(check, run->stream, copy, &event);
}

void pug_check_copy_again(struct pug_check *check, struct check_stream *stream,
                          const struct pug_call_event *event, const struct check_copy *copy)
{
    struct pug_call_frame frame = frame_of(copy, false);
    struct pug_call_event again = *event;
    again.frame = &frame;
    enter(check, stream, copy, &again);
}

/** The innermost one is left. */
static void leave(struct pug_check *check, struct check_stream *stream,
                  const struct pug_call_event *event)
{
    struct check_event stamp;
    const struct check_open_copy *open =
        &((struct check_open_copy *)stream->copies.items)[--stream->copies.count];
    pug_check_leave_links(check, stream, event, CHECK_FUNCTION_AT(check, open->copy->function - 1),
                          &stamp);
}

/** Leaves those that the newest frame is in, and that end up to `vaddr` or do not have it. */
static void leave_at(struct pug_check *check, const struct run *run, uint64_t vaddr)
{
    struct check_stream *stream = run->stream;
    const struct check_open_copy *copies = stream->copies.items;
    while (stream->copies.count > 0) {
        const struct check_open_copy *open = &copies[stream->copies.count - 1];
        if (open->depth < run->depth ||
            (open->depth == run->depth && vaddr >= open->copy->start && vaddr < open->copy->end))
            return;
        struct pug_call_frame frame = frame_of(open->copy, false);
        const uint64_t end = open->copy->end;
        const struct pug_call_event event = {
            .kind = PUG_CALL_LEAVE,
            .frame = &frame,
            .depth = open->depth,
            .now = clock_at(check, run, end > run->start && end < vaddr ? end : vaddr),
            .lost = !stream->on_track};
        leave(check, stream, &event);
    }
}

void pug_check_leave_copies(struct pug_check *check, struct check_stream *stream,
                            const struct pug_call_event *event)
{
    const struct check_open_copy *copies = stream->copies.items;
    while (stream->copies.count > 0 && copies[stream->copies.count - 1].depth >= event->depth) {
        const struct check_copy *copy = copies[stream->copies.count - 1].copy;
        struct pug_call_frame frame = frame_of(copy, false);
        struct pug_call_event left = *event;
        left.tail = false;
        if (!event->switched)
            left.frame = &frame;
        leave(check, stream, &left);
        if (event->switched && !pug_check_keep_copy(check, stream, event->frame, copy))
            return;
    }
}

/* ---- ranges ---- */

static bool is_open(const struct run *run, const struct check_copy *copy)
{
    const struct check_open_copy *copies = run->stream->copies.items;
    for (size_t n = run->stream->copies.count; n-- > 0 && copies[n].depth == run->depth;)
        if (copies[n].copy == copy)
            return true;
    return false;
}

/** The first copy that may be in an address. */
static size_t first_copy(const struct check_object *object, uint64_t vaddr)
{
    const struct check_copy *copies = object->copies.items;
    size_t low = 0, high = object->copies.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (copies[middle].start + object->longest_copy <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void pug_check_run_copies(struct pug_check *check, struct check_stream *stream,
                          const struct pug_element *range)
{
    const struct pug_call_frame *frames;
    const uint32_t depth = pug_calls_stack(check->calls, stream->number, &frames);
    if (depth == 0 || !pug_check_go_to(check, range->start) || range->end <= range->start)
        return;
    const struct check_object *object = &check->objects[check->at.object];
    const struct check_copy *copies = object->copies.items;
    const struct run run = {.stream = stream,
                            .range = range,
                            .start = range->start + check->at.vaddr,
                            .end = range->end + check->at.vaddr,
                            .depth = depth - 1};
    leave_at(check, &run, run.start);
    for (size_t n = first_copy(object, run.start);
         n < object->copies.count && copies[n].start < run.end; n++) {
        const struct check_copy *copy = &copies[n];
        const uint64_t at = copy->start > run.start ? copy->start : run.start;
        if (copy->end <= run.start || is_open(&run, copy))
            continue;
        if (at > run.start)
            leave_at(check, &run, at);
        enter_at(check, &run, copy, at);
    }
    if (stream->copies.count > 0)
        leave_at(check, &run, run.end - range->last_size);
    stream->on_track = true;
}
