// SPDX-License-Identifier: MIT
#include "events/dwt_sources.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>

struct dwt_source {
    uint16_t id;
    bool known; /* what waits */
    struct pug_dwt dwt;
};

struct dwt_sources {
    size_t count;
    struct dwt_source items[];
};

bool pug_dwt_sources_carries(const struct pug_protocol *protocol)
{
    return protocol && protocol->description && protocol->description->dwt;
}

bool pug_dwt_sources_new(struct pug_tree *tree, bool timed, struct dwt_sources **out)
{
    *out = NULL;
    struct pug_source *source;
    size_t count = 0;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++)
        count += pug_dwt_sources_carries(pug_source_protocol(source));
    if (count == 0)
        return true;
    struct dwt_sources *sources = malloc(sizeof(*sources) + count * sizeof(sources->items[0]));
    if (!sources)
        return false;
    sources->count = 0;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        if (!pug_dwt_sources_carries(pug_source_protocol(source)))
            continue;
        struct dwt_source *item = &sources->items[sources->count++];
        item->id = pug_source_id(source);
        item->known = true;
        pug_dwt_init(&item->dwt, timed);
        pug_dwt_use_config(&item->dwt, pug_source_config(source));
    }
    *out = sources;
    return true;
}

void pug_dwt_sources_free(struct dwt_sources *sources)
{
    free(sources);
}

static struct dwt_source *find(struct dwt_sources *sources, uint16_t id)
{
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i].id == id)
            return &sources->items[i];
    return NULL;
}

struct pug_dwt *pug_dwt_sources_find(struct dwt_sources *sources, uint16_t id)
{
    struct dwt_source *source = find(sources, id);
    return source ? &source->dwt : NULL;
}

void pug_dwt_sources_forget(struct dwt_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        sources->items[i].known = false;
}

/** Does nothing wait after it? Packets of data accesses wait for each other. */
static bool ends_waiting(const struct pug_element *element)
{
    struct pug_dwt_event event;
    if (pug_dwt_meaning(element, &event))
        return event.kind != PUG_DWT_DATA;
    if (element->type == PUG_ELEM_ITMTRACE)
        return element->reason != PUG_ITM_TS_GLOBAL;
    return element->type == PUG_ELEM_NO_SYNC || element->type == PUG_ELEM_EO_TRACE;
}

bool pug_dwt_sources_knows(struct dwt_sources *sources, const struct pug_element *element)
{
    struct dwt_source *source = find(sources, element->source);
    if (!source)
        return true;
    source->known = source->known || ends_waiting(element);
    return source->known;
}

struct pug_dwt *pug_dwt_sources_at(struct dwt_sources *sources, size_t n)
{
    return n < sources->count ? &sources->items[n].dwt : NULL;
}
