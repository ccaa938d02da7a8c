// SPDX-License-Identifier: MIT
/** @file A kernel's objects by symbols and debug information, and names of its threads. */
#include "rtos/program.h"

#include "names/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST   64u /* bytes of a name that are read */
#define BLOCK_LEAST 16u /* bytes of a control block */

/* ---- symbols ---- */

static bool find_function(struct pug_names_file *file, const char *name, struct rtos_span *span)
{
    struct pug_names_function function;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++) {
        if (strcmp(function.name, name) != 0)
            continue;
        *span = (struct rtos_span){function.start, function.start + function.size};
        return true;
    }
    return false;
}

static bool has_symbol(struct pug_names_file *file, const char *name)
{
    struct names_place place;
    struct rtos_span span;
    return pug_names_place_of(file, name, &place) || find_function(file, name, &span);
}

bool pug_rtos_is_in(const struct rtos_kernel *kernel, struct pug_names_file *file)
{
    for (size_t i = 0; i < kernel->symbols.count; i++)
        if (!has_symbol(file, kernel->symbols.at[i]))
            return false;
    return true;
}

/* ---- the object that says who runs ---- */

/** "[cpu]" becomes the core's number. False: it is too long. */
static bool put_cpu(const char *expression, unsigned cpu, char *out, size_t size)
{
    static const char word[] = "[cpu]";
    const char *at = strstr(expression, word);
    const int length = at ? snprintf(out, size, "%.*s[%u]%s", (int)(at - expression), expression,
                                     cpu, at + sizeof(word) - 1)
                          : snprintf(out, size, "%s", expression);
    return length >= 0 && (size_t)length < size;
}

/**
 * One expression: by debug information, or SYMBOL+OFFSET:SIZE, which is of the first core alone.
 */
static bool place_of(struct pug_names_file *file, const char *expression, unsigned cpu,
                     struct names_place *place)
{
    char path[512];
    struct rtos_offset offset;
    if (!pug_rtos_offset_read(expression, &offset))
        return put_cpu(expression, cpu, path, sizeof(path)) &&
               pug_names_place_of(file, path, place);
    if (cpu > 0 || !pug_names_place_of(file, offset.symbol, place))
        return false;
    place->at += offset.offset;
    place->size = offset.size;
    return true;
}

/** "contextid", "itm:3": no object, but something that trace itself reports. */
static bool is_event(struct rtos_object *object, const char *expression)
{
    char *end;
    object->by_context = strcmp(expression, "contextid") == 0;
    if (strncmp(expression, "itm:", 4) != 0)
        return object->by_context;
    object->port = (unsigned)strtoul(expression + 4, &end, 0);
    object->by_port = end != expression + 4 && !*end;
    return object->by_port;
}

static void find_current(struct rtos_program *program, unsigned cpu)
{
    const struct rtos_words *words = &program->kernel->current;
    for (size_t i = 0; i < words->count && !program->object.has_current; i++) {
        struct names_place place;
        if (is_event(&program->object, words->at[i]) && (program->current = words->at[i]))
            return;
        if (!place_of(program->file, words->at[i], cpu, &place) || place.size > 8)
            continue;
        program->object.has_current = true;
        program->object.current = place.at;
        program->object.size = (unsigned)place.size;
        program->current = words->at[i];
    }
}

/* ---- names ---- */

static bool member_of(struct rtos_program *program, const char *word)
{
    const struct rtos_words *types = &program->kernel->types;
    struct names_place place;
    for (size_t n = 0; n < types->count; n++) {
        if (!pug_names_member_of(program->file, types->at[n], word, &place))
            continue;
        program->naming = (struct rtos_naming){.has_member = place.is_array || place.is_pointer,
                                               .offset = place.at,
                                               .size = place.is_array ? place.size : 0,
                                               .is_pointer = place.is_pointer};
        return program->naming.has_member;
    }
    return false;
}

static void find_naming(struct rtos_program *program)
{
    const struct rtos_words *words = &program->kernel->names;
    for (size_t i = 0; i < words->count; i++) {
        struct rtos_offset offset;
        if (member_of(program, words->at[i]))
            return;
        if (!pug_rtos_offset_read(words->at[i], &offset) || *offset.symbol)
            continue;
        program->naming = (struct rtos_naming){
            .has_member = true, .offset = offset.offset, .is_pointer = offset.is_pointer};
        return;
    }
}

void pug_rtos_look_up(const struct rtos_kernel *kernel, struct pug_names_file *file, unsigned cpu,
                      struct rtos_program *program)
{
    *program = (struct rtos_program){.kernel = kernel, .file = file};
    struct rtos_object *object = &program->object;
    find_current(program, cpu);
    find_naming(program);
    object->none_count = kernel->none_count;
    memcpy(object->none, kernel->none, sizeof(object->none));
    for (size_t i = 0; i < kernel->switches.count && object->switch_count < RTOS_SPANS; i++)
        object->switch_count +=
            find_function(file, kernel->switches.at[i], &object->switches[object->switch_count]);
}

/** A text of at least one character, all of them printable; false: there is none. */
static bool read_text(const struct rtos_memory *memory, uint64_t address, size_t most, char *name,
                      size_t size)
{
    uint8_t bytes[NAME_MOST];
    most = most == 0 || most > sizeof(bytes) ? sizeof(bytes) : most;
    const size_t known = memory->read(memory->context, address, bytes, most);
    size_t length = 0;
    while (length < known && length + 1 < size && bytes[length] >= 0x20 && bytes[length] != 0x7f)
        length++;
    if (length == 0 || (length < known && length + 1 < size && bytes[length] != 0) ||
        (length == known && known < most))
        return false;
    memcpy(name, bytes, length);
    name[length] = 0;
    return true;
}

static bool name_in_memory(const struct rtos_program *program, uint64_t block,
                           const struct rtos_memory *memory, char *name, size_t size)
{
    const struct rtos_naming *naming = &program->naming;
    uint8_t pointer[4]; /* of 32-bit kernels; others have arrays */
    if (!memory || !naming->has_member)
        return false;
    if (!naming->is_pointer)
        return read_text(memory, block + naming->offset, naming->size, name, size);
    if (memory->read(memory->context, block + naming->offset, pointer, sizeof(pointer)) !=
        sizeof(pointer))
        return false;
    const uint64_t at = (uint32_t)pointer[0] | (uint32_t)pointer[1] << 8 |
                        (uint32_t)pointer[2] << 16 | (uint32_t)pointer[3] << 24;
    return at != 0 && read_text(memory, at, 0, name, size);
}

/** The symbol of a static control block, without what the kernel puts in front of it. */
static bool name_of_object(const struct rtos_program *program, uint64_t block, char *name,
                           size_t size)
{
    const char *const prefix = program->kernel->object;
    struct pug_names_variable variable;
    if (!pug_names_variable(program->file, block, &variable) || !variable.name ||
        strchr(variable.name, '+'))
        return false;
    const char *words = variable.name;
    if (prefix && strncmp(words, prefix, strlen(prefix)) == 0 && words[strlen(prefix)])
        words += strlen(prefix);
    /* The first member of a block is where the block is. A byte of a heap is no block. */
    const char *const dot = strchr(words, '.');
    if (!dot && variable.size < BLOCK_LEAST)
        return false;
    const size_t length = dot ? (size_t)(dot - words) : strlen(words);
    snprintf(name, size, "%.*s", (int)(length < size ? length : size - 1), words);
    return *name != 0;
}

void pug_rtos_name(const struct rtos_program *program, const struct rtos_thread *thread,
                   const struct rtos_memory *memory, char *name, size_t size)
{
    struct pug_names_function function;
    if (thread->has_value && program &&
        (name_in_memory(program, thread->value, memory, name, size) ||
         name_of_object(program, thread->value, name, size)))
        return;
    if (thread->has_value)
        snprintf(name, size, "task 0x%" PRIx64, thread->value);
    else if (program && program->file &&
             pug_names_function(program->file, thread->first, &function) && function.name)
        snprintf(name, size, "(%.200s)", function.name);
    else
        snprintf(name, size, "([%" PRIx64 "])", thread->first);
}
