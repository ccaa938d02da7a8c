// SPDX-License-Identifier: MIT
/** @file Which tasks, processors and sources of a capture are chosen. */
#include "capture/decode.h"
#include "pugmark/author/transport.h"

#include <stdlib.h>
#include <string.h>

static bool has_name(const char *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return count == 0;
}

static int by_number(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return (a > b) - (a < b);
}

bool pug_capture_choose_tasks(struct pug_capture_decoding *decoding)
{
    const struct pug_capture_selection *selection = decoding->selection;
    const struct pug_capture_task *tasks = pug_capture_tasks(decoding->capture);
    const size_t count = decoding->capture->tasks.count;
    if (!selection || selection->pid_count + selection->tid_count + selection->comm_count == 0)
        return true;
    decoding->tasks = calloc(count + 1, sizeof(*decoding->tasks));
    decoding->tids = calloc(count + 1, sizeof(*decoding->tids));
    if (!decoding->tasks || !decoding->tids)
        return false;
    for (size_t i = 0; i < count; i++) {
        decoding->tasks[i] =
            pug_capture_is_listed(selection->pids, selection->pid_count, tasks[i].pid) &&
            pug_capture_is_listed(selection->tids, selection->tid_count, tasks[i].tid) &&
            has_name(selection->comms, selection->comm_count, tasks[i].comm);
        if (decoding->tasks[i])
            decoding->tids[decoding->tid_count++] = tasks[i].tid;
    }
    qsort(decoding->tids, decoding->tid_count, sizeof(*decoding->tids), by_number);
    return true;
}

void pug_capture_forget_tasks(struct pug_capture_decoding *decoding)
{
    free(decoding->tasks);
    free(decoding->tids);
}

bool pug_capture_may_choose(const struct pug_capture_decoding *decoding, uint32_t segment)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_buffer *buffer =
        &pug_capture_buffers(capture)[pug_capture_segments(capture)[segment].buffer];
    return !decoding->tids || buffer->tid < 0 ||
           bsearch(&buffer->tid, decoding->tids, decoding->tid_count, sizeof(*decoding->tids),
                   by_number) != NULL;
}

bool pug_capture_selection_counts(const struct pug_capture_selection *selection)
{
    return !selection || (selection->pid_count + selection->tid_count + selection->comm_count +
                                  selection->cpu_count + selection->object_count ==
                              0 &&
                          !selection->has_from && !selection->has_to);
}

static bool has_source(const struct pug_capture_decoding *decoding, uint32_t segment, uint16_t id)
{
    const struct pug_capture *capture = decoding->capture;
    const struct pug_capture_selection *selection = decoding->selection;
    bool listed = selection->source_count == 0;
    for (size_t i = 0; i < selection->source_count; i++)
        listed |= selection->sources[i] == id;
    const int32_t cpu = listed && selection->cpu_count > 0 && capture->ops->cpu
                            ? capture->ops->cpu(capture, segment, id)
                            : PUG_NO_CPU;
    return listed &&
           (cpu == PUG_NO_CPU || pug_capture_is_listed(selection->cpus, selection->cpu_count, cpu));
}

bool pug_capture_choose_sources(const struct pug_capture_decoding *decoding, uint32_t segment,
                                struct pug_tree *tree)
{
    const struct pug_capture_selection *selection = decoding->selection;
    const struct pug_source *source;
    bool any = false;
    if (!selection || selection->source_count + selection->cpu_count == 0)
        return true;
    const bool single = pug_tree_transport(tree)->single;
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        const bool chosen = has_source(decoding, segment, pug_source_id(source));
        any |= chosen;
        if (!single)
            pug_tree_enable(tree, pug_source_slot(source), chosen);
    }
    return any;
}
