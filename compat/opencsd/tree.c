// SPDX-License-Identifier: MIT
/** @file Trees: making them, the data path, who takes elements and raw frames. */
#include "base/text.h"
#include "image/image.h"
#include "listing/listing.h"
#include "shell.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- the trees that live ---- */

static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static struct shell_tree *live;

bool shell_tree_is_live(const struct shell_tree *tree)
{
    pthread_mutex_lock(&live_lock);
    const struct shell_tree *at = live;
    while (at && at != tree)
        at = at->next;
    pthread_mutex_unlock(&live_lock);
    return at != NULL;
}

static void enlist(struct shell_tree *tree)
{
    pthread_mutex_lock(&live_lock);
    tree->next = live;
    live = tree;
    pthread_mutex_unlock(&live_lock);
}

static void unlist(struct shell_tree *tree)
{
    pthread_mutex_lock(&live_lock);
    struct shell_tree **link = &live;
    while (*link != tree)
        link = &(*link)->next;
    *link = tree->next;
    pthread_mutex_unlock(&live_lock);
}

/* ---- making and freeing ---- */

/** Receives messages of decoders, deformatter and memory. */
static void on_log(void *context, const struct pug_log_record *record)
{
    const struct shell_tree *tree = context;
    enum pug_severity latched = tree->verbosity;
    if (record->component && strncmp(record->component, "Gen_", 4) == 0)
        latched = PUG_SEV_INFO; /* no component says it: only the logger's own verbosity counts */
    for (const struct shell_decoder *decoder = tree->decoders; decoder; decoder = decoder->next)
        if (pug_source_id(decoder->source) == record->source)
            latched = decoder->verbosity;
    errlog_put(record, latched);
}

static bool make_tree(struct shell_tree *tree, uint32_t flags)
{
    struct pug_setting setting = {.name = "flags", .value = flags};
    struct pug_tree_config config = {
        .transport = tree->single ? "plain" : "coresight",
        .settings = {.items = &setting, .count = tree->single ? 0 : 1},
        .quirks = pug_quirks_reference(),
    };
    tree->verbosity = errlog_verbosity();
    tree->log = config.log = pug_log_new(PUG_SEV_INFO);
    tree->image = config.image = pug_image_new();
    if (!tree->log || !tree->image || !shell_memory_new(tree))
        return false;
    pug_log_set_sink(tree->log, on_log, tree);
    if (pug_tree_new(&config, &tree->tree) != PUG_OK)
        return false;
    pug_tree_deliver_each_packet(tree->tree, true);
    pug_tree_attach_memory(tree->tree, false);
    return true;
}

static void free_tree(struct shell_tree *tree)
{
    pug_tree_free(tree->tree);
    shell_decoders_free(tree);
    pug_image_free(tree->image);
    shell_memory_free(tree);
    pug_log_free(tree->log);
    errlog_output_release(tree->element_output);
    errlog_output_release(tree->frame_output);
    free(tree);
}

dcd_tree_handle_t ocsd_create_dcd_tree(const ocsd_dcd_tree_src_t src_type,
                                       const uint32_t deformatterCfgFlags)
{
    struct shell_tree *tree = calloc(1, sizeof(*tree));
    if (!tree)
        return C_API_INVALID_TREE_HANDLE;
    tree->single = src_type != OCSD_TRC_SRC_FRAME_FORMATTED;
    tree->frame_flags = deformatterCfgFlags;
    tree->check_opcode = getenv("OPENCSD_ERR_ON_AA64_BAD_OPCODE") != NULL;
    if (!make_tree(tree, deformatterCfgFlags)) {
        free_tree(tree);
        return C_API_INVALID_TREE_HANDLE;
    }
    enlist(tree);
    return tree;
}

void ocsd_destroy_dcd_tree(const dcd_tree_handle_t handle)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return;
    unlist(tree);
    errlog_forget_tree(tree);
    free_tree(tree);
}

/* ---- the data path ---- */

static void tell_starved(const struct shell_tree *tree, const char *text)
{
    pug_log_put(tree->log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                                    .code = PUG_ERR_MEM,
                                                    .index = PUG_NO_INDEX,
                                                    .source = PUG_NO_SOURCE,
                                                    .component = "DCD_TREE",
                                                    .text = text});
}

/** The answer to an operation: an error of the system where there was no memory on the way. */
static ocsd_datapath_resp_t answer(struct shell_tree *tree, enum pug_response response)
{
    const unsigned starved = pug_image_starved(tree->image);
    if (starved == tree->code_starved && !tree->text_starved)
        return (ocsd_datapath_resp_t)response;
    tell_starved(tree, tree->text_starved ? "no memory for what is printed"
                                          : "no memory for program code");
    tree->code_starved = starved;
    tree->text_starved = false;
    return OCSD_RESP_FATAL_SYS_ERR;
}

/**
 * The client's index has 32 bits and wraps: the 64-bit index nearest to where the last call ended.
 */
static uint64_t widen_index(struct shell_tree *tree, ocsd_trc_index_t index)
{
    if (!tree->started) {
        tree->started = true;
        return index;
    }
    int64_t step = (int32_t)(index - (uint32_t)tree->next_index);
    return step < 0 && (uint64_t)-step > tree->next_index ? index
                                                          : tree->next_index + (uint64_t)step;
}

static ocsd_datapath_resp_t data(struct shell_tree *tree, ocsd_trc_index_t index, uint32_t size,
                                 const uint8_t *bytes, uint32_t *processed)
{
    if (size == 0 || !bytes || !processed) {
        if (tree->single && processed)
            *processed = 0;
        return OCSD_RESP_FATAL_INVALID_PARAM;
    }
    bool gap = !tree->single && tree->started && index != (ocsd_trc_index_t)tree->next_index;
    uint64_t wide = widen_index(tree, index);
    size_t used = 0;
    enum pug_response response = pug_tree_data(tree->tree, wide, bytes, size, &used);
    if (gap)
        used = 0; /* refused; the reference leaves what the call before it took */
    else
        tree->next_index = wide + used;
    *processed = (uint32_t)used;
    return answer(tree, response);
}

ocsd_datapath_resp_t ocsd_dt_process_data(const dcd_tree_handle_t handle,
                                          const ocsd_datapath_op_t op, const ocsd_trc_index_t index,
                                          const uint32_t dataBlockSize, const uint8_t *pDataBlock,
                                          uint32_t *numBytesProcessed)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_RESP_FATAL_NOT_INIT;
    if (tree->single && !tree->decoders) {
        if (numBytesProcessed)
            *numBytesProcessed = 0;
        return OCSD_RESP_FATAL_NOT_INIT;
    }
    switch (op) {
    case OCSD_OP_DATA: return data(tree, index, dataBlockSize, pDataBlock, numBytesProcessed);
    case OCSD_OP_EOT: return answer(tree, pug_tree_end(tree->tree));
    case OCSD_OP_FLUSH: return answer(tree, pug_tree_flush(tree->tree));
    case OCSD_OP_RESET: tree->started = false; return answer(tree, pug_tree_reset(tree->tree));
    default: return OCSD_RESP_FATAL_INVALID_OP;
    }
}

/* ---- elements ---- */

/** Each element to the output that was current when the printer was made. */
static enum pug_response print_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    struct shell_tree *tree = context;
    (void)taken;
    if (!errlog_output_is_used(tree->element_output))
        return PUG_RESP_CONT;
    for (size_t i = 0; i < count; i++) {
        char buffer[1024];
        struct pug_text text = PUG_TEXT(buffer, sizeof(buffer));
        pug_listing_element(&text, &elements[i]);
        errlog_print_text(tree->element_output, &text);
    }
    return PUG_RESP_CONT;
}

static void drop_element_printer(struct shell_tree *tree)
{
    errlog_output_release(tree->element_output);
    tree->element_output = NULL;
    tree->element_printer = false;
}

ocsd_err_t ocsd_dt_set_gen_elem_outfn(const dcd_tree_handle_t handle, FnTraceElemIn pFn,
                                      const void *p_context)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    drop_element_printer(tree);
    tree->element_fn = pFn;
    tree->element_context = p_context;
    pug_tree_on_elements(tree->tree, pFn ? shell_give_elements : NULL, tree);
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    drop_element_printer(tree);
    tree->element_fn = NULL;
    tree->element_printer = true;
    tree->element_output = errlog_output_hold();
    pug_tree_on_elements(tree->tree, print_elements, tree);
    return OCSD_OK;
}

ocsd_datapath_resp_t shell_tree_client_element(struct shell_tree *tree, ocsd_trc_index_t index,
                                               uint8_t id, const ocsd_generic_trace_elem *client)
{
    if (tree->element_fn)
        return tree->element_fn(tree->element_context, index, id, client);
    if (!tree->element_printer)
        return OCSD_RESP_FATAL_NOT_INIT;
    struct pug_element element;
    size_t taken = 0;
    shell_element_from_client(client, &element);
    element.index = index;
    element.source = id;
    return (ocsd_datapath_resp_t)print_elements(tree, &element, 1, &taken);
}

/* ---- raw frames ---- */

static void print_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                        uint16_t source, const uint8_t *bytes, size_t size)
{
    struct shell_tree *tree = context;
    if (op != PUG_OP_DATA || !errlog_output_is_used(tree->frame_output))
        return;
    size_t room = 64 + 4 * size; /* three characters a byte, and newlines */
    char *buffer = malloc(room);
    tree->text_starved |= !buffer;
    if (!buffer)
        return;
    struct pug_text text = PUG_TEXT(buffer, room);
    pug_listing_frame(&text, index, kind, source, bytes, size);
    errlog_print_text(tree->frame_output, &text);
    free(buffer);
}

ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags)
{
    struct shell_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (tree->single)
        return OCSD_ERR_DCDT_NO_FORMATTER;
    bool again = tree->frame_output != NULL;
    tree->frame_flags |=
        (unsigned)flags & (OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT);
    if (!again)
        tree->frame_output = errlog_output_hold();
    unsigned want = (tree->frame_flags & OCSD_DFRMTR_PACKED_RAW_OUT ? 1u : 0) |
                    (tree->frame_flags & OCSD_DFRMTR_UNPACKED_RAW_OUT ? 2u : 0);
    enum pug_status status = pug_tree_on_frames(tree->tree, print_frame, tree, want);
    if (status != PUG_OK)
        return shell_error(status);
    return again ? OCSD_ERR_ATTACH_TOO_MANY : OCSD_OK;
}
