// SPDX-License-Identifier: MIT
#include "index_input.h"
#include "capture/marks.h"
#include "common/messages.h"

#include "common/progress.h"
#include "index/format.h"
#include "schedule/peers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool index_is_of_one(const struct input *input, const char *option, const char *asked)
{
    if (!asked || input->chosen < 2)
        return true;
    message_say("pugmark: %s %s: an index is of one buffer, and there are %zu; --buffer chooses\n",
                option, asked, input->chosen);
    return false;
}

/** The buffer at hand, if there is one, and its file is another one's, too; else NULL. */
static const struct pug_capture_buffer *shared_buffer(const struct input *input)
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(input->capture, input->segment);
    if (!segment)
        return NULL;
    const struct pug_capture_buffer *own = pug_capture_buffer_at(input->capture, segment->buffer);
    const struct pug_capture_buffer *other;
    for (size_t n = 0; (other = pug_capture_buffer_at(input->capture, n)) != NULL; n++)
        if (n != segment->buffer && own->name && strcmp(other->file, own->file) == 0)
            return own;
    return NULL;
}

bool index_path(const struct input *input, const char *asked, char *path, size_t size)
{
    const struct pug_capture_buffer *shared = asked ? NULL : shared_buffer(input);
    const size_t file = strlen(input->trace_path) + 1;
    struct stat status;
    int length = asked    ? snprintf(path, size, "%s", asked)
                 : shared ? snprintf(path, size, "%s.%s.pugindex", input->trace_path, shared->name)
                          : snprintf(path, size, "%s.pugindex", input->trace_path);
    if (length < 0 || (size_t)length >= size) {
        message_say("pugmark: the index file's name is too long\n");
        return false;
    }
    for (char *at = path + file; shared && (at = strchr(at, '/')) != NULL;)
        *at = '_';
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        message_say("pugmark: %s: not a regular file, which an index has to be\n", path);
        return false;
    }
    return true;
}

bool index_may_write(const char *asked, const char *path)
{
    struct stat status;
    return asked || lstat(path, &status) != 0 || S_ISREG(status.st_mode);
}

bool index_has_place(const struct input *input)
{
    struct stat status;
    return strcmp(input->trace_path, "-") != 0 && stat(input->trace_path, &status) == 0 &&
           S_ISREG(status.st_mode);
}

bool index_tree(struct input *input, bool decode)
{
    input_settle(input);
    if (!input_tree(input, decode))
        return false;
    pug_log_set_sink(input->log, NULL, NULL);
    pug_tree_enable_all(input->tree, true);
    return true;
}

void index_refused(const char *path, enum pug_status status)
{
    if (status == PUG_ERR_FILE)
        message_say("pugmark: %s: %s\n", path, strerror(errno));
    else
        message_say("pugmark: %s: %s; `pugmark index --rebuild` makes it anew\n", path,
                    pug_status_text(status));
}

/** Was the first one changed after the other? */
static bool is_newer(const char *path, const char *other)
{
    struct stat status, of_other;
    return stat(path, &status) == 0 && stat(other, &of_other) == 0 &&
           status.st_mtime > of_other.st_mtime;
}

enum pug_status index_load(const struct input *input, const char *path, struct pug_index **index)
{
    const enum pug_status status = pug_index_load(path, input->trace, input->trace_size,
                                                  pug_index_identity(input->tree), index);
    /* the age of a stream is unknown */
    if (status != PUG_OK || (index_has_place(input) && !is_newer(input->trace_path, path)) ||
        pug_index_holds(*index, input->trace, 0, input->trace_size))
        return status;
    pug_index_free(*index);
    *index = NULL;
    return PUG_ERR_INDEX_FOREIGN;
}

/** Make an index, or of `part` what it does not have: the rest of the capture, or states. */
static bool complete(struct input *input, const struct pug_index *part,
                     struct pug_index_options options, struct pug_index **index)
{
    struct progress progress = progress_begin(input->trace_size, input->options->quiet, NULL);
    options.jobs = input_jobs(input);
    options.progress = progress_show;
    options.progress_context = &progress;
    const enum pug_status status =
        part ? pug_index_extend(part, input->tree, input->trace, input->trace_size, &options, index)
             : pug_index_build(input->tree, input->trace, input->trace_size, &options, index);
    progress_end(&progress);
    if (status != PUG_OK)
        message_say("pugmark: %s: no index: %s\n", input->trace_path, pug_status_text(status));
    return status == PUG_OK;
}

struct pug_index *index_open(struct input *input, const char *asked, uint64_t limit)
{
    char path[4096];
    struct pug_index *part = NULL, *index = NULL;
    if (!index_path(input, asked, path, sizeof(path)) || !index_tree(input, false))
        return NULL;
    const bool kept = asked || index_has_place(input);
    enum pug_status status = kept ? index_load(input, path, &part) : PUG_OK;
    if (status != PUG_OK && (asked || status != PUG_ERR_FILE || errno != ENOENT)) {
        index_refused(path, status);
        return NULL;
    }
    struct pug_index_info info = {0};
    if (part)
        pug_index_info(part, &info);
    if (part && info.indexed >= (limit && limit < input->trace_size ? limit : input->trace_size))
        return part;
    const bool good = complete(input, part, (struct pug_index_options){.limit = limit}, &index);
    pug_index_free(part);
    if (good && index_tree(input, false)) /* the one before is used up */
        return index;
    pug_index_free(index);
    return NULL;
}

bool index_add_marks(struct input *input, struct pug_index **index)
{
    struct pug_index *more = NULL;
    if (!index_tree(input, true) ||
        !complete(input, *index, (struct pug_index_options){.limit = 0}, &more))
        return false;
    pug_index_free(*index);
    *index = more;
    return index_tree(input, false); /* the one before is used up */
}

/**
 * A file that has all of this but the states gets those, too, so that they are made once. It keeps
 * those of another program.
 */
static void keep_states(const struct input *input, const char *asked, const struct pug_index *index)
{
    char path[4096];
    struct pug_index *filed = NULL;
    struct pug_index_info before, after;
    if (input->options->sandbox || pug_peers_helps(input_peers()) ||
        !index_path(input, asked, path, sizeof(path)) || access(path, W_OK) != 0 ||
        !index_may_write(asked, path) || index_load(input, path, &filed) != PUG_OK)
        return;
    pug_index_info(filed, &before);
    pug_index_info(index, &after);
    const bool fits = before.states == 0 || pug_index_has_states(filed, input->tree);
    pug_index_free(filed);
    if (fits && before.indexed == after.indexed && before.block == after.block &&
        before.states < after.states)
        (void)pug_index_save(index, path);
}

bool index_add_states(struct input *input, const char *asked, uint64_t until,
                      struct pug_index **index)
{
    struct pug_index *more = NULL;
    struct pug_index_info info;
    pug_index_info(*index, &info);
    if (until == 0) /* there is nothing before the begin; no limit would mean all */
        return index_tree(input, false);
    if (!index_tree(input, true))
        return false;
    const bool has = pug_index_has_states(*index, input->tree) &&
                     info.states >= (until < info.indexed ? until : info.indexed);
    const struct pug_index_options options = {
        .elements = true, .states = until < info.indexed ? until : 0, .limit = info.indexed};
    if (!has && !complete(input, *index, options, &more))
        return false;
    if (more) {
        keep_states(input, asked, more);
        pug_index_free(*index);
        *index = more;
    }
    return index_tree(input, false); /* the one before is used up, or decodes */
}

enum pug_status index_find_elapsed(const struct pug_index *index, const struct input *input,
                                   uint32_t wanted, uint64_t elapsed, struct pug_index_mark *mark)
{
    struct pug_index_source source;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        if ((wanted == PUG_INDEX_ANY || wanted == source.id) &&
            source.counts[PUG_MARK_TIME_STEP] > 0)
            return pug_index_find_elapsed(index, input->tree, input->trace, input->trace_size,
                                          source.id, elapsed, mark);
    return PUG_ERR_NOT_FOUND;
}

/** Has that source, or any, local timestamps? `*global`: and others. */
static bool has_steps(const struct pug_index *index, uint32_t wanted, bool *global)
{
    struct pug_index_source source;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++) {
        *global = source.counts[PUG_MARK_TIMESTAMP] > 0;
        if ((wanted == PUG_INDEX_ANY || wanted == source.id) &&
            source.counts[PUG_MARK_TIME_STEP] > 0)
            return true;
    }
    return false;
}

static enum pug_status find_both(const struct input *input, uint32_t wanted, uint64_t time,
                                 struct pug_index_mark *mark)
{
    struct pug_capture_mark found;
    const struct pug_capture_marks *marks =
        pug_capture_marks_of(input->capture, (uint32_t)input->segment);
    const uint32_t source = wanted == PUG_INDEX_ANY ? UINT32_MAX : wanted;
    if (!marks || !pug_capture_marks_since(marks, source, time, &found))
        return marks ? PUG_ERR_NOT_FOUND : PUG_ERR_MEM;
    *mark = (struct pug_index_mark){
        .at = found.index, .value = found.time, .source = found.source, .kind = PUG_MARK_TIMESTAMP};
    return PUG_OK;
}

enum pug_status index_find_time(const struct pug_index *index, const struct input *input,
                                const struct pug_index_query *query, struct pug_index_mark *mark)
{
    const bool local = input->capture->local_hertz > 0, global = input->capture->global_hertz > 0;
    bool has_global = false;
    const bool steps = has_steps(index, query->source, &has_global);
    if (steps && local && global)
        return find_both(input, query->source, query->least, mark);
    if (steps && (!has_global || local))
        return index_find_elapsed(index, input, query->source, query->least, mark);
    return pug_index_find(index, input->tree, input->trace, input->trace_size, query, mark);
}
