// SPDX-License-Identifier: MIT
/** @file What NAME.ctrace-run.yml says. Keys may be empty, and unknown ones are passed over. */
#include "ctrace/ctrace.h"

#include "files/infile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MOST (1u << 20)

#define SETUP  "ctrace-run/ctrace-setup/-"
#define REFS   "ctrace-run/ctrace-refs/-"
#define FORMAT "ctrace-run/trace-format"

/** An item of ctrace-refs: what it says is known when its end has come. */
struct reference {
    struct pug_ctrace_processor told;
    char reg[32]; /* the one whose value comes */
    uint32_t value, mask;
};

struct reading {
    struct pug_ctrace *ctrace;
    struct pug_ctrace_processor *setup;
    struct reference reference;
    bool in_reference;
};

static struct pug_ctrace_processor *find(struct pug_ctrace *ctrace, const char *name)
{
    for (size_t i = 0; i < ctrace->count; i++)
        if (strcmp(ctrace->processors[i].name, name) == 0)
            return &ctrace->processors[i];
    return NULL;
}

static struct pug_ctrace_processor *add(struct pug_ctrace *ctrace)
{
    return ctrace->count < PUG_CTRACE_PROCESSORS ? &ctrace->processors[ctrace->count++] : NULL;
}

static bool take_number(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    const uint64_t number = strtoull(text, &end, 0);
    if (end == text || *end || errno)
        return false;
    *value = number;
    return true;
}

/* ---- ctrace-setup ---- */

static void take_setup(struct pug_ctrace_processor *processor, const char *name, const char *value)
{
    uint64_t number;
    if (strcmp(name, "pname") == 0)
        snprintf(processor->name, sizeof(processor->name), "%s", value);
    if (strcmp(name, "timestamps/clock") == 0 && take_number(value, &number))
        processor->clock = number;
    if (strcmp(name, "timestamps/itm-prescaler") != 0 || !take_number(value, &number))
        return;
    for (uint8_t code = 0; code < 4; code++) {
        if (number != UINT64_C(1) << 2 * code)
            continue;
        processor->prescaler = code;
        processor->has_prescaler = true;
    }
}

/* ---- ctrace-refs ---- */

/** A register whose name and value are known. */
static void take_register(struct reference *reference)
{
    static const char comparator[] = "DWT_COMP";
    struct pug_ctrace_processor *told = &reference->told;
    const char *number = reference->reg + sizeof(comparator) - 1;
    const bool compares = strncmp(reference->reg, comparator, sizeof(comparator) - 1) == 0;
    if (compares && *number >= '0' && *number < '0' + (int)PUG_CTRACE_COMPARATORS && !number[1]) {
        told->comparators[*number - '0'] = reference->value;
        told->comparator_set |= (uint8_t)(1u << (*number - '0'));
    }
    if (strcmp(reference->reg, "ITM_TCR") == 0 && (reference->mask & 0x300) == 0x300) {
        told->prescaler = reference->value >> 8 & 3;
        told->has_prescaler = true;
    }
    reference->reg[0] = 0;
}

static void take_reference(struct reference *reference, const char *name, const char *value)
{
    struct pug_ctrace_processor *told = &reference->told;
    uint64_t number = 0;
    const bool is_number = take_number(value, &number);
    if (strcmp(name, "pname") == 0) {
        snprintf(told->name, sizeof(told->name), "%s", value);
    } else if (strcmp(name, "stream") == 0 && is_number && number > 0 && number < 0x70) {
        told->stream = (uint8_t)number;
        told->has_stream = true;
    } else if (strcmp(name, "regs/-/name") == 0) {
        snprintf(reference->reg, sizeof(reference->reg), "%s", value);
    } else if (strcmp(name, "regs/-/value") == 0 && is_number) {
        reference->value = (uint32_t)number;
    } else if (strcmp(name, "regs/-/mask") == 0 && is_number) {
        reference->mask = (uint32_t)number;
    }
}

/** An item is over: its processor is known. */
static void end_reference(struct reading *reading)
{
    const struct pug_ctrace_processor *told = &reading->reference.told;
    if (!reading->in_reference)
        return;
    reading->in_reference = false;
    take_register(&reading->reference);
    struct pug_ctrace_processor *processor = find(reading->ctrace, told->name);
    if (!processor && (processor = add(reading->ctrace)) != NULL)
        memcpy(processor->name, told->name, sizeof(processor->name));
    if (!processor)
        return;
    processor->traced = true;
    if (told->has_stream)
        processor->stream = told->stream;
    processor->has_stream |= told->has_stream;
    if (told->has_prescaler && !processor->has_prescaler)
        processor->prescaler = told->prescaler;
    processor->has_prescaler |= told->has_prescaler;
    processor->comparator_set |= told->comparator_set;
    for (unsigned n = 0; n < PUG_CTRACE_COMPARATORS; n++)
        if (told->comparator_set >> n & 1)
            processor->comparators[n] = told->comparators[n];
}

/* ---- the file ---- */

/** The part below a place; NULL: it is elsewhere. */
static const char *below(const char *place, const char *top)
{
    const size_t length = strlen(top);
    return strncmp(place, top, length) == 0 && place[length] == '/' ? place + length + 1 : NULL;
}

static void take(void *context, const char *place, const char *value)
{
    struct reading *reading = context;
    const char *setup = below(place, SETUP), *reference = below(place, REFS);
    if (!value && strcmp(place, SETUP) == 0) {
        reading->setup = add(reading->ctrace);
    } else if (!value && strcmp(place, REFS) == 0) {
        end_reference(reading);
        reading->reference = (struct reference){.value = 0};
        reading->in_reference = true;
    } else if (!value && reference && strcmp(reference, "regs/-") == 0) {
        take_register(&reading->reference);
        reading->reference.value = reading->reference.mask = 0;
    } else if (value && strcmp(place, FORMAT) == 0) {
        reading->ctrace->framing = strcmp(value, "formatted") == 0     ? PUG_CTRACE_FRAMES
                                   : strcmp(value, "unformatted") == 0 ? PUG_CTRACE_NO_FRAMES
                                                                       : PUG_CTRACE_UNTOLD;
    } else if (value && setup && reading->setup) {
        take_setup(reading->setup, setup, value);
    } else if (value && reference) {
        take_reference(&reading->reference, reference, value);
    }
}

bool pug_ctrace_read(const char *path, struct pug_ctrace *ctrace, char *why, size_t size)
{
    uint8_t *text = NULL;
    size_t length = 0;
    struct reading reading = {.ctrace = ctrace};
    *ctrace = (struct pug_ctrace){.count = 0};
    const enum pug_status status = pug_infile_load(path, FILE_MOST, &text, &length);
    if (status != PUG_OK) {
        snprintf(why, size, "%s",
                 status == PUG_ERR_FILE ? strerror(errno) : pug_status_text(status));
        return false;
    }
    const bool good = pug_yaml_read((const char *)text, length, take, &reading, why, size);
    if (good)
        end_reference(&reading);
    free(text);
    return good;
}
