// SPDX-License-Identifier: MIT
/** @file Symbols by address, from all sources. */
#include "base/bisect.h"
#include "names/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool pug_names_symbols_add(struct names_symbols *symbols, const struct names_symbol *symbol)
{
    if (symbols->count == symbols->room) {
        const size_t room = symbols->room ? symbols->room * 2 : 256;
        void *items = realloc(symbols->items, room * sizeof(*symbols->items));
        if (!items)
            return false;
        symbols->items = items;
        symbols->room = room;
    }
    symbols->items[symbols->count++] = *symbol;
    return true;
}

static int rank(const struct names_symbol *symbol)
{
    static const int of_binding[] = {
        [PUG_NAMES_LOCAL] = 2, [PUG_NAMES_GLOBAL] = 0, [PUG_NAMES_WEAK] = 1};
    return of_binding[symbol->binding];
}

/* By start; of several at one address the best comes first. */
static int by_start(const void *left, const void *right)
{
    const struct names_symbol *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->label != b->label)
        return a->label ? 1 : -1;
    if (rank(a) != rank(b))
        return rank(a) - rank(b);
    const size_t a_bars = strspn(a->name, "_"), b_bars = strspn(b->name, "_");
    if (a_bars != b_bars)
        return a_bars < b_bars ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return strcmp(a->name, b->name);
}

void pug_names_symbols_finish(struct names_symbols *symbols)
{
    struct names_symbol *items = symbols->items;
    size_t kept = 0;
    uint64_t covered = 0;
    if (symbols->count == 0)
        return;
    qsort(items, symbols->count, sizeof(*items), by_start);
    for (size_t i = 0; i < symbols->count; i++) {
        const bool inside = items[i].label && items[i].start < covered;
        if (inside || (kept > 0 && items[kept - 1].start == items[i].start))
            continue;
        if (!items[i].label && items[i].end > covered)
            covered = items[i].end;
        items[kept++] = items[i];
    }
    symbols->count = kept;
    for (size_t i = 0; i + 1 < kept; i++)
        if (items[i].label && items[i].end > items[i + 1].start)
            items[i].end = items[i + 1].start;
}

/* How far back an enclosing function is looked for; functions hardly ever nest. */
#define LOOK_BACK 64

const struct names_symbol *pug_names_symbols_find(const struct names_symbols *symbols,
                                                  uint64_t address)
{
    const size_t low = pug_bisect_to(symbols->items, symbols->count, sizeof(*symbols->items),
                                     offsetof(struct names_symbol, start), address);
    for (size_t back = 0; back < LOOK_BACK && back < low; back++)
        if (address < symbols->items[low - 1 - back].end)
            return &symbols->items[low - 1 - back];
    return NULL;
}

/* ---- texts ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* A hexadecimal number that a blank follows. */
static bool take_hex(const char **at, uint64_t *value)
{
    char *end;
    const char *from = skip_blanks(*at);
    if (*from == '-' || *from == '+')
        return false;
    errno = 0;
    *value = strtoull(from, &end, 16);
    if (end == from || errno != 0 || (*end != ' ' && *end != '\t'))
        return false;
    *at = skip_blanks(end);
    return true;
}

/* "ffff800008000000 T name\t[module]": functions are of types t, T, w, W. */
static bool parse_kallsyms(char *line, const char *module, struct names_symbol *symbol, char **name)
{
    const char *at = line;
    if (!take_hex(&at, &symbol->start) || !strchr("tTwW", *at) || at[1] != ' ')
        return false;
    *name = line + (skip_blanks(at + 1) - line);
    char *rest = *name + strcspn(*name, " \t");
    char *own = *rest ? strchr(rest + 1, '[') : NULL;
    *rest = '\0';
    if (own)
        own[strcspn(own, "]")] = '\0';
    if (module && strcmp(module, own ? own + 1 : "") != 0)
        return false;
    symbol->binding = *at == 't' ? PUG_NAMES_LOCAL : *at == 'T' ? PUG_NAMES_GLOBAL : PUG_NAMES_WEAK;
    symbol->label = true; /* it reaches to the next one */
    symbol->end = UINT64_MAX;
    if (**name == '$') /* marks of modules that tell code from data */
        return false;
    return symbol->start != 0; /* addresses are hidden: all are 0 */
}

static bool parse_jit(char *line, struct names_symbol *symbol, char **name)
{
    const char *at = line;
    uint64_t size;
    if (!take_hex(&at, &symbol->start) || !take_hex(&at, &size) || size == 0 ||
        symbol->start + size < size)
        return false;
    symbol->end = symbol->start + size;
    symbol->binding = PUG_NAMES_GLOBAL;
    *name = line + (at - line);
    return true;
}

/**
 * Where a line begins that may be of this module, or NULL. Most are of others, and there may be
 * thousands of modules that ask.
 */
static const char *seek_line(const char *text, const char *module)
{
    char word[80];
    if (!module || !*module || strlen(module) + 2 > sizeof(word))
        return text;
    word[0] = '[';
    memcpy(word + 1, module, strlen(module) + 1);
    const char *at = strstr(text, word);
    while (at && at > text && at[-1] != '\n')
        at--;
    return at;
}

bool pug_names_symbols_text(struct names_symbols *symbols, struct names_strings *strings,
                            const struct pug_names_symbols *wanted, const char *text)
{
    const char *module = wanted->kind == PUG_NAMES_KALLSYMS ? wanted->module : NULL;
    while (*text && (text = seek_line(text, module)) != NULL) {
        const size_t length = strcspn(text, "\n");
        char line[1024], *name;
        struct names_symbol symbol = {0};
        const size_t kept = length < sizeof(line) ? length : sizeof(line) - 1;
        memcpy(line, text, kept);
        line[kept] = '\0';
        text += length + (text[length] != '\0');
        bool good = wanted->kind == PUG_NAMES_KALLSYMS
                        ? parse_kallsyms(line, wanted->module, &symbol, &name)
                        : parse_jit(line, &symbol, &name);
        symbol.start -= wanted->moved;
        symbol.end -= symbol.label ? 0 : wanted->moved;
        if (!good || !*name)
            continue;
        symbol.name = pug_names_string(strings, name);
        if (!symbol.name || !pug_names_symbols_add(symbols, &symbol))
            return false;
    }
    pug_names_symbols_finish(symbols);
    return true;
}
