// SPDX-License-Identifier: MIT
/**
 * @file One source: makes it, its reader and its decoder, from scratch, and from another source.
 */
#include "counts/paths.h"
#include "protocol/builtin.h"
#include "tree/tree_internal.h"

#include <stdio.h>
#include <stdlib.h>

static void name_components(struct pug_source *source)
{
    struct pug_stage *stage = &source->stage;
    const char *reader =
        source->protocol->reader_name ? source->protocol->reader_name : source->protocol->name;
    const char *decoder =
        source->protocol->decoder_name ? source->protocol->decoder_name : source->protocol->name;
    char number[8] = "";
    if (source->numbered)
        snprintf(number, sizeof(number), "_%04u", source->slot);
    snprintf(stage->reader_name, sizeof(stage->reader_name), "%.24s%s", reader, number);
    snprintf(stage->decoder_name, sizeof(stage->decoder_name), "%.24s%s", decoder, number);
}

static enum pug_status make_codemap(struct pug_source *source)
{
    struct pug_tree *tree = source->tree;
    if (!tree->image && !tree->empty_image && !(tree->empty_image = pug_image_new()))
        return PUG_ERR_MEM;
    struct pug_codemap_config config = {
        .image = tree->image ? tree->image : tree->empty_image,
        .chooser = &tree->chooser,
        .isa = {.track_it = true, .check_opcode = source->stage.options.check_opcode},
        .classify = source->classify ? source->classify : tree->classify,
        .classify_context = source->classify ? source->classify_context : tree->classify_context,
        .batch = &tree->batch,
        .reads_end_with_image = tree->quirks.reads_end_with_image,
        .source = source->stage.source,
        .limit = tree->code_limit,
    };
    pug_isa_config_quirks(&config.isa, &tree->quirks);
    source->stage.code = pug_codemap_new(&config);
    if (!source->stage.code)
        return PUG_ERR_MEM;
    return tree->memory_page == PUG_CODE_PAGE
               ? PUG_OK
               : pug_codemap_set_page(source->stage.code, tree->memory_page);
}

static enum pug_status make_stages(struct pug_source *source)
{
    const struct pug_protocol *protocol = source->protocol;
    enum pug_status status = protocol->reader_new(source->config, &source->stage, &source->reader);
    if (status != PUG_OK || !source->decodes || protocol->operate)
        return status;
    if (protocol->program_flow && !source->stage.code && (status = make_codemap(source)) != PUG_OK)
        return status;
    return protocol->decoder_new(source->config, &source->stage, &source->decoder);
}

/** What every source starts with, its configuration and its slot being known. */
static enum pug_status set_up(struct pug_source *source, uint16_t id,
                              const struct pug_decode_options *options, struct pug_source **out)
{
    const struct pug_tree *tree = source->tree;
    struct pug_stage *stage = &source->stage;
    enum pug_status status = pug_slots_get(&tree->slots, source->slot) ? PUG_ERR_TAKEN : PUG_OK;
    stage->log = tree->log;
    stage->quirks = tree->quirks;
    stage->options = *options;
    stage->source = id;
    stage->from_begin = !tree->begun;
    stage->mute_reader = tree->quirks.mute_reader && source->decodes;
    stage->out.batch = &source->tree->batch;
    stage->encapsulation = tree->on_encapsulation;
    stage->encapsulation_context = tree->encapsulation_context;
    stage->out.blank.source = id;
    name_components(source);
    if (status == PUG_OK)
        status = make_stages(source);
    if (status == PUG_OK)
        pug_source_count(source);
    if (status != PUG_OK) {
        pug_source_free(source);
        return status;
    }
    *out = source;
    return PUG_OK;
}

enum pug_status pug_source_new(struct pug_tree *tree, const struct pug_source_config *config,
                               struct pug_source **out)
{
    const struct pug_protocol *protocol =
        config->definition ? config->definition : pug_protocol_find(config->protocol);
    if (!protocol)
        return PUG_ERR_UNKNOWN_NAME;
    if (config->definition && protocol->abi != PUG_AUTHOR_ABI)
        return PUG_ERR_NOT_OFFERED;
    if (config->definition && !pug_protocol_is_whole(protocol))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (config->decode && !protocol->decoder_new && !protocol->operate)
        return PUG_ERR_NOT_OFFERED;
    struct pug_source *source = calloc(1, sizeof(*source));
    if (!source)
        return PUG_ERR_MEM;
    source->tree = tree;
    source->protocol = protocol;
    source->decodes = config->decode;
    source->classify = config->classify;
    source->classify_context = config->classify_context;
    enum pug_status status = protocol->config_new(&config->settings, tree->log, &source->config);
    if (status != PUG_OK) {
        free(source);
        return status;
    }
    uint16_t id = protocol->trace_id(source->config);
    source->slot = tree->transport->single ? 0 : id;
    source->numbered = !tree->transport->single || config->number_component;
    return set_up(source, id, &config->options, out);
}

enum pug_status pug_source_clone(const struct pug_source *original, struct pug_tree *tree,
                                 struct pug_source **out)
{
    if (original->protocol->operate)
        return PUG_ERR_WRONG_KIND;
    struct pug_source *source = calloc(1, sizeof(*source));
    if (!source)
        return PUG_ERR_MEM;
    source->tree = tree;
    source->protocol = original->protocol;
    source->decodes = original->decodes;
    source->config = original->config;
    source->classify = original->classify;
    source->classify_context = original->classify_context;
    source->borrows = true;
    source->slot = original->slot;
    source->numbered = original->numbered;
    return set_up(source, original->stage.source, &original->stage.options, out);
}

static void free_stages(struct pug_source *source)
{
    if (source->decoder)
        source->protocol->decoder_free(source->decoder);
    if (source->reader)
        source->protocol->reader_free(source->reader);
    source->decoder = source->reader = NULL;
}

enum pug_status pug_source_renew(struct pug_source *source)
{
    struct pug_stage *stage = &source->stage;
    free_stages(source);
    stage->out.blank = (struct pug_element){.source = stage->source};
    stage->pending = false;
    source->touched = source->heard = false;
    source->came_bits = 0;
    source->shown = 0;
    source->end_asked = source->ended = false;
    source->end_phase = PUG_END_READ;
    if (stage->code)
        pug_codemap_space(stage->code, &(struct pug_reader_space){.space = PUG_SPACE_ANY});
    if (stage->paths)
        pug_paths_tell_memory(stage->paths);
    return make_stages(source);
}

void pug_source_free(struct pug_source *source)
{
    if (!source)
        return;
    free_stages(source);
    pug_paths_free(source->stage.paths);
    pug_codemap_free(source->stage.code);
    if (source->protocol->config_free && !source->borrows)
        source->protocol->config_free(source->config);
    free(source);
}
