// SPDX-License-Identifier: MIT
/**
 * @file libpugmark_record.so, a plugin for QEMU: writes the path that a program takes.
 *
 *     qemu-aarch64 -plugin libpugmark_record.so,out=FILE[,children=NAME][,data=1] ./program
 *
 * `out` is a file or a FIFO; its form is described in docs/book/formats/path.md; fd=N is a
 * descriptor in its place. Each thread (or, of a machine, each processor) is a stream. A forked
 * child is not recorded, or with `children` into NAME.PID. With `data` accesses to memory are
 * recorded.
 *
 * QEMU reports when a block begins, not whether it ran to its end: a load in the middle may fault.
 * So each instruction that follows one that accesses memory reports that it was reached.
 */
#include "events.h"
#include "maps.h"
#include "opcode.h"
#include "qemu_plugin.h"
#include "situation.h"
#include "state.h"
#include "stream.h"
#include "traps.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT  __attribute__((visibility("default")))
#define BUCKETS 65536u
#define INSNS   1024u /* more than QEMU puts into a block */

struct block {
    struct block *next; /* of the same bucket */
    uint64_t address;
    uint32_t size;
    enum rec_path_isa isa;
    struct events_block run;
    bool traps;            /* its last instruction never retires */
    bool sleeps;           /* an instruction before it waits for interrupts */
    bool returns;          /* or returns from an exception, where all of it retired */
    uint8_t context;       /* or writes the context id: out of this register, + 1 */
    uint8_t *may_fault;    /* for each instruction */
    struct watch *watches; /* for each instruction, when data are recorded; NULL: not yet */
    uint8_t bytes[];
};

/** An instruction whose accesses are recorded. */
struct watch {
    const struct block *block;
    uint32_t insn;
};

static struct {
    enum rec_path_isa isa; /* A32 stands for both of Arm's */
    enum rec_path_family family;
    bool user, off, named;
    bool copies;                        /* qemu_plugin_insn_data() does */
    bool reads;                         /* registers can be read, or the state that holds them */
    bool traps;                         /* exceptions can be followed */
    struct state_field registers;       /* of Arm's processors */
    unsigned data;                      /* accesses are recorded */
    uintptr_t base;                     /* of user mode: where QEMU has the program's address 0 */
    int file;                           /* to write to; -1: `out` */
    char out[REC_PATH_NAME_BYTES];      /* a file */
    char children[REC_PATH_NAME_BYTES]; /* forked ones write there, with their id; "": nowhere */
    struct block *buckets[BUCKETS];
    uint32_t blocks;
} plugin;

/** QEMU looks at it when this is loaded: the oldest version that it takes. */
EXPORT int qemu_plugin_version = 1;

__attribute__((constructor)) static void choose_version(void)
{
    if (situation_can())
        qemu_plugin_version = 2;
}

/* ---- what runs ---- */

static void on_block(unsigned cpu, void *data)
{
    const struct block *block = data;
    events_block(cpu, &block->run, plugin.blocks);
}

static void on_vcpu(qemu_plugin_id_t id, unsigned cpu)
{
    (void)id;
    situation_begin(cpu);
}

static void on_reached(unsigned cpu, void *data)
{
    events_reached(cpu, (uintptr_t)data);
}

static void on_access(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    (void)info, (void)address;
    on_reached(cpu, data);
}

/** The value in memory of user mode directly after the access. */
static bool read_program(uint64_t address, unsigned size, uint64_t *value)
{
    uint8_t bytes[8];
    memcpy(bytes, (const uint8_t *)plugin.base + address, (size_t)1 << size); // NOLINT
    *value = 0;
    for (unsigned i = 0; i < 1u << size; i++)
        *value |= (uint64_t)bytes[i] << 8 * i;
    return true;
}

/**
 * The value of a machine's memory directly after the access: of an M profile processor, where the
 * architecture has memory. Devices are not asked, since reading may change them.
 */
static bool read_machine(unsigned cpu, uint64_t address, unsigned size, uint64_t *value)
{
    const unsigned region = (unsigned)(address >> 29);
    uint32_t word;
    if (!state_is_m_profile() || (region != 0 && region != 1 && region != 3 && region != 4))
        return false;
    *value = 0;
    for (unsigned i = 0; i < 1u << size; i++) {
        const uint64_t at = address + i;
        if (!state_memory(cpu, at & ~UINT64_C(3), false, &word) &&
            !state_memory(cpu, at & ~UINT64_C(3), true, &word))
            return false;
        *value |= (uint64_t)(word >> 8 * (at & 3) & 0xff) << 8 * i;
    }
    return true;
}

/**
 * The value of a store to a stimulus port of the ITM, which QEMU does not have: that of the stored
 * register. It is known when the instruction is a block of its own (QEMU's -singlestep).
 */
static bool read_port(unsigned cpu, const struct watch *watch, uint64_t address, unsigned size,
                      uint64_t *value)
{
    unsigned number;
    if (address >> 12 != 0xe0000 || size > 2 || watch->block->run.count != 1 ||
        !state_is_m_profile() || !opcode_stores(watch->block->bytes, &number))
        return false;
    *value = state_read(cpu, plugin.registers, number) & (UINT64_MAX >> (64 - (8u << size)));
    return plugin.registers.size > 0;
}

static bool read_value(unsigned cpu, const struct watch *watch, const struct events_access *access,
                       uint64_t *value)
{
    if (access->size > 3)
        return false;
    if (plugin.user)
        return read_program(access->address, access->size, value);
    return read_machine(cpu, access->address, access->size, value) ||
           (access->store && read_port(cpu, watch, access->address, access->size, value));
}

static void on_data(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data)
{
    enum { TAG = 56 }; /* A64: the address has 56 bits, whatever the others say */
    if (plugin.family == REC_FAMILY_A64)
        address = (uint64_t)((int64_t)(address << (64 - TAG)) >> (64 - TAG));
    const struct watch *watch = data;
    struct events_access access = {.block = &watch->block->run,
                                   .address = address,
                                   .insn = watch->insn,
                                   .size = (uint8_t)qemu_plugin_mem_size_shift(info),
                                   .store = qemu_plugin_mem_is_store(info)};
    access.known = read_value(cpu, watch, &access, &access.value);
    events_access(cpu, &access);
}

/* ---- blocks ---- */

static uint32_t hash_of(uint64_t address)
{
    return (uint32_t)((address * UINT64_C(0x9E3779B97F4A7C15)) >> 48) % BUCKETS;
}

/** A block as QEMU is about to translate it. */
struct draft {
    uint64_t address;
    enum rec_path_isa isa;
    uint32_t count, size;
    uint8_t bytes[REC_PATH_BLOCK_BYTES];
    uint16_t offset[INSNS];
};

/**
 * Bytes of an instruction: from where QEMU has the program's memory; its own copy is wrong for T32
 * instructions that straddle pages, and for a machine's devices there is nothing else.
 */
static void fetch(const struct qemu_plugin_insn *insn, uint8_t bytes[4])
{
    const uint8_t *host = plugin.user ? qemu_plugin_insn_haddr(insn) : NULL;
    size_t size = qemu_plugin_insn_size(insn);
    memset(bytes, 0, 4);
    size = size < 4 ? size : 4;
    if (!host) {
        uintptr_t data = qemu_plugin_insn_data(insn, bytes, size);
        if (!plugin.copies)
            memcpy(bytes, (const void *)data, size);
        return;
    }
    memcpy(bytes, host, 2);
    /* The other half may be on a page that is not there. */
    bool half = (plugin.isa == REC_PATH_RISCV && (bytes[0] & 3) != 3) ||
                (plugin.isa == REC_PATH_A32 && size == 2 && bytes[1] < 0xe8);
    if (!half)
        memcpy(bytes + 2, host + 2, 2);
}

/** What size and place say of an instruction: A32, T32, or (REC_PATH_RISCV) nothing. */
static enum rec_path_isa arm_hint(const struct qemu_plugin_tb *tb, size_t n, size_t count)
{
    const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, n);
    uint64_t address = qemu_plugin_insn_vaddr(insn);
    size_t size = qemu_plugin_insn_size(insn);
    uint8_t bytes[4];
    if (n + 1 < count)
        size = (size_t)(qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, n + 1)) - address);
    fetch(insn, bytes);
    if (size != 4 || address & 2)
        return REC_PATH_T32;
    if (bytes[1] >= 0xe8)
        return REC_PATH_RISCV;
    /* In front of a page's end QEMU counts what it looked at of the next instruction, too. */
    bool doubtful = n + 1 == count && (address & 0xfff) == 0xffc;
    return doubtful ? REC_PATH_RISCV : REC_PATH_A32;
}

/** A32 or T32? QEMU does not say. */
static enum rec_path_isa arm_isa(const struct qemu_plugin_tb *tb, size_t count)
{
    uint8_t bytes[4];
    for (size_t i = 0; i < count; i++) {
        enum rec_path_isa hint = arm_hint(tb, i, count);
        if (hint != REC_PATH_RISCV)
            return hint;
    }
    for (size_t i = 0; i < count; i++) {
        const struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
        fetch(insn, bytes);
        char *text = qemu_plugin_insn_disas(insn);
        bool t32 = text && opcode_text_is_t32(bytes, text);
        free(text);
        if (t32)
            return REC_PATH_T32;
    }
    return REC_PATH_A32;
}

static bool draft_block(struct draft *draft, const struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    if (count == 0 || count > INSNS)
        return false;
    draft->address = qemu_plugin_tb_vaddr(tb);
    draft->isa = plugin.isa == REC_PATH_A32 ? arm_isa(tb, count) : plugin.isa;
    draft->count = (uint32_t)count;
    draft->size = 0;
    for (size_t i = 0; i < count; i++) {
        draft->offset[i] = (uint16_t)draft->size;
        fetch(qemu_plugin_tb_get_insn(tb, i), draft->bytes + draft->size);
        draft->size += opcode_size(draft->isa, draft->bytes + draft->size);
    }
    return true;
}

static void write_block(const struct block *block)
{
    struct buffer record = {NULL, 0, 0};
    buffer_number(&record, REC_PATH_BLOCK);
    buffer_number(&record, block->isa);
    buffer_number(&record, block->address);
    buffer_number(&record, block->size);
    buffer_bytes(&record, block->bytes, block->size);
    stream_record(&record, plugin.children[0]);
    free(record.bytes);
}

/** How far it ran when its first `n` instructions did: to the next one that may fault. */
static events_reach reach_from(const struct block *block, uint32_t n)
{
    while (n < block->run.count && !block->may_fault[n])
        n++;
    if (n < block->run.count)
        return events_reach_of(n);
    return block->traps ? events_reach_of(n - 1) : 0;
}

/** The block, a new one if there was none. NULL: no memory. */
static struct block *find_block(const struct draft *draft)
{
    struct block **bucket = &plugin.buckets[hash_of(draft->address)], *block;
    for (block = *bucket; block; block = block->next)
        if (block->address == draft->address && block->isa == draft->isa &&
            block->size == draft->size && memcmp(block->bytes, draft->bytes, draft->size) == 0)
            return block;
    block = malloc(sizeof(*block) + draft->size + draft->count);
    if (!block)
        return NULL;
    *block = (struct block){.next = *bucket,
                            .address = draft->address,
                            .run = {.id = plugin.blocks++, .count = draft->count},
                            .size = draft->size,
                            .isa = draft->isa};
    *bucket = block;
    memcpy(block->bytes, draft->bytes, draft->size);
    block->may_fault = block->bytes + draft->size;
    for (uint32_t i = 0; i < draft->count; i++) {
        const uint8_t *bytes = draft->bytes + draft->offset[i];
        /* Behind the last there is no other to say so: of that it has to be sure. */
        block->may_fault[i] = i + 1 < draft->count ? opcode_accesses(draft->isa, bytes) ||
                                                         opcode_sleeps(draft->isa, bytes)
                                                   : opcode_surely_accesses(draft->isa, bytes);
    }
    /* A program's calls are reported; a machine's are found here. */
    const uint8_t *last = draft->bytes + draft->offset[draft->count - 1];
    static const uint8_t ecall[4] = {0x73, 0, 0, 0};
    block->traps = opcode_traps(draft->isa, last) ||
                   (!plugin.user && draft->isa == REC_PATH_RISCV && memcmp(last, ecall, 4) == 0);
    unsigned number;
    for (uint32_t i = 0; i + 1 < draft->count; i++)
        block->sleeps |= opcode_sleeps(draft->isa, draft->bytes + draft->offset[i]);
    block->returns = opcode_returns(draft->isa, last);
    block->context = opcode_sets_context(draft->isa, last, &number) ? (uint8_t)(number + 1) : 0;
    block->run.reach = reach_from(block, 0);
    write_block(block);
    return block;
}

/* ---- what runs on a machine ---- */

/** An instruction that ran outside of the blocks: SG, which QEMU executes where it is fetched. */
static void run_gateway(unsigned cpu, uint64_t address)
{
    struct draft draft = {.address = address,
                          .isa = REC_PATH_T32,
                          .count = 1,
                          .size = 4,
                          .bytes = {0x7f, 0xe9, 0x7f, 0xe9}};
    stream_lock();
    struct block *block = find_block(&draft);
    stream_unlock();
    if (block)
        events_block(cpu, &block->run, plugin.blocks);
}

/** The block that ran last; NULL: none. */
static const struct block *last_block(unsigned cpu)
{
    const struct events_block *last = events_last(cpu);
    return last ? (const void *)((const char *)last - offsetof(struct block, run)) : NULL;
}

/** Which of the block's instructions is at the address? Its count: none. */
static uint32_t insn_at(const struct block *block, uint64_t address)
{
    uint32_t at = 0, i = 0;
    while (i < block->run.count && block->address + at != address)
        at += opcode_size(block->isa, block->bytes + at), i++;
    return i;
}

/** Where an instruction faulted the block ends, also where nothing else shows that. */
static void cut_block(unsigned cpu, const struct block *last, const struct trap *trap)
{
    if (!last || !trap->fault || !trap->known)
        return;
    uint32_t n = insn_at(last, trap->address);
    if (n < last->run.count)
        events_cut(cpu, n);
}

/**
 * Where an instruction waited for an interrupt, in the middle of a block, it retired, and what
 * follows it did not.
 */
static void cut_asleep(unsigned cpu, const struct block *last, uint64_t next)
{
    uint32_t at = 0;
    uint32_t n = insn_at(last, next);
    for (uint32_t i = 1; i < n; i++)
        at += opcode_size(last->isa, last->bytes + at);
    if (n > 0 && n < last->run.count && opcode_sleeps(last->isa, last->bytes + at))
        events_cut(cpu, n);
}

/** The block returned from an exception, which no log reports on AArch32 and RISC-V. */
static void take_return(unsigned cpu, const struct block *last, const struct trap *trap,
                        const struct block *next)
{
    uint64_t after = last->address + last->size;
    struct trap back = {.kind = REC_TRAP_RETURN,
                        .known = true,
                        .address = next->address,
                        .t32 = next->isa == REC_PATH_T32};
    if (trap && trap->known) {
        back.address = trap->address;
        back.t32 = trap->t32;
    }
    /* Where execution just continues, the condition did not hold. */
    bool retired = !trap || !trap->fault || insn_at(last, back.address) == last->run.count;
    if (retired && (back.address != after || last->isa == REC_PATH_RISCV))
        events_trap(cpu, &back);
}

/** Exceptions and returns before the block. */
static void take_traps(unsigned cpu, const struct block *last, const struct block *block)
{
    const struct trap *traps;
    unsigned count = traps_wait() ? traps_read(cpu, block->address, &traps) : 0;
    if (count > 0 && !traps[0].gateway)
        cut_block(cpu, last, &traps[0]);
    if (last && last->sleeps)
        cut_asleep(cpu, last, count > 0 && traps[0].known ? traps[0].address : block->address);
    if (last && last->returns && plugin.isa != REC_PATH_A64)
        take_return(cpu, last, count > 0 ? &traps[0] : NULL, block);
    for (unsigned i = 0; i < count; i++) {
        if (traps[i].gateway)
            run_gateway(cpu, traps[i].address);
        else
            events_trap(cpu, &traps[i]);
    }
}

/** The same, of a machine. */
static void on_machine_block(unsigned cpu, void *data)
{
    const struct block *block = data, *last = last_block(cpu);
    if (plugin.traps && (traps_wait() || (last && (last->returns || last->sleeps))))
        take_traps(cpu, last, block);
    if (last && last->context)
        situation_context(cpu, (uint32_t)state_read(cpu, plugin.registers, last->context - 1u));
    struct situation situation = {.known = false};
    if (plugin.reads)
        situation = situation_of(cpu, plugin.family);
    if (situation.known)
        events_situation(cpu, &situation);
    on_block(cpu, data);
}

/** Writes a record that is a text. */
static void write_text(enum rec_path_record kind, const char *text)
{
    struct buffer record = {NULL, 0, 0};
    buffer_number(&record, kind);
    buffer_number(&record, strlen(text));
    buffer_bytes(&record, text, strlen(text));
    stream_record(&record, true);
    free(record.bytes);
}

static void name_program(void)
{
    const char *path = plugin.user ? qemu_plugin_path_to_binary() : NULL;
    plugin.named = true;
    if (!plugin.user && *state_core())
        write_text(REC_PATH_CORE, state_core());
    if (path)
        write_text(REC_PATH_PROGRAM, path);
}

/** Register for all memory accesses of the block. */
static void watch_data(struct qemu_plugin_tb *tb, struct block *block, const struct draft *draft)
{
    if (!block->watches)
        block->watches = calloc(draft->count, sizeof(*block->watches));
    for (uint32_t i = 0; block->watches && i < draft->count; i++) {
        if (!opcode_accesses(draft->isa, draft->bytes + draft->offset[i]))
            continue;
        block->watches[i] = (struct watch){block, i};
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_data,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         &block->watches[i]);
    }
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    static struct draft draft; /* guarded by the stream's lock */
    (void)id;
    if (plugin.off)
        return;
    stream_lock();
    if (!plugin.named)
        name_program();
    struct block *block = draft_block(&draft, tb) ? find_block(&draft) : NULL;
    const void *host = qemu_plugin_insn_haddr(qemu_plugin_tb_get_insn(tb, 0));
    if (block && plugin.user && host)
        maps_meet(block->address, host);
    if (block && plugin.user && host)
        plugin.base = (uintptr_t)host - block->address;
    if (block && plugin.data)
        watch_data(tb, block, &draft);
    stream_unlock();
    if (!block)
        return;
    qemu_plugin_register_vcpu_tb_exec_cb(
        tb, plugin.user ? on_block : on_machine_block,
        plugin.reads ? QEMU_PLUGIN_CB_R_REGS : QEMU_PLUGIN_CB_NO_REGS, block);
    for (uint32_t i = 0; i < block->run.count; i++) {
        void *reached = (void *)(uintptr_t)reach_from(block, i + 1);
        if (block->may_fault[i] && i + 1 < block->run.count)
            qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_tb_get_insn(tb, i + 1), on_reached,
                                                   QEMU_PLUGIN_CB_NO_REGS, reached);
        else if (block->may_fault[i])
            qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
                                             QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, reached);
    }
}

/* ---- the program and its system ---- */

/** Numbers of the calls that matter here. */
struct calls {
    int64_t mmap, munmap, mremap, execve, execveat;
};

static void on_syscall(qemu_plugin_id_t id, unsigned index, int64_t number, uint64_t a1,
                       uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7,
                       uint64_t a8)
{
    static const struct calls arm = {192, 91, 163, 11, 387}, others = {222, 215, 216, 221, 281};
    const struct calls *calls = plugin.isa == REC_PATH_A32 ? &arm : &others;
    /* A supervisor call of Arm's retires, RISC-V's is a trap in place of retiring. */
    (void)id, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
    events_syscall(index, (uint64_t)number, plugin.isa != REC_PATH_RISCV);
    if (number == calls->execve || number == calls->execveat)
        events_send(index); /* when it works, execution does not come back */
    if (number == calls->mmap || number == calls->munmap || number == calls->mremap) {
        stream_lock();
        maps_changed();
        stream_unlock();
    }
}

static void on_cpu_exit(qemu_plugin_id_t id, unsigned index)
{
    (void)id;
    events_exit(index);
}

static void on_end(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    if (!plugin.off)
        stream_close();
}

/** In a forked child. Only the thread that forked is there. */
static void on_fork(void)
{
    char path[REC_PATH_NAME_BYTES + 32];
    if (plugin.off)
        return;
    events_forget();
    snprintf(path, sizeof(path), "%s.%ld", plugin.children, (long)getpid());
    if (!plugin.children[0])
        stream_abandon();
    else if (stream_reopen(path))
        return;
    else
        fprintf(stderr, "pugmark: cannot record a child into %s: %s\n", path, strerror(errno));
    events_stop();
    plugin.off = true;
}

/* ---- installation ---- */

static const struct target {
    const char *name;
    enum rec_path_family family;
    enum rec_path_isa isa;
} targets[] = {
    {"aarch64", REC_FAMILY_A64, REC_PATH_A64},
    {"arm", REC_FAMILY_ARM, REC_PATH_A32},
    {"riscv32", REC_FAMILY_RV32, REC_PATH_RISCV},
    {"riscv64", REC_FAMILY_RV64, REC_PATH_RISCV},
};

static const struct target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}

static bool take_name(char *to, const char *name)
{
    return snprintf(to, REC_PATH_NAME_BYTES, "%s", name) < (int)REC_PATH_NAME_BYTES;
}

static bool take_option(const char *option)
{
    if (strncmp(option, "out=", 4) == 0)
        return take_name(plugin.out, option + 4);
    if (strncmp(option, "children=", 9) == 0)
        return take_name(plugin.children, option + 9);
    if (sscanf(option, "data=%u", &plugin.data) == 1)
        return true;
    return sscanf(option, "fd=%d", &plugin.file) == 1;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc,
                               char **argv)
{
    const struct target *target = find_target(info->target_name);
    if (!target) {
        fprintf(stderr, "pugmark: no trace is made for %s\n", info->target_name);
        return -1;
    }
    plugin.file = -1;
    for (int i = 0; i < argc; i++) {
        if (take_option(argv[i]))
            continue;
        fprintf(stderr, "pugmark: the plugin has no option '%s'\n", argv[i]);
        return -1;
    }
    if (!plugin.out[0] && plugin.file < 0) {
        fprintf(stderr, "pugmark: the plugin needs out=FILE\n");
        return -1;
    }
    plugin.isa = target->isa;
    plugin.family = target->family;
    plugin.user = !info->system_emulation;
    plugin.copies = info->version.cur >= 3;
    plugin.reads = !plugin.user && (situation_can() || situation_finds(target->family));
    plugin.registers =
        state_find(target->family, plugin.isa == REC_PATH_A64 ? "env.xregs" : "env.regs");
    unsigned flags = (plugin.user ? 0 : REC_PATH_SYSTEM) | (plugin.data ? REC_PATH_DATA : 0);
    plugin.traps = !plugin.user && traps_begin(target->family, (unsigned)info->system.smp_vcpus);
    if (plugin.traps)
        flags |= REC_PATH_TRAPS;
    if (!stream_open(plugin.out, plugin.file, target->family, flags)) {
        fprintf(stderr, "pugmark: cannot write %s: %s\n", plugin.out, strerror(errno));
        return -1;
    }
    events_begin(plugin.user); /* a machine's processors are no threads of its programs */
    pthread_atfork(NULL, NULL, on_fork);
    if (plugin.reads && situation_can())
        qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    qemu_plugin_register_vcpu_exit_cb(id, on_cpu_exit);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
