// SPDX-License-Identifier: MIT
/**
 * @file LLVM's C interface, of the newest LLVM that is on the machine. It is loaded at the first
 * request for an instruction, so that programs without such requests neither need it nor wait for
 * it; the few prototypes, which are the same in all versions, are declared here. Where there is no
 * memory LLVM ends the process, so there is made sure that there is some before it is asked for
 * anything.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "disasm/llvm.h"

#ifdef PUG_WITH_LLVM

#include "base/grow.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef const char *lookup_fn(void *context, uint64_t value, uint64_t *type, uint64_t address,
                              const char **name);

/** The functions that are used, without their common prefix. */
static struct {
    void *(*create)(const char *triple, const char *cpu, const char *features, void *context,
                    int tag, void *operand_info, lookup_fn *lookup);
    int (*set_options)(void *disassembler, uint64_t options);
    size_t (*instruction)(void *disassembler, uint8_t *bytes, uint64_t size, uint64_t address,
                          char *text, size_t room);
    void (*dispose)(void *disassembler);
    unsigned major; /* its version; 0: there is none */
    bool searched;  /* nothing will change that */
    char name[32];
} llvm_library;

#define OPTION_HEXADECIMAL 2

/*
 * What processors have today. A name that a version of LLVM does not know makes it complain on
 * standard error, so older versions have lists of their own.
 */
static const char
    a64_features[] = "+all",
    a64_features_before_16[] =
        "+v8.7a,+sve2,+sve2-aes,+sve2-bitperm,+sve2-sha3,+sve2-sm4,+sme,+sme-f64,+sme-i64,+bf16,"
        "+f32mm,+f64mm,+i8mm,+mte,+rand,+ls64,+mops,+pauth,+tme,+crypto,+sha3,+sm4,+fullfp16,+"
        "fp16fml,"
        "+ssbs,+sb,+predres,+rcpc,+rcpc-immo,+spe,+wfxt,+xs,+hbc,+brbe,+ete,+trbe,+el2vmsa,+el3,"
        "+perfmon,+dotprod,+complxnum,+jsconv,+altnzcv,+flagm,+fptoint,+lse,+lor,+pan,+pan-rwv,+"
        "ras,"
        "+rdm,+crc,+uaops,+vh,+ccpp,+ccdp,+dit,+mpam,+nv,+sel2,+tlb-rmi,+tracev8.4,+am,+amvs,+fgt,"
        "+ecv,+bti";
static const char a32_features[] =
    "+v8.2a,+neon,+fp-armv8,+crypto,+crc,+fullfp16,+fp16fml,+dotprod,+bf16,+i8mm,+mp,+trustzone,"
    "+virtualization,+hwdiv,+hwdiv-arm,+sb,+ras,+dsp";
static const char m_features[] =
    "+v8.1m.main,+mve.fp,+fp-armv8d16,+fp64,+fullfp16,+dsp,+lob,+8msecext,+ras";
static const char riscv_features[] =
    "+m,+a,+f,+d,+c,+v,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,+zbkx,+zknd,+zkne,+zknh,+zksed,+zksh,+zfh,"
    "+zvfh,+zicbom,+zicbop,+zicboz,+zawrs,+zcb,+h,+svinval";
static const char riscv_features_before_18[] =
    "+m,+a,+f,+d,+c,+v,+zba,+zbb,+zbc,+zbs,+zbkb,+zbkc,+zbkx,+zknd,+zkne,+zknh,+zksed,+zksh,+zfh";

/** Instructions of one set, and who is asked for them, one after the other. */
static const struct dialect {
    enum pug_isa isa;
    const char *triple, *features;
    unsigned since; /* LLVM that knows these features */
    const char *older;
} dialects[] = {
    {PUG_ISA_A64, "aarch64", a64_features, 16, a64_features_before_16},
    {PUG_ISA_A32, "armv8.2a", a32_features, 0, NULL},
    {PUG_ISA_T32, "thumbv8.2a", a32_features, 0, NULL},
    {PUG_ISA_T32, "thumbv8.1m.main", m_features, 0, NULL},
    {PUG_ISA_RV32, "riscv32", riscv_features, 18, riscv_features_before_18},
    {PUG_ISA_RV64, "riscv64", riscv_features, 18, riscv_features_before_18},
};

#define DIALECTS (sizeof(dialects) / sizeof(dialects[0]))

struct pug_llvm {
    void *contexts[DIALECTS];
    uint64_t next; /* the address of the instruction after the last T32 one */
    unsigned it;   /* so many from there on are in an IT block */
    bool starved;  /* there was no memory for it, or for an instruction */
};

/* ---- memory ---- */

/* LLVM 19 with what it needs takes 160 MB of addresses when it is loaded, and writes into 11 of
 * them. */
#define LOADING_ADDRESSES ((size_t)256 << 20)
#define LOADING_ROOM      ((size_t)24 << 20)
#define CONTEXT_ROOM      ((size_t)4 << 20)
#define INSTRUCTION_ROOM  ((size_t)256 << 10)

static bool has_addresses(size_t size)
{
    void *addresses = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return addresses != MAP_FAILED && munmap(addresses, size) == 0;
}

/* ---- the library ---- */

#define NEWEST 30
#define OLDEST 14

/** Debian's names: libLLVM.so.19.1 since version 18, libLLVM-16.so.1 before. */
static void *open_version(unsigned major)
{
    char name[32];
    snprintf(name, sizeof(name), "libLLVM.so.%u.1", major);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    snprintf(name, sizeof(name), "libLLVM-%u.so.1", major);
    return library ? library : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool initialise(void *library, const char *target)
{
    static const char *const parts[] = {"TargetInfo", "TargetMC", "Disassembler"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[64];
        void (*function)(void);
        snprintf(name, sizeof(name), "LLVMInitialize%s%s", target, parts[i]);
        *(void **)&function = dlsym(library, name);
        if (!function)
            return false;
        function();
    }
    return true;
}

static bool take_functions(void *library)
{
    *(void **)&llvm_library.create = dlsym(library, "LLVMCreateDisasmCPUFeatures");
    *(void **)&llvm_library.set_options = dlsym(library, "LLVMSetDisasmOptions");
    *(void **)&llvm_library.instruction = dlsym(library, "LLVMDisasmInstruction");
    *(void **)&llvm_library.dispose = dlsym(library, "LLVMDisasmDispose");
    return llvm_library.create && llvm_library.set_options && llvm_library.instruction &&
           llvm_library.dispose && initialise(library, "AArch64") && initialise(library, "ARM") &&
           initialise(library, "RISCV");
}

/** False: no memory, and another time there may be. */
static bool load_library(void)
{
    if (!has_addresses(LOADING_ADDRESSES) || !pug_has_room(LOADING_ROOM))
        return false;
    for (unsigned major = NEWEST; major >= OLDEST && llvm_library.major == 0; major--) {
        void *library = open_version(major);
        if (library && take_functions(library)) {
            llvm_library.major = major;
            snprintf(llvm_library.name, sizeof(llvm_library.name), "LLVM %u", major);
        } else if (library) {
            dlclose(library);
        }
    }
    return true;
}

/** *starved: it is not known, for want of memory. */
static bool has_library(bool *starved)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!llvm_library.searched)
        llvm_library.searched = load_library();
    *starved |= !llvm_library.searched;
    const bool found = llvm_library.major != 0;
    pthread_mutex_unlock(&lock);
    return found;
}

struct pug_llvm *pug_llvm_new(void)
{
    return calloc(1, sizeof(struct pug_llvm));
}

void pug_llvm_free(struct pug_llvm *llvm)
{
    for (size_t i = 0; llvm && i < DIALECTS; i++)
        if (llvm->contexts[i])
            llvm_library.dispose(llvm->contexts[i]);
    free(llvm);
}

/* ---- one instruction ---- */

/** That there is one makes LLVM write where a branch leads, not how far. */
static const char *no_symbol(void *context, uint64_t value, uint64_t *type, uint64_t address,
                             const char **name)
{
    (void)context;
    (void)value;
    (void)address;
    *type = 0;
    *name = NULL;
    return NULL;
}

static void *context_of(struct pug_llvm *llvm, size_t number)
{
    const struct dialect *dialect = &dialects[number];
    const char *features =
        llvm_library.major >= dialect->since ? dialect->features : dialect->older;
    if (!llvm->contexts[number]) {
        llvm->starved |= !pug_has_room(CONTEXT_ROOM);
        if (llvm->starved)
            return NULL;
        llvm->contexts[number] =
            llvm_library.create(dialect->triple, "", features, NULL, 0, NULL, no_symbol);
        if (llvm->contexts[number])
            llvm_library.set_options(llvm->contexts[number], OPTION_HEXADECIMAL);
    }
    return llvm->contexts[number];
}

static bool ask(struct pug_llvm *llvm, size_t dialect, uint64_t address, const uint8_t *bytes,
                size_t size, char *text, size_t room)
{
    uint8_t copy[8];
    void *context = context_of(llvm, dialect);
    memcpy(copy, bytes, size);
    llvm->starved |= !pug_has_room(INSTRUCTION_ROOM);
    return context && !llvm->starved &&
           llvm_library.instruction(context, copy, size, address, text, room) == size;
}

/* ---- T32: LLVM's contexts remember how far an IT block goes ---- */

static void leave_it_block(struct pug_llvm *llvm)
{
    static const uint8_t nop[] = {0x00, 0xbf};
    char text[PUG_DISASM_TEXT];
    for (; llvm->it > 0; llvm->it--)
        for (size_t i = 0; i < DIALECTS; i++)
            if (dialects[i].isa == PUG_ISA_T32 && llvm->contexts[i])
                ask(llvm, i, 0, nop, 2, text, sizeof(text));
}

static void follow_it_block(struct pug_llvm *llvm, const uint8_t *bytes, size_t size)
{
    const unsigned mask = bytes[0] & 0xfu;
    if (llvm->it > 0)
        llvm->it--;
    if (size == 2 && bytes[1] == 0xbf && mask != 0)
        for (llvm->it = 4; !(mask & 1u << (4 - llvm->it)); llvm->it--)
            ;
}

bool pug_llvm_text(void *context, enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                   size_t size, char *text, size_t room)
{
    struct pug_llvm *llvm = context;
    bool known = false;
    if (size > 8 || llvm->starved || !has_library(&llvm->starved))
        return false;
    if (isa == PUG_ISA_T32 && address != llvm->next)
        leave_it_block(llvm);
    for (size_t i = 0; i < DIALECTS && !known; i++)
        known = dialects[i].isa == isa && ask(llvm, i, address, bytes, size, text, room);
    if (isa == PUG_ISA_T32) {
        follow_it_block(llvm, bytes, size);
        llvm->next = address + size;
    }
    return known;
}

bool pug_llvm_starved(const struct pug_llvm *llvm)
{
    return llvm->starved;
}

bool pug_llvm_writes_offsets(enum pug_isa isa)
{
    return isa == PUG_ISA_RV32 || isa == PUG_ISA_RV64;
}

const char *pug_disasm_built_in(void)
{
    bool starved = false;
    return has_library(&starved) ? llvm_library.name : NULL;
}

#else

#include <stdlib.h>

struct pug_llvm {
    char nothing;
};

struct pug_llvm *pug_llvm_new(void)
{
    return calloc(1, sizeof(struct pug_llvm));
}

void pug_llvm_free(struct pug_llvm *llvm)
{
    free(llvm);
}

bool pug_llvm_text(void *llvm, enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                   size_t size, char *text, size_t room)
{
    (void)llvm;
    (void)isa;
    (void)address;
    (void)bytes;
    (void)size;
    (void)text;
    (void)room;
    return false;
}

bool pug_llvm_starved(const struct pug_llvm *llvm)
{
    (void)llvm;
    return false;
}

bool pug_llvm_writes_offsets(enum pug_isa isa)
{
    (void)isa;
    return false;
}

const char *pug_disasm_built_in(void)
{
    return NULL;
}

#endif
