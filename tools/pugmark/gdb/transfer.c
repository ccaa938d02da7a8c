// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 /* realpath() */
/** @file The documents that GDB reads with qXfer: registers, threads, programs. */
#include "server.h"

#include "base/hash.h"
#include "debug/history.h"
#include "text/markup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef _WIN32

/* ---- programs ---- */

static bool add_object(struct gdb_server *server, const struct session_object *object,
                       uint64_t sample)
{
    if (server->object_count == server->object_room) {
        const size_t room = server->object_room * 2 + 16;
        struct session_object *objects = realloc(server->objects, room * sizeof(*objects));
        server->objects = objects ? objects : server->objects;
        uint64_t *samples = objects ? realloc(server->samples, room * sizeof(*samples)) : NULL;
        if (!samples)
            return false;
        server->samples = samples;
        server->object_room = room;
    }
    server->samples[server->object_count] = sample;
    server->objects[server->object_count++] = *object;
    return true;
}

static int32_t pid_of(struct gdb_server *server, uint32_t thread)
{
    return (int32_t)session_process(server->session, thread);
}

/** Looks where the code lies that ran since the last time. */
static void find_objects(struct gdb_server *server)
{
    struct pug_capture *capture = server->session->input.capture;
    struct pug_history_block block;
    struct pug_location location;
    while (pug_history_next_block(server->session->history, &server->blocks, &block)) {
        if (!pug_capture_locate(capture, &block.origin, block.start, &location))
            continue;
        const struct session_object object = {.object = location.object,
                                              .pid = pid_of(server, block.thread),
                                              .bias = block.start - location.vaddr};
        const struct pug_capture_object *known = pug_capture_object_at(capture, location.object);
        bool is_new = known && known->file && !location.text &&
                      pug_history_is_program(server->session->history, location.object);
        for (size_t i = 0; i < server->object_count && is_new; i++)
            is_new = server->objects[i].object != object.object ||
                     server->objects[i].pid != object.pid || server->objects[i].bias != object.bias;
        if (is_new && !add_object(server, &object, block.start))
            return;
    }
}

/** The name of a program in Linux: at most 15 bytes of its last component. */
static bool is_called(const char *path, const char *comm)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return comm[0] && strncmp(name, comm, 15) == 0;
}

/** How likely it is the program itself, and no library. */
static unsigned weigh(struct gdb_server *server, const struct session_object *object)
{
    struct pug_capture *capture = server->session->input.capture;
    const struct pug_capture_object *known = pug_capture_object_at(capture, object->object);
    const struct pug_capture_task *task;
    if (known->kind != PUG_OBJECT_FILE)
        return 1;
    for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++)
        if (is_called(known->path ? known->path : known->file, task->comm))
            return 4;
    return object->bias == 0 ? 3 : 2;
}

/** The addresses from the first segment of an object to the end of its last one. */
static void find_extent(struct gdb_server *server, const struct session_object *object,
                        uint64_t *first, uint64_t *end)
{
    const struct pug_debug_program *program =
        pug_history_program(server->session->history, object->object);
    *first = *end = 0;
    for (uint32_t i = 0; program && i < program->count; i++) {
        const struct pug_program_segment *segment = &program->segments[i];
        const uint64_t at = segment->vaddr + object->bias;
        *first = i == 0 || at < *first ? at : *first;
        *end = i == 0 || at + segment->size > *end ? at + segment->size : *end;
    }
}

/** Does another object of the process lie, at some time, where this one does? */
static bool is_replaced(struct gdb_server *server, const struct session_object *object)
{
    uint64_t first, end, other_first, other_end;
    find_extent(server, object, &first, &end);
    for (size_t i = 0; i < server->object_count; i++) {
        const struct session_object *other = &server->objects[i];
        if (other == object || other->pid != object->pid)
            continue;
        find_extent(server, other, &other_first, &other_end);
        if (other_first < end && first < other_end)
            return true;
    }
    return false;
}

/**
 * The program of a process; NULL: it has none that is known, or none that is there all the time
 * (exec): GDB keeps its program, so all are in the list of libraries then, each at its time.
 */
static const struct session_object *main_object(struct gdb_server *server, int32_t pid)
{
    const struct session_object *best = NULL;
    unsigned most = 0;
    find_objects(server);
    for (size_t i = 0; i < server->object_count; i++) {
        const struct session_object *object = &server->objects[i];
        const unsigned weight = object->pid == pid ? weigh(server, object) : 0;
        if (weight > most) {
            most = weight;
            best = object;
        }
    }
    return best && is_replaced(server, best) ? NULL : best;
}

/** A file's absolute path; NULL: it has none. free() it. */
static char *path_of(struct gdb_server *server, const struct session_object *object)
{
    const struct pug_capture_object *known =
        pug_capture_object_at(server->session->input.capture, object->object);
    return known && known->file ? realpath(known->file, NULL) : NULL;
}

/** The thread whose memory counts for a process. */
static bool thread_of(struct gdb_server *server, int32_t pid, struct pug_history_place *place)
{
    struct session *session = server->session;
    if (pid_of(server, session->thread) == pid)
        return session_place(session, session->thread, place);
    for (uint32_t i = 0; pug_history_thread_at(session->history, i); i++)
        if (pid_of(server, i) == pid)
            return session_place(session, i, place);
    return false;
}

/** Does an object lie there at the time of a place? */
static bool is_there(struct gdb_server *server, size_t n, const struct pug_history_place *place)
{
    struct pug_location location;
    return pug_capture_locate(server->session->input.capture, &place->origin, server->samples[n],
                              &location) &&
           location.object == server->objects[n].object &&
           server->samples[n] - location.vaddr == server->objects[n].bias;
}

/** Is it a library of a process that the list has now? */
static bool is_listed(struct gdb_server *server, size_t n, int32_t pid,
                      const struct session_object *program, const struct pug_history_place *place)
{
    return server->objects[n].pid == pid && &server->objects[n] != program &&
           is_there(server, n, place);
}

static uint64_t hash_libraries(struct gdb_server *server, int32_t pid,
                               const struct pug_history_place *place)
{
    const struct session_object *program = main_object(server, pid);
    uint64_t hash = pug_hash_mix(UINT64_C(0x6c69627261726965), (uint64_t)pid);
    for (size_t i = 0; i < server->object_count; i++)
        if (is_listed(server, i, pid, program, place))
            hash = pug_hash_mix(pug_hash_mix(hash, server->objects[i].object + 1),
                                server->objects[i].bias);
    return hash | 1; /* 0: GDB has no list */
}

bool gdb_libraries_changed(struct gdb_server *server)
{
    struct pug_history_place place;
    const int32_t pid = pid_of(server, server->session->thread);
    if (!thread_of(server, pid, &place) ||
        (place.origin.space == server->space && !session_grows(server->session)))
        return false;
    server->space = place.origin.space;
    const uint64_t hash = hash_libraries(server, pid, &place);
    const bool changed = server->libraries != 0 && hash != server->libraries;
    if (server->libraries != 0)
        server->libraries = hash;
    return changed;
}

uint64_t gdb_offset(struct gdb_server *server)
{
    const uint32_t thread =
        server->general == PUG_HISTORY_ANY ? server->session->thread : server->general;
    const struct session_object *program = main_object(server, pid_of(server, thread));
    return program ? program->bias : 0;
}

/* ---- documents ---- */

static void write_threads(struct gdb_server *server, struct pug_sink *sink)
{
    struct session *session = server->session;
    const struct pug_history_thread *thread;
    pug_sink_text(sink, "<?xml version=\"1.0\"?><threads>");
    for (uint32_t i = 0; (thread = pug_history_thread_at(session->history, i)) != NULL; i++) {
        char words[128];
        session_thread_words(session, i, words, sizeof(words));
        pug_sink_text(sink, "<thread id=\"");
        if (server->multiprocess)
            pug_sink_format(sink, "p%x.", session_process(session, i));
        pug_sink_format(sink, "%x\"", i + 1);
        if (thread->cpu != PUG_NO_CPU)
            pug_sink_format(sink, " core=\"%" PRId32 "\"", thread->cpu);
        pug_sink_text(sink, " name=\"");
        pug_markup_text(sink, words);
        pug_sink_text(sink, "\"/>");
    }
    pug_sink_text(sink, "</threads>");
}

static void write_libraries(struct gdb_server *server, struct pug_sink *sink)
{
    const uint32_t thread =
        server->general == PUG_HISTORY_ANY ? server->session->thread : server->general;
    const int32_t pid = pid_of(server, thread);
    const struct session_object *program = main_object(server, pid);
    struct pug_history_place place;
    pug_sink_text(sink, "<library-list>");
    if (thread_of(server, pid, &place)) {
        server->libraries = hash_libraries(server, pid, &place);
        server->space = place.origin.space;
        for (size_t i = 0; i < server->object_count; i++) {
            char *path = is_listed(server, i, pid, program, &place)
                             ? path_of(server, &server->objects[i])
                             : NULL;
            if (!path)
                continue;
            pug_sink_text(sink, "<library name=\"");
            pug_markup_text(sink, path);
            const uint64_t address =
                server->objects[i].bias +
                pug_history_first_address(server->session->history, server->objects[i].object);
            pug_sink_format(sink, "\"><segment address=\"0x%" PRIx64 "\"/></library>", address);
            free(path);
        }
    }
    pug_sink_text(sink, "</library-list>");
}

/** False: the process has no program that is known. */
static bool write_program(struct gdb_server *server, const char *annex, struct pug_sink *sink)
{
    const uint32_t thread =
        server->general == PUG_HISTORY_ANY ? server->session->thread : server->general;
    uint64_t pid = (uint64_t)pid_of(server, thread);
    (void)gdb_take_number(&annex, &pid);
    const struct session_object *program =
        pid <= INT32_MAX ? main_object(server, (int32_t)pid) : NULL;
    char *path = program ? path_of(server, program) : NULL;
    const bool known = path != NULL;
    if (known)
        pug_sink_text(sink, path);
    free(path);
    return known;
}

static bool write_document(struct gdb_server *server, const char *name)
{
    const char *annex = strchr(name, ':');
    struct pug_sink sink = pug_memory_sink(&server->document);
    server->document.count = 0;
    server->document.failed = false;
    if (strcmp(name, "features:target.xml") == 0)
        gdb_target_describe(server->target, &sink);
    else if (strcmp(name, "threads:") == 0)
        write_threads(server, &sink);
    else if (strcmp(name, "libraries:") == 0)
        write_libraries(server, &sink);
    else if (strncmp(name, "exec-file:", 10) != 0 || !annex ||
             !write_program(server, annex + 1, &sink))
        return false;
    return !server->document.failed;
}

/** qXfer:OBJECT:read:ANNEX:OFFSET,LENGTH */
bool gdb_transfer(struct gdb_server *server, const char *packet)
{
    char name[sizeof(server->document_name)];
    const char *object = packet + strlen("qXfer:");
    const char *read = strstr(object, ":read:");
    const char *numbers = strrchr(packet, ':');
    uint64_t offset, length;
    if (!read || !numbers || numbers < read + 5)
        return false;
    const char *annex = read + 6;
    const int annex_size = numbers > annex ? (int)(numbers - annex) : 0;
    if (snprintf(name, sizeof(name), "%.*s:%.*s", (int)(read - object), object, annex_size,
                 annex) >= (int)sizeof(name))
        return false;
    numbers++;
    if (!gdb_take_number(&numbers, &offset) || *numbers++ != ',' ||
        !gdb_take_number(&numbers, &length))
        return false;
    if (offset == 0 || strcmp(name, server->document_name) != 0) {
        server->document_name[0] = 0;
        if (!write_document(server, name))
            return false;
        memcpy(server->document_name, name, sizeof(name));
    }
    const uint64_t size = server->document.count;
    const uint64_t at = offset < size ? offset : size;
    uint64_t count = size - at < length ? size - at : length;
    count = count < GDB_PACKET_MOST / 2 ? count : GDB_PACKET_MOST / 2;
    pug_sink_text(&server->sink, at + count < size ? "m" : "l");
    if (count > 0)
        pug_sink_put(&server->sink, server->document.bytes + at, (size_t)count);
    return true;
}

#endif
