// SPDX-License-Identifier: MIT
/** @file What is known of a position. */
#include "debug/history.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/isa.h"

/** Does a call of a RISC-V program write ra, and not the other link register? */
static bool links_ra(const struct pug_history_event *event)
{
    const struct pug_isa_config config = {.zcmp_zcmt = true};
    struct pug_insn insn;
    uint8_t bytes[8], it = 0;
    const unsigned size = event->last_size;
    const struct pug_reader_space reader = pug_event_reader(event);
    return event->space && size > 0 && size <= sizeof(bytes) &&
           pug_image_read(pug_address_space_image(event->space), &reader, event->end - size, bytes,
                          size) == size &&
           pug_isa_classify(&config, (enum pug_isa)event->isa, event->end - size, bytes, size, &it,
                            &insn) == PUG_OK &&
           insn.rd == 1;
}

/** The range before an event of the same thread, if it ended with a call. */
static const struct pug_history_event *find_call(struct pug_history *history,
                                                 const struct pug_page_view *view, uint32_t at,
                                                 uint32_t thread)
{
    for (uint32_t i = at; i > 0; i--) {
        const struct pug_history_event *event = &history->events[view->events[i - 1]];
        if (event->thread != thread || event->what >= PUG_WHAT_ENTER)
            continue;
        return event->what == PUG_WHAT_RANGE && (event->flags & PUG_FLAG_CALLS) ? event : NULL;
    }
    return NULL;
}

/** The value that a call directly before left in the link register. */
static void find_link(struct pug_history *history, uint32_t page, uint32_t at,
                      struct pug_history_place *place)
{
    const struct pug_page_view *view = pug_history_view(history, page);
    const struct pug_history_event *call =
        view ? find_call(history, view, at, place->thread) : NULL;
    if (!call && at == 0 && page > 0 && (view = pug_history_view(history, page - 1)) != NULL)
        call = find_call(history, view, view->count, place->thread);
    if (!call || ((call->isa == PUG_ISA_RV32 || call->isa == PUG_ISA_RV64) && !links_ra(call)))
        return;
    place->has_link = true;
    place->link = call->end | (call->isa == PUG_ISA_T32);
}

bool pug_history_at(struct pug_history *history, uint64_t position, struct pug_history_place *place)
{
    uint32_t page, at;
    if (!pug_history_locate(history, position, &page, &at))
        return false;
    const struct pug_page_view *view = pug_history_view(history, page);
    if (!view)
        return false;
    struct pug_history_event *event = &history->events[view->events[at]];
    const struct pug_history_thread *thread = &history->lines[event->thread].thread;
    const uint32_t n = (uint32_t)(position - view->first - view->at[at]);
    *place =
        (struct pug_history_place){.position = position,
                                   .pc = pug_event_address(history, event, n),
                                   .entry = event->start,
                                   .thread = event->thread,
                                   .exception = event->number,
                                   .context_id = event->context_id,
                                   .vmid = event->vmid,
                                   .kind = event->what == PUG_WHAT_RANGE  ? PUG_HISTORY_INSTRUCTION
                                           : event->what == PUG_WHAT_TRAP ? PUG_HISTORY_EXCEPTION
                                                                          : PUG_HISTORY_STOP,
                                   .isa = event->isa,
                                   .context_flags = event->context_flags,
                                   .security = event->security,
                                   .level = event->level,
                                   .exception_numbers = event->numbers,
                                   .fault = event->what == PUG_WHAT_TRAP && event->kind,
                                   .origin = {.buffer = event->buffer,
                                              .task = thread->task,
                                              .cpu = thread->cpu,
                                              .source = event->source,
                                              .space = event->space}};
    if (n == 0 && event->what == PUG_WHAT_RANGE)
        find_link(history, page, at, place);
    return true;
}

bool pug_history_packet(struct pug_history *history, uint64_t position,
                        struct pug_history_packet *packet)
{
    uint32_t page, at;
    if (!pug_history_locate(history, position, &page, &at))
        return false;
    pug_page_packet(history, page, at, packet);
    return true;
}

bool pug_history_next_block(const struct pug_history *history, uint32_t *n,
                            struct pug_history_block *block)
{
    while (*n < history->event_count) {
        const struct pug_history_event *event = &history->events[(*n)++];
        if (event->what != PUG_WHAT_RANGE)
            continue;
        const struct pug_history_thread *thread = &history->lines[event->thread].thread;
        *block = (struct pug_history_block){.start = event->start,
                                            .end = event->end,
                                            .thread = event->thread,
                                            .isa = event->isa,
                                            .origin = {.buffer = event->buffer,
                                                       .task = thread->task,
                                                       .cpu = thread->cpu,
                                                       .source = event->source,
                                                       .space = event->space}};
        return true;
    }
    return false;
}
