// SPDX-License-Identifier: MIT
/** @file Where elements of somebody's own tree belong: a lane for one. */
#include "capture/decode.h"

#include <stdlib.h>

struct pug_capture_lens {
    struct pug_capture_decode config;
    struct pug_capture_decoding decoding;
    struct pug_capture_lane lane;
    bool shares; /* what is chosen is another's */
};

static enum pug_status open_lane(struct pug_capture_lens *lens, struct pug_capture_lens **out)
{
    if (pug_capture_lane_open(&lens->lane, &lens->decoding)) {
        *out = lens;
        return PUG_OK;
    }
    pug_capture_lens_free(lens);
    return PUG_ERR_MEM;
}

enum pug_status pug_capture_lens_new(struct pug_capture *capture,
                                     const struct pug_capture_selection *selection, bool times,
                                     struct pug_capture_lens **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_capture_lens *lens = calloc(1, sizeof(*lens));
    if (!lens)
        return PUG_ERR_MEM;
    lens->config = (struct pug_capture_decode){
        .selection = selection,
        .times = times || (selection && (selection->has_from || selection->has_to))};
    lens->decoding = (struct pug_capture_decoding){.capture = capture, .config = &lens->config};
    if (pug_capture_choose_tasks(&lens->decoding))
        return open_lane(lens, out);
    pug_capture_lens_free(lens);
    return PUG_ERR_MEM;
}

enum pug_status pug_capture_lens_share(const struct pug_capture_lens *lens,
                                       struct pug_capture_lens **out)
{
    struct pug_capture_lens *sharing = calloc(1, sizeof(*sharing));
    *out = NULL;
    if (!sharing)
        return PUG_ERR_MEM;
    sharing->config = lens->config;
    sharing->decoding = lens->decoding;
    sharing->decoding.config = &sharing->config;
    sharing->shares = true;
    return open_lane(sharing, out);
}

void pug_capture_lens_free(struct pug_capture_lens *lens)
{
    if (!lens)
        return;
    pug_capture_lane_close(&lens->lane);
    if (!lens->shares)
        pug_capture_forget_tasks(&lens->decoding);
    free(lens);
}

enum pug_status pug_capture_lens_begin(struct pug_capture_lens *lens, size_t stretch,
                                       struct pug_tree *tree)
{
    if (!lens || !tree || stretch >= lens->decoding.capture->stretches.count)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_capture_lane_begin(&lens->lane, (uint32_t)stretch, tree);
}

bool pug_capture_lens_look(struct pug_capture_lens *lens, const struct pug_element *element,
                           struct pug_situation *situation)
{
    const bool chosen = pug_capture_lane_look(&lens->lane, element);
    if (situation)
        *situation = lens->lane.situation;
    return chosen;
}

bool pug_capture_lens_may_choose(const struct pug_capture_lens *lens, size_t stretch)
{
    return pug_capture_may_choose(&lens->decoding, (uint32_t)stretch);
}
