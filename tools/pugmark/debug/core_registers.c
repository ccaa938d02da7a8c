// SPDX-License-Identifier: MIT
/** @file The registers of a core that a snapshot has: of the time when its trace had ended. */
#include "common/options.h"
#include "pugmark/advanced/capture.h"
#include "session.h"

#include <string.h>
#include <strings.h>

/** The settings that the user gave for a source. */
static const struct pug_settings *settings_of(const struct pug_capture *capture, uint32_t buffer,
                                              uint16_t id)
{
    static const struct pug_settings none = {0};
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (source->buffer == buffer && source->id == id && source->settings)
            return source->settings;
    return &none;
}

bool core_source(const struct pug_capture *capture, uint32_t buffer, uint16_t id,
                 struct pug_snapshot_source *source)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(capture);
    const struct pug_capture_buffer *of = pug_capture_buffer_at(capture, buffer);
    const struct pug_snapshot_buffer *in =
        snapshot && of && of->name ? pug_snapshot_buffer(snapshot, of->name) : NULL;
    uint16_t other;
    for (size_t n = 0; in && pug_snapshot_source_at(snapshot, in, n, source); n++)
        if (pug_snapshot_source_id(snapshot, source, settings_of(capture, buffer, id), &other) &&
            other == id)
            return true;
    return false;
}

bool core_register(const struct pug_snapshot_device *device, const char *name, uint64_t *value)
{
    for (size_t i = 0; device && i < device->register_count; i++)
        if (strcasecmp(device->registers[i].name, name) == 0)
            return parse_number(device->registers[i].value, value);
    return false;
}

/** The last position of its thread when everything is over. */
static bool is_last(struct session *session, const struct pug_history_place *place)
{
    const uint64_t count = pug_history_count(session->history);
    uint64_t last;
    return pug_history_ended(session->history) && session->position + 1 == count &&
           pug_history_of_thread(session->history, count - 1, place->thread, &last) &&
           last == place->position;
}

const struct pug_snapshot_device *session_core(struct session *session,
                                               const struct pug_history_place *place)
{
    const struct pug_history_thread *thread =
        pug_history_thread_at(session->history, place->thread);
    struct pug_snapshot_source source;
    uint64_t pc;
    if (!thread || !is_last(session, place) ||
        !core_source(session->input.capture, thread->buffer, thread->source, &source))
        return NULL;
    const struct pug_snapshot_device *core = source.core;
    if (!core_register(core, "PC", &pc))
        return place->kind == PUG_HISTORY_INSTRUCTION ? NULL : core;
    const bool thumb = place->isa == PUG_ISA_T32 || place->isa == PUG_ISA_TEE;
    return (thumb ? pc & ~UINT64_C(1) : pc) == place->pc ? core : NULL;
}
