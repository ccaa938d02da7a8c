// SPDX-License-Identifier: MIT
/** @file Where elements of somebody's own tree belong: an attribution for one. */
#include "capture/decode.h"

#include <stdlib.h>

struct pug_origin_reader {
    struct pug_capture_decoding decoding;
    struct pug_attribution attribution;
    bool shares; /* what is chosen is another's */
};

static enum pug_status open_attribution(struct pug_origin_reader *origin_reader,
                                        struct pug_origin_reader **out)
{
    if (pug_attribution_open(&origin_reader->attribution, &origin_reader->decoding, NULL)) {
        *out = origin_reader;
        return PUG_OK;
    }
    pug_origin_reader_free(origin_reader);
    return PUG_ERR_MEM;
}

enum pug_status pug_origin_reader_new(struct pug_capture *capture,
                                      const struct pug_capture_selection *selection, bool times,
                                      struct pug_origin_reader **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_origin_reader *origin_reader = calloc(1, sizeof(*origin_reader));
    if (!origin_reader)
        return PUG_ERR_MEM;
    origin_reader->decoding = (struct pug_capture_decoding){
        .capture = capture,
        .selection = selection,
        .times = times || (selection && (selection->has_from || selection->has_to))};
    if (pug_capture_choose_tasks(&origin_reader->decoding))
        return open_attribution(origin_reader, out);
    pug_origin_reader_free(origin_reader);
    return PUG_ERR_MEM;
}

enum pug_status pug_origin_reader_share(const struct pug_origin_reader *origin_reader,
                                        struct pug_origin_reader **out)
{
    struct pug_origin_reader *sharing = calloc(1, sizeof(*sharing));
    *out = NULL;
    if (!sharing)
        return PUG_ERR_MEM;
    sharing->decoding = origin_reader->decoding;
    sharing->shares = true;
    return open_attribution(sharing, out);
}

void pug_origin_reader_free(struct pug_origin_reader *origin_reader)
{
    if (!origin_reader)
        return;
    pug_attribution_close(&origin_reader->attribution);
    if (!origin_reader->shares)
        pug_capture_forget_tasks(&origin_reader->decoding);
    free(origin_reader);
}

enum pug_status pug_origin_reader_begin(struct pug_origin_reader *origin_reader, size_t segment,
                                        struct pug_tree *tree)
{
    if (!origin_reader || !tree || segment >= origin_reader->decoding.capture->segments.count)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_attribution_begin(&origin_reader->attribution, (uint32_t)segment, tree);
}

bool pug_origin_reader_look(struct pug_origin_reader *origin_reader,
                            const struct pug_element *element, struct pug_origin *origin)
{
    const bool chosen = pug_attribution_look(&origin_reader->attribution, element);
    if (origin)
        *origin = origin_reader->attribution.origin;
    return chosen;
}

bool pug_origin_reader_may_choose(const struct pug_origin_reader *origin_reader, size_t segment)
{
    return pug_capture_may_choose(&origin_reader->decoding, (uint32_t)segment);
}
