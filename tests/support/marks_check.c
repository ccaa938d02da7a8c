// SPDX-License-Identifier: MIT
#include "support/marks_check.h"

#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROOM 64u

/** Marks in the order of packets, or what elements tell as if they were marks. */
struct marks {
    struct pug_mark_list list; /* first */
    struct pug_placed_mark waiting[ROOM];
    struct pug_placed_mark *items;
    size_t count, room;
    const struct pug_source *source;
    bool dated; /* software trace has times of its own, not those of what was before it */
};

static void add(struct marks *marks, enum pug_mark_kind kind, uint64_t index, uint64_t value)
{
    if (marks->count == marks->room) {
        marks->room = 2 * marks->room + 64;
        marks->items = realloc(marks->items, marks->room * sizeof(*marks->items));
        assert_non_null(marks->items);
    }
    marks->items[marks->count++] = (struct pug_placed_mark){index, value, kind};
}

static void take_list(struct pug_mark_list *list)
{
    struct marks *marks = (struct marks *)list;
    for (uint32_t i = 0; i < list->count; i++)
        add(marks, (enum pug_mark_kind)list->marks[i].kind, list->marks[i].index,
            list->marks[i].value);
    list->count = 0;
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct marks *marks = context;
    struct pug_mark found[PUG_MARK_LIMIT];
    if (op != PUG_OP_DATA || packet->raw_size == 0)
        return;
    if (packet->flags & PUG_PACKET_SYNC)
        add(marks, PUG_MARK_SYNC, packet->index, 0);
    const size_t count = pug_source_protocol(marks->source)
                             ->packet_marks(pug_source_config(marks->source), packet->data, found);
    for (size_t i = 0; i < count; i++)
        add(marks, found[i].kind, packet->index, found[i].value);
}

static void take_event(struct marks *told, const struct pug_element *e)
{
    if (e->reason == PUG_EVENT_TRIGGER)
        add(told, PUG_MARK_TRIGGER, e->index, 0);
    else if (e->reason == PUG_EVENT_NUMBERED || e->reason == PUG_EVENT_WATCHPOINT)
        add(told, PUG_MARK_EVENT, e->index, e->number);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct marks *told = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        switch (e->type) {
        case PUG_ELEM_TIMESTAMP: add(told, PUG_MARK_TIMESTAMP, e->index, e->timestamp); break;
        case PUG_ELEM_SWTRACE:
            if (e->flags & PUG_ELEM_HAS_TS && told->dated)
                add(told, PUG_MARK_TIMESTAMP, e->index, e->timestamp);
            break;
        case PUG_ELEM_EXCEPTION:
            if (e->number != 0) /* else it is only inferred */
                add(told, PUG_MARK_EXCEPTION, e->index, e->number);
            break;
        case PUG_ELEM_EVENT: take_event(told, e); break;
        case PUG_ELEM_PE_CONTEXT:
            if (e->context_flags & PUG_CTX_CONTEXT_ID)
                add(told, PUG_MARK_CONTEXT, e->index, e->context_id);
            if (e->context_flags & PUG_CTX_VMID)
                add(told, PUG_MARK_VMID, e->index, e->vmid);
            break;
        default: break;
        }
    }
    return PUG_RESP_CONT;
}

enum way { SKIMMED, MONITORED, TOLD };

static void read(const struct stream_run *run, enum way way, struct marks *marks)
{
    struct pug_tree *tree;
    struct pug_source *source;
    const struct pug_tree_config config = {
        .transport = run->transport, .settings = run->settings, .image = run->image};
    const struct pug_source_config source_config = {
        .protocol = run->protocol, .settings = run->settings, .decode = way == TOLD};
    size_t used;
    *marks = (struct marks){.list = {.room = ROOM, .full = take_list}};
    marks->list.marks = marks->waiting;
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source_config, &source), PUG_OK);
    marks->source = source;
    marks->dated = strcmp(run->protocol, "OSD-STM") == 0;
    if (way == SKIMMED)
        pug_source_marks(source, &marks->list);
    else if (way == MONITORED)
        pug_source_monitor(source, on_packet, marks);
    else
        pug_tree_on_elements(tree, on_elements, marks);
    if (!PUG_RESP_IS_FATAL(pug_tree_data(tree, 0, run->bytes, run->size, &used)))
        (void)pug_tree_end(tree);
    take_list(&marks->list);
    pug_tree_free(tree);
}

static bool same(const struct pug_placed_mark *a, const struct pug_placed_mark *b)
{
    return a->index == b->index && a->kind == b->kind && a->value == b->value;
}

/** *marked: whether the place has any of the kind. */
static bool has(const struct marks *marks, const struct pug_placed_mark *mark, bool *marked)
{
    *marked = false;
    for (size_t i = 0; i < marks->count; i++) {
        const struct pug_placed_mark *other = &marks->items[i];
        if (same(other, mark))
            return true;
        *marked |= other->index == mark->index && other->kind == mark->kind;
    }
    return false;
}

static void must_have(const struct marks *marks, const struct pug_placed_mark *mark,
                      const char *what)
{
    bool marked;
    const bool found = has(marks, mark, &marked);
    /* a context goes on where a packet says nothing of it, or of a part alone */
    const bool goes_on = mark->kind == PUG_MARK_CONTEXT || mark->kind == PUG_MARK_VMID;
    if (!found && (marked || !goes_on))
        fail_msg("%s: kind %u, value %" PRIx64 " at %" PRIu64, what, mark->kind, mark->value,
                 mark->index);
}

void marks_check(const struct stream_run *run, struct marks_found *found)
{
    struct marks skimmed, monitored, told;
    read(run, SKIMMED, &skimmed);
    read(run, MONITORED, &monitored);
    read(run, TOLD, &told);
    assert_int_equal(skimmed.count, monitored.count);
    uint64_t now = UINT64_MAX;
    for (size_t i = 0; i < skimmed.count; i++) {
        const struct pug_placed_mark *mark = &skimmed.items[i];
        assert_true(same(mark, &monitored.items[i]));
        found->counts[mark->kind]++;
        if (mark->kind != PUG_MARK_TIMESTAMP)
            continue;
        if (mark->value != now)
            must_have(&told, mark, "no element tells");
        found->last_time = now = mark->value;
    }
    for (size_t i = 0; i < told.count; i++)
        must_have(&monitored, &told.items[i], "nothing marks");
    free(skimmed.items);
    free(monitored.items);
    free(told.items);
}
