// SPDX-License-Identifier: MIT
/** @file pugmark pc --verify: exceptions, returns from them and contexts. */
#include "recorder/exceptions.h"
#include "verify_internal.h"

#include <inttypes.h>
#include <stdio.h>

/** An exception or a return in words. */
struct words {
    char text[96];
};

static struct words words_of_path(const struct verify_trap *trap, bool chained)
{
    struct words words;
    int size = 0;
    if (trap->kind == REC_TRAP_RETURN)
        size = snprintf(words.text, sizeof(words.text), "a return from an exception");
    else if (trap->numbered)
        size = snprintf(words.text, sizeof(words.text), "exception %" PRIu32 "%s",
                        trap->number & ~REC_TRAP_RISCV_INTERRUPT,
                        trap->number & REC_TRAP_RISCV_INTERRUPT ? " (interrupt)" : "");
    else
        size = snprintf(words.text, sizeof(words.text), "an exception");
    if (trap->kind != REC_TRAP_RETURN && trap->known)
        snprintf(words.text + size, sizeof(words.text) - (size_t)size,
                 " with return address 0x%" PRIx64, trap->address);
    else if (trap->kind != REC_TRAP_RETURN && chained)
        snprintf(words.text + size, sizeof(words.text) - (size_t)size, ", tail-chained");
    return words;
}

static struct words words_of_trace(const struct verify_piece *piece)
{
    struct words words;
    if (piece->what == VERIFY_RETURN)
        snprintf(words.text, sizeof(words.text), "a return from an exception");
    else if (piece->has_back)
        snprintf(words.text, sizeof(words.text),
                 "exception %" PRIu32 " with return address 0x%" PRIx64,
                 piece->number & ~REC_TRAP_RISCV_INTERRUPT, piece->back);
    else
        snprintf(words.text, sizeof(words.text), "exception %" PRIu32,
                 piece->number & ~REC_TRAP_RISCV_INTERRUPT);
    return words;
}

/** Is it the exception that the trace's number says? */
static bool is_number(const struct verify_trap *trap, const struct verify_piece *piece)
{
    enum { SOME_TRAP = 1, EXCEPTION, INTERRUPT }; /* of PUG_EXCEPTIONS_KINDS */
    const bool interrupt = trap->kind == REC_TRAP_INTERRUPT;
    if (piece->numbers == PUG_EXCEPTIONS_UNNAMED || !trap->numbered)
        return true;
    if (piece->numbers == PUG_EXCEPTIONS_KINDS)
        return piece->number <= SOME_TRAP || piece->number == (interrupt ? INTERRUPT : EXCEPTION);
    return rec_exception_number((enum pug_exception_numbers)piece->numbers, trap->number) ==
           piece->number;
}

static bool is_same(const struct verify_trap *trap, bool chained, const struct verify_piece *piece)
{
    if ((trap->kind == REC_TRAP_RETURN) != (piece->what == VERIFY_RETURN))
        return false;
    if (piece->what == VERIFY_RETURN)
        return true;
    bool back = trap->known ? !piece->has_back || piece->back == trap->address
                            : !chained || !piece->has_back;
    return back && is_number(trap, piece);
}

bool verify_traps_take(struct verify *verify, const struct verify_piece *piece)
{
    const unsigned number = (unsigned)piece->cpu;
    struct verify_cursor *cursor = &verify->cursors[number];
    const bool there = verify_step(verify, number);
    if (there && cursor->at_trap && is_same(&cursor->trap, cursor->chained, piece)) {
        cursor->at_trap = false;
        cursor->chained = cursor->trap.kind == REC_TRAP_RETURN && !cursor->trap.known;
        cursor->exceptions += piece->what == VERIFY_EXCEPTION;
        cursor->returns += piece->what == VERIFY_RETURN;
        return true;
    }
    /* QEMU shows a return only with the block that follows, so a path may end before it. */
    if (!there && piece->what == VERIFY_RETURN && !cursor->last_return) {
        cursor->last_return = true;
        return true;
    }
    printf("differs: %s, after %" PRIu64 " instructions: the trace tells %s, ",
           verify_name_of(verify, number).text, cursor->compared, words_of_trace(piece).text);
    if (!there)
        printf("the path is at its end\n");
    else if (cursor->at_trap)
        printf("the path has %s\n", words_of_path(&cursor->trap, cursor->chained).text);
    else
        printf("the path goes on at 0x%" PRIx64 "\n", cursor->block->address + cursor->offset);
    return false;
}

void verify_traps_missing(const struct verify *verify, unsigned number)
{
    const struct verify_cursor *cursor = &verify->cursors[number];
    printf("differs: %s, after %" PRIu64 " instructions: the path has %s, the trace has none\n",
           verify_name_of(verify, number).text, cursor->compared,
           words_of_path(&cursor->trap, cursor->chained).text);
}

bool verify_traps_context(struct verify *verify, const struct verify_piece *piece)
{
    const unsigned number = (unsigned)piece->cpu;
    const struct verify_cursor *cursor = &verify->cursors[number];
    /* RISC-V's trace has contexts where they are convenient, not where they change. */
    bool exact = verify->path.family == REC_FAMILY_A64 || verify->path.family == REC_FAMILY_ARM;
    if (exact && piece->has_context && cursor->context.known &&
        (uint32_t)cursor->context.value != piece->number) {
        printf("differs: %s, instruction %" PRIu64 ": the trace tells context 0x%" PRIx32
               ", the path has 0x%" PRIx64 "\n",
               verify_name_of(verify, number).text, cursor->compared, piece->number,
               cursor->context.value);
        return false;
    }
    if (piece->level >= 0 && cursor->privilege.known &&
        cursor->privilege.value != (uint64_t)piece->level) {
        printf("differs: %s, instruction %" PRIu64
               ": the trace tells exception level or privilege mode %d, the path has %" PRIu64 "\n",
               verify_name_of(verify, number).text, cursor->compared, piece->level,
               cursor->privilege.value);
        return false;
    }
    return true;
}
