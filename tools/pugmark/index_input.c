// SPDX-License-Identifier: MIT
#include "index_input.h"

#include "index/format.h"
#include "jobs/peers.h"
#include "progress.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool index_is_of_one(const struct input *input, const char *option, const char *asked)
{
    if (!asked || input->chosen < 2)
        return true;
    fprintf(stderr,
            "pugmark: %s %s: an index is of one buffer, and there are %zu; --buffer chooses\n",
            option, asked, input->chosen);
    return false;
}

bool index_path(const struct input *input, const char *asked, char *path, size_t size)
{
    int length = asked ? snprintf(path, size, "%s", asked)
                       : snprintf(path, size, "%s.pugindex", input->trace_path);
    if (length >= 0 && (size_t)length < size)
        return true;
    fprintf(stderr, "pugmark: the index file's name is too long\n");
    return false;
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
        fprintf(stderr, "pugmark: %s: %s\n", path, strerror(errno));
    else
        fprintf(stderr, "pugmark: %s: %s; `pugmark index --rebuild` makes it anew\n", path,
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
    /* of a stream nobody knows how old it is */
    if (status != PUG_OK || (index_has_place(input) && !is_newer(input->trace_path, path)) ||
        pug_index_holds(*index, input->trace, 0, input->trace_size))
        return status;
    pug_index_free(*index);
    *index = NULL;
    return PUG_ERR_INDEX_FOREIGN;
}

/** What a file does not have: the rest of the capture, or all of it, or the decoders' states. */
static enum pug_status complete(struct input *input, const struct pug_index *part, bool elements,
                                struct pug_index **index)
{
    struct progress progress = progress_begin(input->trace_size, input->options->quiet, NULL);
    const struct pug_index_options options = {.elements = elements,
                                              .jobs = input_jobs(input),
                                              .progress = progress_show,
                                              .progress_context = &progress};
    const enum pug_status status =
        part ? pug_index_extend(part, input->tree, input->trace, input->trace_size, &options, index)
             : pug_index_build(input->tree, input->trace, input->trace_size, &options, index);
    progress_end(&progress);
    return status;
}

/** Is there nothing to be added? Where elements are wanted, the input's tree decodes. */
static bool is_complete(const struct pug_index *index, const struct input *input, bool elements)
{
    struct pug_index_info info;
    pug_index_info(index, &info);
    return info.indexed == input->trace_size &&
           (!elements || pug_index_has_states(index, input->tree));
}

/**
 * A file that has all but the decoders' states gets those, too, so that they are made once. Where
 * it cannot be written they are for this time.
 */
static void keep_states(const struct input *input, const char *path, const struct pug_index *part,
                        const struct pug_index *index)
{
    struct pug_index_info before, after;
    pug_index_info(part, &before);
    pug_index_info(index, &after);
    if (before.indexed == after.indexed && !before.elements && after.elements &&
        !input->options->sandbox && !pug_peers_helps(input_peers()) && access(path, W_OK) == 0)
        (void)pug_index_save(index, path);
}

struct pug_index *index_open(struct input *input, const char *asked, bool elements)
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
    if (elements && !index_tree(input, true)) {
        pug_index_free(part);
        return NULL;
    }
    if (part && is_complete(part, input, elements)) {
        index = part;
    } else {
        status = complete(input, part, elements, &index);
        if (status == PUG_OK && part)
            keep_states(input, path, part, index);
        pug_index_free(part);
        if (status != PUG_OK) {
            fprintf(stderr, "pugmark: %s: no index: %s\n", input->trace_path,
                    pug_status_text(status));
            return NULL;
        }
    }
    if (index_tree(input, false)) /* the one before is used up, or decodes */
        return index;
    pug_index_free(index);
    return NULL;
}
