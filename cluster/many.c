// SPDX-License-Identifier: MIT
#include "many.h"

#include "common/output.h"
#include "done.h"
#include "input/input.h"
#include "inputs.h"
#include "schedule/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct work {
    const struct many *many;
    struct pug_peers *peers;
    uint8_t *shared;   /* by input: it is cut among all processes */
    uint32_t *numbers; /* those that are not */
    uint32_t count;
    struct done *done; /* by input: what this process did */
    uint64_t identity; /* of the command without its inputs */
    bool open;         /* output is being kept, of: */
    uint32_t number;
};

/* ---- one input ---- */

/** The command with some of the inputs. */
static int run_command(const struct work *work, size_t first, size_t count)
{
    const struct many *many = work->many;
    char **argv = calloc((size_t)many->word_count + count + 1, sizeof(*argv));
    if (!argv)
        return EXIT_INPUT;
    memcpy(argv, many->words, (size_t)many->word_count * sizeof(*argv));
    for (size_t i = 0; i < count; i++)
        argv[(size_t)many->word_count + i] = (char *)(uintptr_t)many->inputs->items[first + i];
    const int code = many->command->run(many->command, many->word_count + (int)count, argv);
    const int shown = command_printed(code);
    free(argv);
    return input_forgive() && shown < EXIT_INPUT ? EXIT_INPUT : shown;
}

/** The output of the last one is complete. */
static void end_one(struct work *work, int code)
{
    if (!work->open)
        return;
    work->open = false;
    done_end(&work->done[work->number], code);
    if (work->many->keep)
        done_save(&work->done[work->number], work->many->keep, work->number,
                  work->many->inputs->items[work->number], work->identity);
}

/** The next one for this process; false: there is none. Its output is kept. */
static bool begin_one(struct work *work, uint32_t *number)
{
    uint32_t n;
    if (!cluster_next(work->many->cluster, &n))
        return false;
    *number = work->number = work->numbers[n];
    work->open = done_begin(&work->done[*number]);
    return true;
}

static bool was_done(struct work *work, uint32_t number)
{
    return work->many->keep && done_load(&work->done[number], work->many->keep, number,
                                         work->many->inputs->items[number], work->identity);
}

/* ---- what was printed ---- */

/** The first process reports the result of one input, in its turn. */
static int tell(struct work *work, uint32_t number, unsigned owner)
{
    struct done *done = &work->done[number];
    if (work->peers->number == owner && owner > 0)
        done_send(done, work->peers);
    else if (work->peers->number == 0 && owner > 0)
        done_receive(done, work->peers, owner);
    if (work->peers->number == 0)
        done_print(done);
    const int code = done->code;
    done_free(done);
    return code;
}

/** All processes know who did what. */
static bool find_owners(struct work *work, uint32_t *owners)
{
    const size_t size = work->many->inputs->count * sizeof(*owners);
    for (size_t i = 0; i < work->many->inputs->count; i++)
        owners[i] = work->done[i].is ? work->peers->number : 0;
    for (unsigned from = 1; work->peers->number == 0 && from < work->peers->count; from++) {
        struct pug_peers_message message;
        (void)pug_peers_receive(work->peers, from, PUG_PEERS_DATA, true, &message);
        for (size_t i = 0; i < message.size; i += sizeof(*owners)) {
            uint32_t owner;
            memcpy(&owner, message.bytes + i, sizeof(owner));
            owners[i / sizeof(*owners)] |= owner;
        }
        free(message.bytes);
    }
    if (work->peers->number > 0)
        pug_peers_send(work->peers, 0, PUG_PEERS_DATA, owners, size);
    pug_peers_share(work->peers, owners, size);
    return true;
}

/** Everything in the order of the inputs; those that are cut are done now. */
static int tell_all(struct work *work, bool run_shared)
{
    uint32_t *owners = calloc(work->many->inputs->count, sizeof(*owners));
    int worst = EXIT_DONE;
    if (!owners)
        pug_peers_fail(work->peers, "out of memory");
    pug_peers_begin(work->peers);
    (void)find_owners(work, owners);
    for (uint32_t n = 0; owners && n < work->many->inputs->count; n++) {
        int code = EXIT_DONE;
        if (!work->shared[n]) {
            pug_peers_begin(work->peers);
            code = tell(work, n, owners[n]);
        } else if (run_shared) {
            code = run_command(work, n, 1);
        }
        worst = code > worst ? code : worst;
    }
    free(owners);
    return worst;
}

/* ---- commands of one input each ---- */

static int run_each(struct work *work)
{
    uint32_t number;
    cluster_hand_out(work->many->cluster, work->count);
    const struct output_target *file = output_where();
    input_among(NULL);
    output_into(NULL);
    while (begin_one(work, &number)) {
        if (was_done(work, number))
            work->open = false;
        else
            end_one(work, run_command(work, number, 1));
    }
    input_among(work->peers);
    output_into(file);
    return tell_all(work, true);
}

/* ---- commands that add up ---- */

static bool is_shared(void *context, size_t n)
{
    const struct work *work = context;
    return work->shared[n];
}

static bool next(void *context, int code, size_t *n)
{
    struct work *work = context;
    uint32_t number = 0;
    end_one(work, code);
    const bool more = begin_one(work, &number);
    *n = number;
    return more;
}

static const char *kept(void *context, bool *done, int *code)
{
    static char path[4096];
    struct work *work = context;
    const int length = work->many->keep ? snprintf(path, sizeof(path), "%s/%06u.profile",
                                                   work->many->keep, (unsigned)work->number)
                                        : 0;
    if (length <= 0 || (size_t)length >= sizeof(path))
        return NULL;
    *done = access(path, F_OK) == 0 && was_done(work, work->number);
    work->open &= !*done;
    *code = work->done[work->number].code;
    return path;
}

static int finish(void *context)
{
    return tell_all(context, false);
}

static int run_sum(struct work *work)
{
    const struct input_spread spread = {work, is_shared, next, kept, finish};
    cluster_hand_out(work->many->cluster, work->count);
    input_spread_over(&spread);
    const int code = run_command(work, 0, work->many->inputs->count);
    input_spread_over(NULL);
    return code;
}

/* ---- all of it ---- */

/** The first process says which are large. */
static void divide(struct work *work)
{
    const struct option_list *inputs = work->many->inputs;
    for (size_t i = 0; i < inputs->count && work->peers->number == 0; i++)
        work->shared[i] =
            work->peers->count > 1 && inputs_size(inputs->items[i]) >= work->many->large;
    pug_peers_begin(work->peers);
    pug_peers_share(work->peers, work->shared, inputs->count);
    for (uint32_t i = 0; i < inputs->count; i++)
        if (!work->shared[i])
            work->numbers[work->count++] = i;
}

int many_run(const struct many *many)
{
    const size_t count = many->inputs->count;
    struct work work = {.many = many,
                        .peers = cluster_peers(many->cluster),
                        .identity = inputs_identity(many->words, (size_t)many->word_count),
                        .shared = calloc(count, sizeof(*work.shared)),
                        .numbers = calloc(count, sizeof(*work.numbers)),
                        .done = calloc(count, sizeof(*work.done))};
    int code = EXIT_INPUT;
    if (work.shared && work.numbers && work.done) {
        divide(&work);
        const bool sum = many->command == &command_profile || many->command == &command_coverage;
        code = sum ? run_sum(&work) : run_each(&work);
    }
    for (size_t i = 0; work.done && i < count; i++)
        done_free(&work.done[i]);
    free(work.shared);
    free(work.numbers);
    free(work.done);
    return code;
}
