// SPDX-License-Identifier: MIT
/**
 * @file The history beside the index of a trace: TRACE.pughistory beside TRACE.pugindex. It is left
 * where somebody made an index, which says that files may lie there, and nowhere else.
 */
#include "base/hash.h"
#include "common/command.h"
#include "files/infile.h"
#include "fill_by_time.h"
#include "pugmark/advanced/capture.h"
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PIECE 65536u /* bytes that are read at once */

/* ---- what it depends on ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = pug_hash_mix(hash, (uint8_t)*text);
    return pug_hash_mix(hash, text ? 256 : 257);
}

static uint64_t hash_list(uint64_t hash, const struct option_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        hash = hash_text(hash, list->items[i]);
    return pug_hash_mix(hash, list->count);
}

/** The options that say what is decoded, and how. */
static uint64_t hash_options(uint64_t hash, const struct session_options *options)
{
    const struct input_options *input = &options->input;
    const char *const texts[] = {
        input->buffer,    input->protocol,  input->transport,     input->params,     input->core,
        input->symfs,     input->vmlinux,   input->kallsyms,      input->debuginfod, input->time,
        input->reference, input->build_ids, options->capture.rtos};
    const struct option_list *const lists[] = {
        &input->sources, &input->settings, &input->elf,          &input->image,
        &input->pids,    &input->tids,     &input->cpus,         &input->comms,
        &input->objects, &input->symdirs,  &input->replacements, &options->capture.debug_dirs};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        hash = hash_text(hash, texts[i]);
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        hash = hash_list(hash, lists[i]);
    return pug_hash_mix(hash, input->expansion);
}

/** The bytes of a file; those of a trace count, whoever wrote them and when. */
static uint64_t hash_content(uint64_t hash, const char *path)
{
    static uint8_t bytes[PIECE];
    struct pug_infile *file;
    if (pug_infile_open(path, &file) != PUG_OK)
        return pug_hash_mix(hash, 0);
    const uint64_t size = pug_infile_size(file);
    for (uint64_t at = 0; at < size; at += PIECE) {
        const size_t count = size - at < PIECE ? (size_t)(size - at) : PIECE;
        memset(bytes + count, 0, PIECE - count);
        if (pug_infile_read(file, at, bytes, count) != PUG_OK)
            break;
        for (size_t i = 0; i < count; i += 8) {
            uint64_t word;
            memcpy(&word, bytes + i, sizeof(word));
            hash = pug_hash_mix(hash, word);
        }
    }
    pug_infile_close(file);
    return pug_hash_mix(hash, size);
}

/** When a file was changed, and its size: of programs, that may be large. */
static uint64_t hash_status(uint64_t hash, const char *path)
{
    struct stat is;
    if (!path || stat(path, &is) != 0)
        return pug_hash_mix(hash, 1);
    hash = pug_hash_mix(pug_hash_mix(hash, (uint64_t)is.st_size), (uint64_t)is.st_ino);
    return pug_hash_mix(hash, (uint64_t)is.st_mtime);
}

/** The files of a snapshot but for trace. */
static uint64_t hash_snapshot(uint64_t hash, const struct pug_snapshot *snapshot)
{
    const struct pug_snapshot_device *device;
    char path[4096];
    if (!snapshot)
        return hash;
    (void)pug_snapshot_path(snapshot, "snapshot.ini", path, sizeof(path));
    hash = hash_content(hash, path);
    (void)pug_snapshot_path(snapshot, "trace.ini", path, sizeof(path));
    hash = hash_content(hash, path);
    for (size_t n = 0; (device = pug_snapshot_device_at(snapshot, n)) != NULL; n++) {
        (void)pug_snapshot_path(snapshot, device->file, path, sizeof(path));
        hash = hash_content(hash, path);
        for (size_t i = 0; i < device->dump_count; i++) {
            (void)pug_snapshot_path(snapshot, device->dumps[i].file, path, sizeof(path));
            hash = hash_status(hash, path);
        }
    }
    return hash;
}

static uint64_t identity_of(const struct session *session)
{
    struct pug_capture *capture = session->input.capture;
    const struct pug_capture_object *object;
    uint64_t hash = hash_options((uint64_t)pug_capture_kind(capture) + 1, session->options);
    hash = hash_content(hash, pug_capture_buffer_at(capture, 0)->file);
    hash = hash_snapshot(hash, pug_capture_snapshot(capture));
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        hash = hash_status(hash, object->file);
    for (size_t n = 0; n < session->options->input.elf.count; n++)
        hash = hash_status(hash, session->options->input.elf.items[n]);
    return hash;
}

/* ---- where it is ---- */

/** The path beside the trace; false: there is no index, or there are several traces. */
static bool find_place(const struct session *session, char *path, size_t size)
{
    struct pug_capture *capture = session->input.capture;
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(capture, 0);
    const enum pug_capture_kind kind = pug_capture_kind(capture);
    struct stat status;
    /* What is said of times of several sources would not be said again. */
    if (!buffer || !buffer->file || pug_capture_buffer_at(capture, 1) || fill_is_by_time(session) ||
        buffer->segment_count != 1 || session->options->input.sandbox ||
        (kind != PUG_CAPTURE_SNAPSHOT && kind != PUG_CAPTURE_RAW) ||
        snprintf(path, size, "%s.pugindex", buffer->file) >= (int)size ||
        stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    return snprintf(path, size, "%s.pughistory", buffer->file) < (int)size;
}

bool kept_history_load(struct session *session, const struct pug_history_config *config)
{
    char path[4096];
    if (!find_place(session, path, sizeof(path)))
        return false;
    /* Before it is decoded: objects may be found while it is. */
    session->identity = identity_of(session);
    return pug_history_load(config, path, session->identity, &session->history) == PUG_OK;
}

void kept_history_save(struct session *session)
{
    char path[4096];
    if (session->code == EXIT_DONE && pug_history_status(session->history) == PUG_OK &&
        find_place(session, path, sizeof(path)))
        (void)pug_history_save(session->history, path, session->identity);
}
