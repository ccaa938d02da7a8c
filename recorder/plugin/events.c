// SPDX-License-Identifier: MIT
#include "events.h"

#include "stream.h"
#include "traps.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define RARE __attribute__((noinline, cold))

/* Adds a hit to a tail, up to the count that one event can hold. */
#define HIT  tail_pack((struct tail){.hits = 1, .cut = TAIL_WHOLE})
#define FULL tail_pack((struct tail){.hits = TAIL_HITS, .cut = TAIL_WHOLE})

struct cpu {
    struct shared_cpu *shared;
    uint64_t base; /* its tail without how far the block ran */
    uint8_t *events;
    const struct events_block *at; /* the block that runs; NULL: none */
    uint32_t *follower;            /* by block: the one that followed it last, + 1 */
    uint32_t followers;
    bool known;
    struct situation situation; /* the last one written */
    uint64_t accessed;          /* the last address since events were sent */
    uint32_t accessing;         /* the instruction of the block that accessed memory last */
};

static struct {
    bool on, tasks;
    struct cpu *cpus[REC_PATH_CPUS];
} events;

void events_begin(bool tasks)
{
    events.tasks = tasks;
    events.on = true;
}

void events_stop(void)
{
    events.on = false;
}

events_reach events_reach_of(uint32_t retired)
{
    return tail_pack((struct tail){.cut = retired});
}

RARE static struct cpu *make_cpu(unsigned index)
{
    struct cpu *cpu = events.cpus[index];
    if (!cpu)
        cpu = events.cpus[index] = calloc(1, sizeof(*cpu));
    if (!cpu)
        return NULL;
    cpu->shared = stream_cpu(index);
    cpu->events = stream_room(index);
    cpu->shared->began = stream_clock();
    return cpu;
}

/** The processor; NULL: none. */
static struct cpu *cpu_at(unsigned index)
{
    if (!events.on || index >= REC_PATH_CPUS)
        return NULL;
    struct cpu *cpu = events.cpus[index];
    return cpu && cpu->shared ? cpu : make_cpu(index);
}

/* Only its own thread changes it. */
static uint64_t tail_of(const struct cpu *cpu)
{
    return atomic_load_explicit(&cpu->shared->tail, memory_order_relaxed);
}

/** One store sets it, after those of the events that it counts. */
static void set_tail(struct cpu *cpu, events_reach reach)
{
    atomic_store_explicit(&cpu->shared->tail, cpu->base | reach, memory_order_release);
}

/** A thread was not heard of before. */
RARE static void write_task(struct cpu *cpu, unsigned index)
{
    struct buffer record = {NULL, 0, 0};
    buffer_number(&record, REC_PATH_TASK);
    buffer_number(&record, index);
    buffer_number(&record, stream_clock());
    buffer_number(&record, (uint64_t)getpid());
    buffer_number(&record, (uint64_t)syscall(SYS_gettid));
    stream_lock();
    stream_record(&record, false);
    stream_unlock();
    free(record.bytes);
    cpu->known = true;
}

/** Make room to remember which block follows each of the blocks. */
RARE static bool reserve_follower(struct cpu *cpu, uint32_t blocks)
{
    uint32_t count = blocks + blocks / 2 + 64;
    uint32_t *grown = realloc(cpu->follower, count * sizeof(*grown));
    if (!grown)
        return false;
    memset(grown + cpu->followers, 0, (count - cpu->followers) * sizeof(*grown));
    cpu->follower = grown;
    cpu->followers = count;
    return true;
}

/** Did it also follow the last block the last time? It is from here on. */
static bool is_hit(struct cpu *cpu, uint32_t id, uint32_t blocks)
{
    if (!cpu->at)
        return false;
    if (cpu->at->id >= cpu->followers && !reserve_follower(cpu, blocks))
        return false;
    uint32_t *follower = &cpu->follower[cpu->at->id];
    if (*follower == id + 1)
        return true;
    *follower = id + 1;
    return false;
}

static void append(struct cpu *cpu, struct tail *tail, enum rec_path_event kind, uint64_t operand)
{
    tail->size += (uint32_t)put_event(cpu->events + tail->size, tail->hits, kind, operand);
    tail->hits = 0;
}

/** The last block runs no further. */
static void end_block(struct cpu *cpu, struct tail *tail)
{
    if (tail->cut != TAIL_WHOLE)
        append(cpu, tail, REC_EVENT_CUT, tail->cut);
    tail->cut = TAIL_WHOLE;
}

void events_send(unsigned index)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    stream_lock();
    stream_events(index);
    stream_unlock();
    cpu->base = 0;
    cpu->accessed = 0;
}

/** How it stands, with one store; sent where there is no room for more. */
static void settle(struct cpu *cpu, unsigned index, struct tail tail, events_reach reach)
{
    cpu->base = tail_pack(tail);
    set_tail(cpu, reach);
    if (tail.size > SHARED_EVENTS - SHARED_MARGIN || tail.hits >= TAIL_HITS)
        events_send(index);
}

/** A block that did not come the last time, or is more than a hit. */
RARE static void tell_block(struct cpu *cpu, unsigned index, const struct events_block *block,
                            bool hit)
{
    struct tail tail = tail_unpack(tail_of(cpu));
    end_block(cpu, &tail);
    if (hit)
        tail.hits++;
    else
        append(cpu, &tail, REC_EVENT_BLOCK, block->id);
    settle(cpu, index, tail, block->reach);
}

void events_block(unsigned index, const struct events_block *block, uint32_t blocks)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    if (!cpu->known && events.tasks)
        write_task(cpu, index);
    bool hit = is_hit(cpu, block->id, blocks);
    cpu->at = block;
    cpu->accessing = 0;
    if (!hit || tail_of(cpu) != cpu->base || cpu->base >= FULL) {
        tell_block(cpu, index, block, hit);
        return;
    }
    cpu->base += HIT;
    set_tail(cpu, block->reach);
}

void events_situation(unsigned index, const struct situation *situation)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    const struct situation *told = &cpu->situation;
    bool privilege = !told->known || told->privilege != situation->privilege;
    bool context = !told->known || told->context != situation->context;
    if (!privilege && !context)
        return;
    struct tail tail = tail_unpack(tail_of(cpu));
    end_block(cpu, &tail);
    if (privilege)
        append(cpu, &tail, REC_EVENT_PRIVILEGE, situation->privilege);
    if (context)
        append(cpu, &tail, REC_EVENT_CONTEXT, situation->context);
    cpu->situation = *situation;
    settle(cpu, index, tail, 0);
}

void events_access(unsigned index, const struct events_access *access)
{
    struct cpu *cpu = cpu_at(index);
    /* What an instruction left that was interrupted in the middle QEMU reports as its own when
     * other functions of QEMU's access memory: in another block, or further on in this one. */
    if (!cpu || cpu->at != access->block || access->insn < cpu->accessing)
        return;
    struct tail tail = tail_unpack(tail_of(cpu));
    uint32_t cut = tail.cut;
    cpu->accessing = access->insn;
    uint64_t difference = access->address - cpu->accessed;
    append(cpu, &tail, REC_EVENT_GAP,
           1 + ((uint64_t)access->insn << REC_ACCESS_INSN |
                (access->known ? REC_ACCESS_KNOWN : 0u) | (access->store ? REC_ACCESS_STORE : 0u) |
                access->size));
    tail.size += (uint32_t)put_number(cpu->events + tail.size, rec_path_fold(difference));
    if (access->known)
        tail.size += (uint32_t)put_number(cpu->events + tail.size, access->value);
    cpu->accessed = access->address;
    tail.cut = TAIL_WHOLE;
    settle(cpu, index, tail, cut == TAIL_WHOLE ? 0 : events_reach_of(cut));
}

void events_reached(unsigned index, events_reach reach)
{
    struct cpu *cpu = index < REC_PATH_CPUS ? events.cpus[index] : NULL;
    if (cpu && cpu->shared)
        set_tail(cpu, reach);
}

void events_syscall(unsigned index, uint64_t number, bool retired)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    struct tail tail = tail_unpack(tail_of(cpu));
    tail.cut = retired || !cpu->at ? TAIL_WHOLE : cpu->at->count - 1;
    end_block(cpu, &tail);
    append(cpu, &tail, REC_EVENT_SYSCALL, number & 0xffffffff);
    settle(cpu, index, tail, 0);
}

const struct events_block *events_last(unsigned index)
{
    struct cpu *cpu = cpu_at(index);
    return cpu ? cpu->at : NULL;
}

void events_cut(unsigned index, uint32_t retired)
{
    struct cpu *cpu = cpu_at(index);
    if (cpu && cpu->at)
        set_tail(cpu, events_reach_of(retired));
}

void events_trap(unsigned index, const struct trap *trap)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    struct tail tail = tail_unpack(tail_of(cpu));
    uint64_t number = trap->numbered ? (uint64_t)trap->number + 1 : 0;
    end_block(cpu, &tail);
    append(cpu, &tail, REC_EVENT_TRAP, trap->kind | number << REC_TRAP_NUMBER);
    tail.size += (uint32_t)put_number(cpu->events + tail.size,
                                      trap->known ? (trap->address | trap->t32) + 1 : 0);
    settle(cpu, index, tail, 0);
}

void events_exit(unsigned index)
{
    struct cpu *cpu = cpu_at(index);
    if (!cpu)
        return;
    struct tail tail = tail_unpack(tail_of(cpu));
    end_block(cpu, &tail);
    settle(cpu, index, tail, 0);
    events_send(index);
    cpu->at = NULL;
    cpu->known = false;
}

void events_forget(void)
{
    for (unsigned i = 0; i < REC_PATH_CPUS; i++) {
        if (!events.cpus[i])
            continue;
        free(events.cpus[i]->follower);
        *events.cpus[i] = (struct cpu){.at = NULL};
    }
}
