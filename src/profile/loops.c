// SPDX-License-Identifier: MIT
/** @file Visits to loops, and how many rounds each made. */
#include "profile/loops.h"

#include "base/hash.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/walk.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_LIMIT (UINT64_C(1) << 20) /* bytes of a function that is looked at for loops */
#define CODE_LIMIT     (UINT64_C(1) << 30) /* of all functions */

/** A function whose loops are known, by their heads. */
struct function {
    uint64_t start;
    uint32_t object; /* the capture's */
    struct profile_loops_function loops;
};

/** A frame's state in a loop. */
struct visit {
    uint64_t rounds;  /* 0: it is in none */
    uint32_t touched; /* the number of the loop that the frame came to as its n-th */
    bool listed;      /* it is one of these */
    bool by_jump;     /* it began with a jump back */
};

/** A frame with loops. All visits are zero while it is closed. */
struct activation {
    bool open, found;              /* found: in the middle of its function, maybe */
    uint32_t object, first, count; /* of its function */
    uint32_t touched, room;
    uint32_t by_jump;     /* visits that began so and are going on */
    struct visit *visits; /* by loop */
    uint64_t last;        /* instruction that ran */
    uint64_t expected;    /* where it jumps back to */
    bool expects;
};

/* A visit whose frame was lost sight of. */
struct suspended {
    uint32_t loop; /* its number among the sums */
    uint64_t rounds;
};

struct stack {
    struct activation *activations; /* by depth */
    uint32_t room;
    struct suspended *suspended; /* each of another loop */
    uint32_t suspended_count, suspended_room;
};

struct profile_loops {
    struct profile_table functions;
    struct pug_profile_loop *sums; /* of each function's loops; `object` is the capture's */
    uint32_t count, room;
    struct stack *stacks; /* by task */
    uint32_t stack_room;
    uint64_t code; /* bytes that were looked at */
};

static uint64_t hash_function(const void *item)
{
    const struct function *function = item;
    return pug_hash_mix(pug_hash_mix(0, function->start), function->object);
}

static bool same_function(const void *left, const void *right)
{
    const struct function *a = left, *b = right;
    return a->start == b->start && a->object == b->object;
}

struct profile_loops *pug_profile_loops_new(void)
{
    struct profile_loops *loops = calloc(1, sizeof(*loops));
    if (loops)
        loops->functions = (struct profile_table){
            .size = sizeof(struct function), .hash = hash_function, .same = same_function};
    return loops;
}

static void free_stack(struct stack *stack)
{
    for (uint32_t i = 0; i < stack->room; i++)
        free(stack->activations[i].visits);
    free(stack->activations);
    free(stack->suspended);
}

void pug_profile_loops_free(struct profile_loops *loops)
{
    if (!loops)
        return;
    for (uint32_t i = 0; i < loops->stack_room; i++)
        free_stack(&loops->stacks[i]);
    pug_profile_table_free(&loops->functions);
    free(loops->sums);
    free(loops->stacks);
    free(loops);
}

/* ---- the loops of a function: where its direct branches go back to ---- */

static bool add_head(struct profile_loops *loops, uint32_t object, uint64_t head)
{
    if (loops->count == loops->room) {
        const uint32_t room = loops->room ? loops->room * 2 : 64;
        void *sums = realloc(loops->sums, room * sizeof(*loops->sums));
        if (!sums)
            return false;
        loops->sums = sums;
        loops->room = room;
    }
    loops->sums[loops->count++] = (struct pug_profile_loop){.head = head, .object = object};
    return true;
}

static int by_head(const void *left, const void *right)
{
    const struct pug_profile_loop *a = left, *b = right;
    return a->head < b->head ? -1 : a->head > b->head;
}

/* Heads in their order, each once. */
static void order_heads(struct profile_loops *loops, uint32_t first)
{
    uint32_t kept = first;
    if (loops->count == first)
        return; /* there may be no array */
    qsort(loops->sums + first, loops->count - first, sizeof(*loops->sums), by_head);
    for (uint32_t i = first; i < loops->count; i++)
        if (kept == first || loops->sums[kept - 1].head != loops->sums[i].head)
            loops->sums[kept++] = loops->sums[i];
    loops->count = kept;
}

static enum pug_status look_for_heads(struct profile_loops *loops,
                                      const struct profile_loops_step *step)
{
    const struct pug_function *function = &step->frame->function;
    struct pug_element code = *step->range;
    struct pug_walk *walk;
    const struct pug_step *at;
    code.start = function->start;
    code.end = function->start + function->size;
    code.count = UINT32_MAX;
    enum pug_status status = pug_walk_new(
        &(struct pug_walk_config){.image = pug_address_space_image(step->space)}, &walk);
    if (status == PUG_OK)
        status = pug_walk_begin(walk, &code);
    while (status == PUG_OK && (at = pug_walk_next(walk)) != NULL && at->address < code.end)
        if (at->insn.type == PUG_INSTR_BR && !at->insn.link && !at->insn.table_jump &&
            at->insn.target <= at->address && at->insn.target >= code.start &&
            !add_head(loops, step->node->object,
                      at->insn.target - step->range->start + step->node->step.start))
            status = PUG_ERR_MEM;
    pug_walk_free(walk);
    return status;
}

static enum pug_status find_function(struct profile_loops *loops,
                                     const struct profile_loops_step *step,
                                     struct function *function)
{
    uint32_t number;
    bool is_new;
    *function = (struct function){
        .start = step->frame->function.start - step->range->start + step->node->step.start,
        .object = step->node->object,
        .loops = {.first = loops->count},
    };
    enum pug_status status = pug_profile_table_add(&loops->functions, function, &number, &is_new);
    if (status != PUG_OK)
        return status;
    struct function *kept = pug_profile_item(&loops->functions, number);
    const uint64_t size = step->frame->function.size;
    if (is_new && step->space && size <= FUNCTION_LIMIT && size <= CODE_LIMIT - loops->code) {
        loops->code += size;
        status = look_for_heads(loops, step);
        order_heads(loops, kept->loops.first);
        kept->loops.count = loops->count - kept->loops.first;
    }
    *function = *kept;
    return status;
}

/* ---- frames ---- */

static bool grow(void **items, uint32_t *room, uint32_t wanted, size_t size)
{
    const uint32_t more = wanted + wanted / 2 + 8;
    char *grown = wanted < UINT32_MAX / 2 ? realloc(*items, more * size) : NULL;
    if (!grown)
        return false;
    memset(grown + *room * size, 0, (more - *room) * size);
    *items = grown;
    *room = more;
    return true;
}

static struct activation *activation_at(struct profile_loops *loops, uint32_t task, uint32_t depth)
{
    void *stacks = loops->stacks;
    if (task >= loops->stack_room && !grow(&stacks, &loops->stack_room, task, sizeof(struct stack)))
        return NULL;
    loops->stacks = stacks;
    struct stack *stack = &loops->stacks[task];
    void *activations = stack->activations;
    if (depth >= stack->room && !grow(&activations, &stack->room, depth, sizeof(struct activation)))
        return NULL;
    stack->activations = activations;
    return &stack->activations[depth];
}

/* There is room for its visits. */
static void begin_activation(struct activation *activation, struct profile_loops_function function,
                             const struct profile_node *node, bool found)
{
    activation->open = true;
    activation->found = found;
    activation->object = node->object;
    activation->first = function.first;
    activation->count = function.count;
    activation->last = node->step.start;
    activation->expects = false;
}

static enum pug_status open_activation(struct profile_loops *loops, struct activation *activation,
                                       const struct profile_loops_step *step)
{
    struct function function;
    enum pug_status status = find_function(loops, step, &function);
    if (status != PUG_OK)
        return status;
    void *visits = activation->visits;
    if (function.loops.count > activation->room &&
        !grow(&visits, &activation->room, function.loops.count, sizeof(struct visit)))
        return PUG_ERR_MEM;
    activation->visits = visits;
    begin_activation(activation, function.loops, step->node, step->frame->kind == PUG_CALL_FOUND);
    return PUG_OK;
}

/* ---- what is suspended ---- */

static void add_visit(struct profile_loops *loops, uint32_t loop, uint64_t rounds)
{
    const struct pug_profile_loop once = pug_profile_loop_visit(rounds);
    pug_profile_loop_add(&loops->sums[loop], &once);
}

static struct suspended *find_suspended(struct stack *stack, uint32_t loop)
{
    for (uint32_t i = 0; i < stack->suspended_count; i++)
        if (stack->suspended[i].loop == loop)
            return &stack->suspended[i];
    return NULL;
}

/* Without memory it is over. */
static void suspend(struct profile_loops *loops, struct stack *stack, uint32_t loop,
                    uint64_t rounds)
{
    struct suspended *before = find_suspended(stack, loop);
    void *items = stack->suspended;
    if (before) {
        add_visit(loops, loop, before->rounds);
        before->rounds = rounds;
        return;
    }
    if (stack->suspended_count == stack->suspended_room &&
        !grow(&items, &stack->suspended_room, stack->suspended_count, sizeof(*before))) {
        add_visit(loops, loop, rounds);
        return;
    }
    stack->suspended = items;
    stack->suspended[stack->suspended_count++] = (struct suspended){loop, rounds};
}

/* The rounds of a suspended visit, which is none any more; 0: there was none. */
static uint64_t resume(struct stack *stack, uint32_t loop)
{
    struct suspended *found = find_suspended(stack, loop);
    if (!found)
        return 0;
    const uint64_t rounds = found->rounds;
    *found = stack->suspended[--stack->suspended_count];
    return rounds;
}

/* ---- visits ---- */

static void end_visit(struct profile_loops *loops, struct activation *activation,
                      struct visit *visit)
{
    add_visit(loops, activation->first + (uint32_t)(visit - activation->visits), visit->rounds);
    activation->by_jump -= visit->by_jump;
    visit->by_jump = false;
    visit->rounds = 0;
}

/* `stack`: what goes on there may be found again; NULL: nothing goes on. */
static void close_activation(struct profile_loops *loops, struct activation *activation,
                             struct stack *stack)
{
    for (uint32_t n = 0; n < activation->touched; n++) {
        const uint32_t number = activation->visits[n].touched;
        struct visit *visit = &activation->visits[number];
        if (visit->rounds > 0 && stack)
            suspend(loops, stack, activation->first + number, visit->rounds);
        else if (visit->rounds > 0)
            end_visit(loops, activation, visit);
        visit->rounds = 0;
        visit->by_jump = visit->listed = false;
    }
    activation->touched = activation->by_jump = 0;
    activation->open = false;
}

/* A visit begins, or is found again. */
static void begin_visit(struct profile_loops *loops, struct stack *stack,
                        struct activation *activation, uint32_t number, bool jumped)
{
    struct visit *visit = &activation->visits[number];
    const uint32_t loop = activation->first + number;
    const uint64_t before = activation->found ? resume(stack, loop) : 0;
    if (before > 0 && jumped)
        visit->rounds = before;
    else if (before > 0)
        add_visit(loops, loop, before);
    visit->by_jump = jumped && before == 0;
    activation->by_jump += visit->by_jump;
    if (!visit->listed)
        activation->visits[activation->touched++].touched = number;
    visit->listed = true;
}

/* The head of a loop runs. */
static void begin_round(struct profile_loops *loops, struct stack *stack,
                        struct activation *activation, uint32_t number, bool jumped)
{
    struct visit *visit = &activation->visits[number];
    if (visit->rounds > 0 && !jumped)
        end_visit(loops, activation, visit);
    if (visit->rounds == 0)
        begin_visit(loops, stack, activation, number, jumped);
    visit->rounds = pug_profile_sum(visit->rounds, 1);
}

/* Heads that were jumped over from before them. */
static void jump_over(struct profile_loops *loops, struct activation *activation, uint64_t to)
{
    for (uint32_t n = 0; n < activation->touched && activation->by_jump > 0; n++) {
        const uint32_t number = activation->visits[n].touched;
        const uint64_t head = loops->sums[activation->first + number].head;
        struct visit *visit = &activation->visits[number];
        if (visit->by_jump && activation->last < head && head < to)
            end_visit(loops, activation, visit);
    }
}

/* The first of a frame's loops whose head is not before an address. */
static uint32_t first_head(const struct profile_loops *loops, const struct activation *activation,
                           uint64_t address)
{
    uint32_t low = 0, high = activation->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (loops->sums[activation->first + middle].head < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Finds it for the loops that a range may be in; the node knows it for one function. */
static uint32_t first_head_of(const struct profile_loops *loops,
                              const struct activation *activation, struct profile_node *node)
{
    if (activation->count > 0 && node->loops != activation->first + 1) {
        node->head = first_head(loops, activation, node->step.start);
        node->loops = activation->first + 1;
    }
    return activation->count > 0 ? node->head : 0;
}

static void run_range(struct profile_loops *loops, struct stack *stack,
                      struct activation *activation, struct profile_node *node)
{
    const uint64_t last = pug_profile_node_last(node);
    const bool jumped = activation->expects && node->step.start == activation->expected;
    if (activation->by_jump > 0 && node->step.start > activation->last)
        jump_over(loops, activation, node->step.start);
    for (uint32_t n = first_head_of(loops, activation, node); n < activation->count; n++) {
        const uint64_t head = loops->sums[activation->first + n].head;
        if (head > last)
            break;
        begin_round(loops, stack, activation, n, jumped && head == node->step.start);
    }
    activation->expects = node->goes_back;
    activation->expected = node->target;
    activation->last = last;
}

enum pug_status pug_profile_loops_run(struct profile_loops *loops,
                                      const struct profile_loops_step *step)
{
    struct activation *activation = activation_at(loops, step->task, step->depth);
    if (!activation)
        return PUG_ERR_MEM;
    enum pug_status status = PUG_OK;
    if (!activation->open && step->frame->function.size > 0)
        status = open_activation(loops, activation, step);
    if (status == PUG_OK)
        pug_profile_loops_go_on(loops, step->task, step->depth, step->node);
    return status;
}

void pug_profile_loops_go_on(struct profile_loops *loops, uint32_t task, uint32_t depth,
                             struct profile_node *node)
{
    struct stack *stack = &loops->stacks[task];
    struct activation *activation = &stack->activations[depth];
    if (activation->open && activation->object == node->object)
        run_range(loops, stack, activation, node);
}

struct profile_loops_function pug_profile_loops_function(const struct profile_loops *loops,
                                                         uint32_t task, uint32_t depth)
{
    const struct activation *activation = &loops->stacks[task].activations[depth];
    return activation->open ? (struct profile_loops_function){activation->first, activation->count}
                            : (struct profile_loops_function){0, 0};
}

bool pug_profile_loops_enter(struct profile_loops *loops, uint32_t task, uint32_t depth,
                             struct profile_loops_function function,
                             const struct profile_node *node)
{
    if (task >= loops->stack_room || depth >= loops->stacks[task].room)
        return false;
    struct activation *activation = &loops->stacks[task].activations[depth];
    if (function.count > activation->room)
        return false;
    if (function.count > 0)
        begin_activation(activation, function, node, false);
    return true;
}

void pug_profile_loops_leave(struct profile_loops *loops, uint32_t task, uint32_t depth, bool lost)
{
    if (task >= loops->stack_room || depth >= loops->stacks[task].room)
        return;
    struct stack *stack = &loops->stacks[task];
    close_activation(loops, &stack->activations[depth], lost ? stack : NULL);
}

static void close_stack(struct profile_loops *loops, struct stack *stack)
{
    for (uint32_t depth = 0; depth < stack->room; depth++)
        close_activation(loops, &stack->activations[depth], NULL);
    for (uint32_t i = 0; i < stack->suspended_count; i++)
        add_visit(loops, stack->suspended[i].loop, stack->suspended[i].rounds);
    stack->suspended_count = 0;
}

enum pug_status pug_profile_loops_end(struct profile_loops *loops, struct profile_objects *objects)
{
    enum pug_status status = PUG_OK;
    for (uint32_t task = 0; task < loops->stack_room; task++)
        close_stack(loops, &loops->stacks[task]);
    for (uint32_t i = 0; i < loops->count && status == PUG_OK; i++) {
        struct pug_profile_loop loop = loops->sums[i];
        if (loop.visits == 0)
            continue;
        status = pug_profile_object_number(objects, loop.object, &loop.object);
        if (status == PUG_OK)
            status = pug_profile_loop(objects->profile, &loop);
    }
    return status;
}
