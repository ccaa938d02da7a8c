// SPDX-License-Identifier: MIT
/** @file An input's trees: of the segment at hand, with the sources that were chosen. */
#include "common/messages.h"
#include "diagnose/diagnosis.h"
#include "events/dwt_sources.h"
#include "input_private.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "unread.h"

#include <stdio.h>

bool input_wants(const struct input *input, uint16_t id)
{
    for (size_t i = 0; i < input->options->sources.count; i++)
        if (input->lists.sources[i] == id)
            return true;
    return input->options->sources.count == 0;
}

static bool has_source(const struct input *input, uint16_t id)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_id(source) == id)
            return true;
    return false;
}

bool input_selects(const struct input *input)
{
    const struct pug_capture_selection *selection = &input->lists.selection;
    return selection->pid_count || selection->tid_count || selection->cpu_count ||
           selection->comm_count || selection->object_count || selection->has_from ||
           selection->has_to;
}

static bool is_whole(const struct input *input, bool selects, const char *options, const char *what)
{
    if (selects)
        message_say("pugmark: %s select what ran; %s is of a buffer's bytes, which --buffer and "
                    "--source choose\n",
                    options, what);
    else if (input->chosen > 1 && pug_capture_kind(input->capture) == PUG_CAPTURE_PERF)
        message_say(
            "pugmark: %s: %s is of one piece of trace, and there are %zu in it; --time, --pid "
            "and the like choose among all of them in other commands\n",
            pug_capture_path(input->capture), what, input->chosen);
    else
        return true;
    return false;
}

bool input_is_whole(const struct input *input, const char *what)
{
    return is_whole(input, input_selects(input), "--pid, --tid, --comm, --cpu, --dso and --time",
                    what);
}

bool input_is_one(const struct input *input, const char *what)
{
    const struct pug_capture_selection *selection = &input->lists.selection;
    return is_whole(input,
                    selection->pid_count || selection->tid_count || selection->cpu_count ||
                        selection->comm_count || selection->object_count,
                    "--pid, --tid, --comm, --cpu and --dso", what);
}

/** Sources that were not chosen get no data. False: none of those that were is there. */
static bool choose_sources(struct input *input)
{
    const struct option_list *wanted = &input->options->sources;
    const bool single = pug_tree_transport(input->tree)->single;
    size_t found = 0;
    if (wanted->count == 0)
        return true;
    if (!single)
        pug_tree_enable_all(input->tree, false);
    for (size_t i = 0; i < wanted->count; i++) {
        const uint16_t id = input->lists.sources[i];
        if (has_source(input, id)) {
            found++;
            if (!single)
                pug_tree_enable(input->tree, id, true);
        }
    }
    return found > 0;
}

void input_drop_tree(struct input *input)
{
    diagnosis_free(input->diagnosis);
    input->diagnosis = NULL;
    pug_tree_free(input->tree);
    input->tree = NULL;
}

static enum pug_status make_tree(struct input *input, bool decode)
{
    input_drop_tree(input);
    if (!pug_capture_segment_at(input->capture, input->segment))
        return PUG_ERR_NOT_FOUND;
    input->opened = false;
    const enum pug_status status =
        pug_capture_tree(input->capture, input->segment, decode, input->log, &input->tree);
    input->opened = true;
    if (status == PUG_OK)
        input->image = pug_tree_image(input->tree);
    if (status == PUG_ERR_MEM)
        input_starve(input);
    return status;
}

/** Evidence speaks of one memory, which perf.data's processes do not have. */
static void begin_diagnosis(struct input *input)
{
    if (pug_capture_kind(input->capture) != PUG_CAPTURE_PERF)
        input->diagnosis = diagnosis_new(input);
}

bool input_tree_again(struct input *input)
{
    if (!input->tree || input->chosen != 1 || PUG_RESP_IS_FATAL(pug_tree_reset(input->tree)))
        return false;
    diagnosis_free(input->diagnosis);
    begin_diagnosis(input);
    messages_forget(&input->messages);
    return true;
}

bool input_tree(struct input *input, bool decode)
{
    pug_log_set_sink(input->log, input_take_message, input);
    if (!pug_capture_segment_at(input->capture, input->segment)) {
        message_say("pugmark: %s: there is no trace in it\n", input->trace_path);
        return false;
    }
    const enum pug_status status = make_tree(input, decode);
    if (status == PUG_ERR_RDR_NO_DECODER)
        message_say("pugmark: %s: none of its sources can be decoded\n", input->trace_path);
    if (status == PUG_ERR_NOT_FOUND && !input->options->quiet && !input->silent)
        diagnosis_guess(input);
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_SNAPSHOT &&
        !unread_each(input, input_tell_slip, input)) {
        input_starve(input);
        return false;
    }
    if (status != PUG_OK || !choose_sources(input))
        return false;
    begin_diagnosis(input);
    return true;
}

bool input_flows(const struct input *input)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_protocol(source)->program_flow)
            return true;
    return false;
}

bool input_flow_tree(struct input *input)
{
    if (!input_tree(input, true))
        return false;
    if (input_flows(input))
        return true;
    bool software = false;
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        software |= pug_dwt_sources_carries(pug_source_protocol(source));
    message_say("pugmark: %s: no source of program flow in it%s\n", input->trace_path,
                software
                    ? "; what its ITM says: calls --interrupts, profile, timeline, list --events"
                    : "");
    return false;
}

/**
 * Is there a segment with program flow? Makes its tree: the first one reports memory that is
 * missing.
 */
static bool find_flow(struct input *input)
{
    pug_log_set_sink(input->log, input_take_message, input);
    do {
        if (make_tree(input, false) == PUG_OK && input_flows(input)) {
            input->refused = !choose_sources(input);
            return !input->refused;
        }
    } while (input_next(input));
    return false;
}

bool input_has_flow(struct input *input)
{
    const bool found = find_flow(input);
    if (found || input->refused)
        return found;
    input_first(input);
    return input_flow_tree(input);
}

/* Number of bytes of a capture that show which sources speak. */
#define LISTEN_TO (UINT64_C(1) << 20)

/** In a stream that is still to come: how many sources may speak. */
static bool may_have_flows(const struct input *input)
{
    const struct pug_source *source;
    unsigned count = 0;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        count +=
            input_wants(input, pug_source_id(source)) && pug_source_protocol(source)->program_flow;
    return count > 1;
}

bool input_has_flows(const struct input *input)
{
    struct pug_survey survey;
    unsigned count = 0;
    if (input->tree && pug_capture_is_live(input->capture))
        return may_have_flows(input);
    if (!input->tree || pug_survey_capture(input->tree, input->trace, input->trace_size, LISTEN_TO,
                                           &survey) != PUG_OK)
        return false;
    for (size_t i = 0; i < survey.id_count; i++) {
        const struct pug_survey_id *id = &survey.ids[i];
        const struct pug_source *source;
        for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
            count += pug_source_id(source) == id->id && id->bytes > id->unsynced &&
                     input_wants(input, id->id) && pug_source_protocol(source)->program_flow;
    }
    return count > 1;
}
