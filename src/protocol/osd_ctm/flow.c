// SPDX-License-Identifier: MIT
/**
 * @file What ran between two jumps. Every jump and return is an event, so only straight code and
 * conditional branches can lie between; the blocks that these reach from where control was form a
 * graph, and where each block on the way has one successor only that leads to the event, the way is
 * certain. Otherwise, and where the privilege mode changed in between, nothing is reported: the
 * decoder does not guess.
 */
#include "protocol/osd_ctm/ctm.h"

#include <stdlib.h>

#define SLOTS (4 * PUG_CTM_BLOCKS) /* of the table of blocks by address */
#define NONE  UINT16_MAX

/** A block on the way: from an address that a branch leads to, to its last instruction. */
struct node {
    uint64_t start, end;
    uint32_t count;
    struct pug_insn last;
    uint16_t next[2];    /* successors: not taken or straight on, taken; NONE */
    uint16_t first_edge; /* edges that lead here */
    bool goal;           /* its last instruction is the event's */
    bool dark;           /* it goes on in memory that is not there: anywhere */
    bool leads;          /* to the goal, or may lead there */
    bool passed;         /* on the way found */
};

struct edge {
    uint16_t from, next; /* next: edge that leads to the same node */
};

struct ctm_search {
    struct pug_ctm_question question;
    unsigned count, edge_count;
    bool overflow; /* too many blocks */
    uint16_t at;   /* pug_ctm_search_next(): the node that comes */
    struct node nodes[PUG_CTM_BLOCKS];
    struct edge edges[2 * PUG_CTM_BLOCKS];
    uint16_t queue[PUG_CTM_BLOCKS];
    uint16_t slots[SLOTS]; /* node + 1; 0: free */
};

struct ctm_search *pug_ctm_search_new(void)
{
    return calloc(1, sizeof(struct ctm_search));
}

void pug_ctm_search_free(struct ctm_search *search)
{
    free(search);
}

/* ---- the graph ---- */

static uint16_t *slot_of(struct ctm_search *search, uint64_t address)
{
    size_t at = (size_t)(address * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
    while (search->slots[at] && search->nodes[search->slots[at] - 1].start != address)
        at = (at + 1) % SLOTS;
    return &search->slots[at];
}

/** The node at an address, made if it is new; NONE when there are too many. */
static uint16_t node_at(struct ctm_search *search, uint64_t address)
{
    uint16_t *slot = slot_of(search, address);
    if (*slot)
        return (uint16_t)(*slot - 1);
    if (search->count == PUG_CTM_BLOCKS) {
        search->overflow = true;
        return NONE;
    }
    uint16_t number = (uint16_t)search->count++;
    search->nodes[number] =
        (struct node){.start = address, .end = address, .next = {NONE, NONE}, .first_edge = NONE};
    *slot = (uint16_t)(number + 1);
    return number;
}

static void connect(struct ctm_search *search, uint16_t from, unsigned way, uint64_t address)
{
    uint16_t to = node_at(search, address);
    search->nodes[from].next[way] = to;
    if (to == NONE)
        return;
    uint16_t number = (uint16_t)search->edge_count++;
    search->edges[number] = (struct edge){from, search->nodes[to].first_edge};
    search->nodes[to].first_edge = number;
}

/** Fill in a node and its successors. */
static void expand(struct ctm_search *search, uint16_t number)
{
    const struct pug_ctm_question *question = &search->question;
    struct node *node = &search->nodes[number];
    const struct pug_block *block =
        pug_codemap_block(question->code, node->start, question->isa, 0);
    uint64_t end = block->end, target = block->insn.target;
    enum pug_block_end ending = block->ending;
    bool flow = ending == PUG_BLOCK_FLOW && block->insn.type != PUG_INSTR_OTHER;
    bool conditional = flow && block->insn.conditional;
    node->end = end;
    node->count = block->count;
    node->last = block->insn;
    node->dark = ending == PUG_BLOCK_NO_ACCESS;
    node->goal = flow && !conditional && block->last == question->to;
    if (ending > PUG_BLOCK_LONG || (flow && !conditional))
        return;
    connect(search, number, 0, end);
    if (conditional)
        connect(search, number, 1, target);
}

static void grow(struct ctm_search *search)
{
    node_at(search, search->question.from);
    for (unsigned i = 0; i < search->count && !search->overflow; i++)
        expand(search, (uint16_t)i);
}

/** Mark what leads to those at the head of the queue. */
static void mark_leading(struct ctm_search *search, unsigned count)
{
    unsigned done = 0;
    while (done < count) {
        uint16_t edge = search->nodes[search->queue[done++]].first_edge;
        for (; edge != NONE; edge = search->edges[edge].next) {
            uint16_t from = search->edges[edge].from;
            if (search->nodes[from].leads)
                continue;
            search->nodes[from].leads = true;
            search->queue[count++] = from;
        }
    }
}

/** Queue the nodes that have the event's instruction, or may have it after them. */
static unsigned find_goals(struct ctm_search *search)
{
    unsigned goals = 0;
    for (unsigned i = 0; i < search->count; i++) {
        struct node *node = &search->nodes[i];
        node->leads = node->goal || node->dark;
        if (node->leads)
            search->queue[goals++] = (uint16_t)i;
    }
    return goals;
}

static bool leads(const struct ctm_search *search, uint16_t number)
{
    return number != NONE && search->nodes[number].leads;
}

/** The one successor that leads to the goal; NONE: there are two. */
static uint16_t only_way(const struct ctm_search *search, const struct node *node)
{
    bool straight = leads(search, node->next[0]), taken = leads(search, node->next[1]);
    if (straight && taken && node->next[0] != node->next[1])
        return NONE;
    return node->next[taken && !straight];
}

/** Follow the way from the start; is it the only one? */
static bool is_certain(struct ctm_search *search)
{
    uint16_t at = 0;
    for (;;) {
        struct node *node = &search->nodes[at];
        if (node->passed || node->dark || node->last.kind == PUG_RV_TRAP)
            return false;
        node->passed = true;
        if (node->goal)
            return true;
        at = only_way(search, node);
        if (at == NONE)
            return false;
    }
}

/* ---- questions and answers ---- */

/** Is the event's instruction the jump that the event says it was? */
static bool is_that_jump(const struct pug_ctm_question *question)
{
    struct pug_insn insn;
    uint8_t it = 0;
    if (pug_codemap_insn(question->code, question->to, question->isa, &it, &insn) != PUG_OK)
        return true; /* it is not known */
    bool direct = insn.type == PUG_INSTR_BR && !insn.conditional;
    if (question->call)
        return direct && (insn.table_jump || insn.target == question->next);
    return (insn.type == PUG_INSTR_BR_INDIRECT && insn.kind != PUG_RV_XRET) ||
           (direct && insn.target == question->next); /* JALR on x0 */
}

enum pug_ctm_path pug_ctm_search_run(struct ctm_search *search,
                                     const struct pug_ctm_question *question)
{
    search->question = *question;
    if (!is_that_jump(question))
        return PUG_CTM_PATH_OTHER_PROGRAM;
    memset(search->slots, 0, sizeof(search->slots));
    search->count = search->edge_count = 0;
    search->overflow = false;
    search->at = 0;
    grow(search);
    unsigned goals = find_goals(search);
    if (search->overflow)
        return PUG_CTM_PATH_OPEN;
    mark_leading(search, goals);
    if (!search->nodes[0].leads)
        return PUG_CTM_PATH_UNREACHABLE;
    return is_certain(search) ? PUG_CTM_PATH_EXACT : PUG_CTM_PATH_OPEN;
}

bool pug_ctm_search_next(struct ctm_search *search, struct pug_ctm_range *range)
{
    if (search->at == NONE)
        return false;
    const struct node *node = &search->nodes[search->at];
    *range = (struct pug_ctm_range){.start = node->start};
    for (;;) {
        search->at = node->goal ? NONE : only_way(search, node);
        range->end = node->end;
        range->count += node->count;
        range->last = node->last;
        range->executed = !node->last.conditional || search->at == node->next[1];
        if (search->at == NONE || node->last.conditional)
            return true;
        node = &search->nodes[search->at]; /* straight on: no end of a range */
    }
}
