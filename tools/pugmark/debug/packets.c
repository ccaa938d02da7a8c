// SPDX-License-Identifier: MIT
#include "packets.h"

#include "common/options.h"
#include "index/index_input.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- words of a packet ---- */

#define NEAR                                                                                       \
    (UINT64_C(64) << 10) /* bytes in front of a packet in which its source synchronises            \
                          */
#define FAR    (UINT64_C(16) << 20)
#define BEHIND 512u /* bytes that a packet has at most */

/** The packet that is looked for, and its words. */
struct wanted {
    const struct pug_protocol *protocol;
    uint64_t index;
    char *words;
    size_t size;
    bool found;
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct wanted *wanted = context;
    if (op != PUG_OP_DATA || !packet || packet->index != wanted->index || wanted->found)
        return;
    wanted->found = true;
    (void)pug_packet_text(wanted->protocol, packet, wanted->words, wanted->size);
}

/** Reads packets of a segment from some offset on, up to the one that is wanted. */
static void read_packets(struct pug_capture *capture, const struct pug_history_packet *at,
                         uint16_t id, uint64_t from, struct wanted *wanted)
{
    const size_t size = (size_t)(at->index - from) + BEHIND;
    struct pug_tree *tree = NULL;
    enum pug_status status;
    uint8_t *bytes = malloc(size);
    const size_t got =
        bytes ? pug_capture_bytes(capture, at->segment, from, bytes, size, &status) : 0;
    if (got > 0 && pug_capture_tree(capture, at->segment, false, NULL, &tree) == PUG_OK) {
        struct pug_source *source = pug_tree_source(tree, id);
        wanted->protocol = source ? pug_source_protocol(source) : NULL;
        if (source)
            pug_source_monitor(source, on_packet, wanted);
        /* Of frames there are whole ones. */
        const size_t whole = got - got % 16;
        for (size_t done = 0, used = 1; source && done < whole && used > 0; done += used)
            if (pug_tree_data(tree, from + done, bytes + done, whole - done, &used) >=
                PUG_RESP_FATAL_NOT_INIT)
                break;
        size_t used = 0;
        if (source && !wanted->found)
            (void)pug_tree_op(tree, PUG_OP_END, 0, NULL, 0, &used);
    }
    pug_tree_free(tree);
    free(bytes);
}

void packet_words(struct session *session, uint64_t position, char *words, size_t size)
{
    struct pug_capture *capture = session->input.capture;
    static const uint64_t before[] = {NEAR, FAR};
    struct pug_history_packet at;
    struct pug_history_place place;
    words[0] = 0;
    if (session->live || !pug_history_packet(session->history, position, &at) ||
        !pug_history_at(session->history, position, &place))
        return;
    struct wanted wanted = {.index = at.index, .words = words, .size = size};
    for (size_t i = 0; i < 2 && !wanted.found; i++) {
        const uint64_t from = at.index > before[i] ? (at.index - before[i]) & ~UINT64_C(15) : 0;
        read_packets(capture, &at, place.origin.source, from, &wanted);
        if (from == 0)
            break;
    }
}

/* ---- finding packets ---- */

/** What `pugmark find` looks for, by its options. */
static const struct choice {
    const char *name;
    enum pug_mark_kind kind;
    bool valued;  /* a value follows */
    bool or_more; /* that value, or a greater one */
} choices[] = {
    {"timestamp", PUG_MARK_TIMESTAMP, true, true},
    {"trigger", PUG_MARK_TRIGGER, false, false},
    {"event", PUG_MARK_EVENT, true, false},
    {"context", PUG_MARK_CONTEXT, true, false},
    {"sync", PUG_MARK_SYNC, false, false},
    {"overflow", PUG_MARK_OVERFLOW, false, false},
    {"vmid", PUG_MARK_VMID, true, false},
    {"dwt", PUG_MARK_HARDWARE, true, false},
    {"trace-on", PUG_MARK_TRACE_ON, false, false},
    {"discard", PUG_MARK_DISCARD, false, false},
    {"transaction", PUG_MARK_TRANSACTION, false, false},
    {"elapsed", PUG_MARK_TIME_STEP, true, true},
};

/** What the words ask for; false: it is nothing that packets tell. */
static bool make_query(char **words, size_t count, struct pug_index_query *query)
{
    for (size_t i = 0; count > 0 && i < sizeof(choices) / sizeof(choices[0]); i++) {
        const struct choice *choice = &choices[i];
        if (!packet_word_is(words[0], choice->name))
            continue;
        *query = (struct pug_index_query){
            .kind = choice->kind, .source = PUG_INDEX_ANY, .greatest = UINT64_MAX};
        if (choice->valued && (count < 2 || !parse_number(words[1], &query->least)))
            return false;
        if (choice->valued && !choice->or_more)
            query->greatest = query->least;
        return true;
    }
    return false;
}

/** From where on, or back from where; false: the words make no sense. */
static bool place_query(struct session *session, char **words, size_t count,
                        struct pug_index_query *query)
{
    struct pug_history_packet here;
    if (!pug_history_packet(session->history, session->position, &here))
        return false;
    query->from = here.index + 1;
    for (size_t i = 1; i < count; i++) {
        const bool before = packet_word_is(words[i], "before");
        if (!before && !packet_word_is(words[i], "after"))
            continue;
        query->backwards = before;
        query->from = before ? here.index : here.index + 1;
        if (i + 1 < count && !parse_number(words[i + 1], &query->from))
            return false;
    }
    return true;
}

/** The index of the trace, which stays; NULL: there is none, as the answer says. */
static struct pug_index *open_index(struct session *session, struct pug_sink *sink)
{
    if (!session->index && !session->live && session->input.chosen < 2)
        session->index = index_open(&session->input, NULL, 0);
    if (!session->index)
        pug_sink_text(sink, "packets are found in one buffer of a trace that is over: choose it "
                            "with --buffer\n");
    return session->index;
}

static void put_mark(struct session *session, const struct pug_index_mark *mark,
                     struct pug_sink *sink)
{
    uint64_t position;
    pug_sink_format(sink, "trace offset %" PRIu64 ", source 0x%02x, value %" PRIu64, mark->at,
                    mark->source, mark->value);
    if (pug_history_find(session->history, PUG_FIND_OFFSET, mark->at, 0, false, &position))
        pug_sink_format(sink, ", position #%" PRIu64, position);
    pug_sink_text(sink, "\n");
}

bool packet_find(struct session *session, char **words, size_t count, bool *known,
                 struct pug_sink *sink)
{
    struct pug_index_query query;
    struct pug_index_mark mark;
    *known = make_query(words, count, &query) && place_query(session, words, count, &query);
    struct pug_index *index = *known ? open_index(session, sink) : NULL;
    if (!index)
        return false;
    const enum pug_status status =
        query.kind == PUG_MARK_TIME_STEP
            ? index_find_elapsed(index, &session->input, query.source, query.least, &mark)
            : pug_index_find(index, session->input.tree, session->input.trace,
                             session->input.trace_size, &query, &mark);
    if (status == PUG_OK)
        put_mark(session, &mark, sink);
    else
        pug_sink_format(sink, "nothing of the kind %s here\n",
                        query.backwards ? "before" : "after");
    return status == PUG_OK;
}
