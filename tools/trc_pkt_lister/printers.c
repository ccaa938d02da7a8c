// SPDX-License-Identifier: MIT
/** @file What prints packets, elements and raw frames. */
#include "lister.h"
#include "listing/listing.h"

/* ---- packets ---- */

static void print_packet(struct lister *lister, const struct pug_source *source, enum pug_op op,
                         const struct pug_packet *packet, bool bytes)
{
    uint16_t slot = pug_source_slot(source);
    struct pug_text text;
    if (lister->options.profile)
        return;
    do {
        text = output_begin(&lister->output);
        if (packet)
            pug_listing_packet(&text, pug_source_protocol(source), slot, packet, bytes);
        else
            pug_listing_operation(&text, slot, op);
    } while (!output_end(&lister->output, &text));
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct packet_printer *printer = context;
    print_packet(printer->lister, printer->source, op, packet, true);
}

static enum pug_response on_packet_sink(void *context, enum pug_op op,
                                        const struct pug_packet *packet)
{
    struct packet_printer *printer = context;
    print_packet(printer->lister, printer->source, op, packet, false);
    return PUG_RESP_CONT;
}

/** Packets go to a monitor where their bytes are shown, else to the source's own sink. */
static bool attach_packets(struct lister *lister, struct pug_source *source)
{
    const struct options *options = &lister->options;
    const char *name = pug_source_protocol(source)->name;
    uint16_t slot = pug_source_slot(source);
    if (options->filtered && !options->ids[slot & 0x7f])
        return false;
    if (!lister->single && slot >= 0x70) {
        output_print(&lister->output, LISTER "Failed to Protocol printer %s on Trace ID 0x%x\n",
                     name, slot);
        return false;
    }
    output_print(&lister->output, LISTER "Protocol printer %s on Trace ID 0x%x\n", name, slot);
    struct packet_printer *printer = &lister->packet_printers[slot & 0x7f];
    *printer = (struct packet_printer){lister, source};
    if (options->decode || options->packet_monitor)
        pug_source_monitor(source, on_packet, printer);
    else
        pug_source_sink(source, on_packet_sink, printer);
    return true;
}

/* ---- elements ---- */

/** Print an element; true: answer WAIT to it (-test_waits). */
static bool print_element(struct lister *lister, const struct pug_element *element)
{
    struct pug_text text;
    if (lister->options.profile) {
        lister->counts[element->type]++;
    } else {
        do {
            text = output_begin(&lister->output);
            pug_listing_element(&text, element);
        } while (!output_end(&lister->output, &text));
    }
    if (lister->wait_unanswered) {
        lister->wait_unanswered = false;
        output_print(&lister->output, "WARNING: Generic Element Printer; New element without "
                                      "previous _WAIT acknowledged\n");
    }
    if (lister->waits == 0)
        return false;
    lister->waits--;
    lister->wait_unanswered = true;
    return true;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    for (size_t i = 0; i < count; i++) {
        if (print_element(context, &elements[i])) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

/* ---- raw frames ---- */

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct lister *lister = context;
    struct pug_text text;
    if (op != PUG_OP_DATA || lister->options.profile)
        return;
    do {
        text = output_begin(&lister->output);
        pug_listing_frame(&text, index, kind, source, bytes, size);
    } while (!output_end(&lister->output, &text));
}

static bool attach_frames(struct lister *lister)
{
    unsigned want =
        (lister->options.raw_packed ? 1u : 0u) | (lister->options.raw_unpacked ? 2u : 0u);
    return want && pug_tree_on_frames(lister->tree, on_frame, lister, want) == PUG_OK;
}

/* ---- all ---- */

/** The reference's memory cache: its options are checked, and have no effect here. */
static void check_cache_options(struct lister *lister)
{
    const struct options *options = &lister->options;
    long size = options->cache_page_size < 0 ? 2048 : options->cache_page_size;
    long pages = options->cache_pages < 0 ? 16 : options->cache_pages;
    const char *wrong = size > 16384  ? "page size too large"
                        : size < 64   ? "page size too small"
                        : pages > 256 ? "number of pages too large"
                        : pages < 4   ? "number of pages too small"
                                      : NULL;
    if (!wrong || options->cache_off)
        return;
    char text[64];
    snprintf(text, sizeof(text), "MemAcc Caching: %s", wrong);
    pug_log_put(lister->log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                                      .code = PUG_ERR_INVALID_PARAM_VAL,
                                                      .index = PUG_NO_INDEX,
                                                      .source = PUG_NO_SOURCE,
                                                      .component = "Gen_Info",
                                                      .text = text});
}

static void attach_elements(struct lister *lister)
{
    struct pug_text text;
    output_print(&lister->output, LISTER "Set trace element decode printer\n");
    pug_tree_on_elements(lister->tree, on_elements, lister);
    pug_tree_deliver_each_packet(lister->tree, true);
    check_cache_options(lister);
    do {
        text = output_begin(&lister->output);
        pug_listing_image(&text, lister->image);
    } while (!output_end(&lister->output, &text));
}

/** Only sources that were asked for get data, in a tree that has several. */
static void filter_sources(struct lister *lister)
{
    if (!lister->options.filtered || lister->single)
        return;
    pug_tree_enable_all(lister->tree, false);
    for (uint16_t id = 0; id < 128; id++)
        if (lister->options.ids[id])
            pug_tree_enable(lister->tree, id, true);
}

bool printers_attach(struct lister *lister)
{
    struct pug_source *source;
    bool any = attach_frames(lister);
    filter_sources(lister);
    for (size_t n = 0;
         lister->options.packets && (source = pug_tree_source_at(lister->tree, n)) != NULL; n++)
        any |= attach_packets(lister, source);
    if (lister->options.decode) {
        attach_elements(lister);
        any = true;
    }
    if (!any)
        output_print(&lister->output, LISTER "No supported protocols found.\n");
    return any;
}
