// SPDX-License-Identifier: MIT
#include "index_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool index_path(const struct input *input, const char *asked, char *path, size_t size)
{
    int length = asked ? snprintf(path, size, "%s", asked)
                       : snprintf(path, size, "%s.pugindex", input->trace_path);
    if (length >= 0 && (size_t)length < size)
        return true;
    fprintf(stderr, "pugmark: the index file's name is too long\n");
    return false;
}

bool index_tree(struct input *input, bool decode)
{
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

struct pug_index *index_open(struct input *input, const char *asked)
{
    char path[4096];
    struct pug_index *index = NULL;
    struct pug_index_info info;
    if (!index_path(input, asked, path, sizeof(path)) || !index_tree(input, false))
        return NULL;
    enum pug_status status = pug_index_load(path, input->trace, input->trace_size,
                                            pug_index_identity(input->tree), &index);
    if (status == PUG_OK) {
        pug_index_info(index, &info);
        if (info.indexed == info.trace_size)
            return index;
        pug_index_free(index); /* a part only: what is asked for may be in the rest */
    } else if (asked || status != PUG_ERR_FILE || errno != ENOENT) {
        index_refused(path, status);
        return NULL;
    }
    const struct pug_index_options options = {0};
    status = pug_index_build(input->tree, input->trace, input->trace_size, &options, &index);
    if (status == PUG_OK)
        return index;
    fprintf(stderr, "pugmark: %s: no index: %s\n", input->trace_path, pug_status_text(status));
    return NULL;
}
