// SPDX-License-Identifier: MIT
/** @file The functions that rules name, and those that addresses are in. */
#include "base/edit_distance.h"
#include "base/hash.h"
#include "check/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that were met ---- */

static uint64_t hash_of(uint32_t object, uint64_t start)
{
    return pug_hash_mix(pug_hash_mix(0, start), object);
}

static void put_in_table(struct pug_check *check, uint32_t number)
{
    const struct check_function *function = CHECK_FUNCTION_AT(check, number);
    uint32_t at = (uint32_t)hash_of(function->object, function->start) & (check->table_size - 1);
    while (check->table[at])
        at = (at + 1) & (check->table_size - 1);
    check->table[at] = number + 1;
}

static bool grow_table(struct pug_check *check)
{
    const uint32_t size = check->table_size ? 2 * check->table_size : 1024;
    uint32_t *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    free(check->table);
    check->table = table;
    check->table_size = size;
    for (uint32_t n = 0; n < check->functions.count; n++)
        put_in_table(check, n);
    return true;
}

/** The number of a function plus 1, made where it is new; 0: no memory. */
static uint32_t intern(struct pug_check *check, uint32_t object, const char *name, uint64_t start,
                       uint64_t size)
{
    if (2 * check->functions.count >= check->table_size && !grow_table(check)) {
        pug_check_starve(check);
        return 0;
    }
    uint32_t at = (uint32_t)hash_of(object, start) & (check->table_size - 1);
    for (; check->table[at]; at = (at + 1) & (check->table_size - 1)) {
        const struct check_function *known = CHECK_FUNCTION_AT(check, check->table[at] - 1);
        if (known->object == object && known->start == start)
            return check->table[at];
    }
    struct check_function *function = pug_list_add(&check->functions, sizeof(*function));
    if (!function) {
        pug_check_starve(check);
        return 0;
    }
    *function =
        (struct check_function){.name = name, .start = start, .size = size, .object = object};
    check->table[at] = (uint32_t)check->functions.count;
    return check->table[at];
}

uint32_t pug_check_named(struct pug_check *check, const char *name)
{
    for (uint32_t n = 0; n < check->functions.count; n++)
        if (strcmp(CHECK_FUNCTION_AT(check, n)->name, name) == 0)
            return n + 1;
    return 0;
}

/* ---- what rules name ---- */

static struct pug_names_file *file_of(struct pug_check *check, uint32_t number)
{
    struct check_object *object = &check->objects[number];
    if (!object->opened) {
        object->opened = true;
        if (!pug_capture_names(check->capture, number, check->names, &object->file))
            object->file = NULL;
    }
    return object->file;
}

bool pug_check_is_name(struct pug_check *check, const struct check_subject *subject,
                       const char *name)
{
    if (subject->glob ? pug_check_glob(subject->name, name) : strcmp(subject->name, name) == 0)
        return true;
    if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
        return false;
    const char *readable = pug_names_readable(check->names, name);
    if (subject->glob)
        return pug_check_glob(subject->name, readable);
    const size_t length = strlen(subject->name);
    return strncmp(subject->name, readable, length) == 0 &&
           (readable[length] == '\0' || readable[length] == '(');
}

bool pug_check_link(struct pug_check *check, uint32_t rule, enum check_role role, uint32_t function)
{
    struct check_function *of = CHECK_FUNCTION_AT(check, function);
    struct check_tally *tally = CHECK_TALLY(check, rule);
    struct check_link *link = pug_list_add(&check->links, sizeof(*link));
    if (!link) {
        pug_check_starve(check);
        return false;
    }
    *link = (struct check_link){.rule = rule,
                                .role = (uint8_t)role,
                                .kind = tally->rule.kind,
                                .interrupt = tally->rule.other.kind == CHECK_INTERRUPT,
                                .function = function};
    link->counted =
        role == CHECK_ROLE_SUBJECT && tally->rule.scope == CHECK_SCOPE_ALL &&
        (link->kind == CHECK_RUNS || link->kind == CHECK_NOT_IN || link->kind == CHECK_ONLY_IN);
    if (tally->rule.scope == CHECK_SCOPE_ALL &&
        (tally->rule.kind == CHECK_TAKES || tally->rule.kind == CHECK_RUNS))
        link->sum =
            pug_check_sum_of(check, tally, tally->rule.kind == CHECK_TAKES ? of->name : NULL, NULL);
    of->measured_own |= tally->rule.kind == CHECK_TAKES && tally->rule.part == CHECK_PART_OWN;
    return true;
}

bool pug_check_span(struct pug_check *check, uint32_t object, uint64_t start, uint64_t end,
                    uint32_t rule, uint32_t function)
{
    struct check_span *span = pug_list_add(&check->objects[object].spans, sizeof(*span));
    if (!span) {
        pug_check_starve(check);
        return false;
    }
    *span = (struct check_span){.start = start, .end = end, .rule = rule, .function = function};
    if (end - start > check->objects[object].longest)
        check->objects[object].longest = end - start;
    check->looks_spans = true;
    return true;
}

/** A function of an object is one that a rule means. */
static bool take_function(struct pug_check *check, uint32_t rule, enum check_role role,
                          uint32_t object, const struct pug_names_function *function)
{
    const struct check_tally *tally = CHECK_TALLY(check, rule);
    const uint32_t number = intern(check, object, function->name, function->start, function->size);
    if (number == 0 || tally->impossible)
        return number != 0;
    if (tally->rule.kind == CHECK_NEVER)
        return pug_check_span(check, object, function->start,
                              function->start + (function->size ? function->size : 1), rule,
                              number);
    return pug_check_link(check, rule, role, number - 1);
}

static bool is_in_file(struct pug_names_file *file, const struct check_subject *subject,
                       uint64_t start)
{
    struct pug_names_line line;
    return !subject->file || (pug_names_line(file, start, &line) && line.path &&
                              pug_check_glob_path(subject->file, line.path));
}

/** All functions of an object that a rule means; how many there are. */
static size_t match_object(struct pug_check *check, uint32_t rule, enum check_role role,
                           const struct check_subject *subject, uint32_t object)
{
    struct pug_names_file *file = file_of(check, object);
    struct pug_names_function function;
    size_t found = 0;
    if (!file)
        return 0;
    if (subject->by_address) {
        if (!pug_names_function(file, subject->number, &function))
            return 0;
        return take_function(check, rule, role, object, &function);
    }
    for (size_t n = 0; pug_names_function_at(file, n, &function) && check->status == PUG_OK; n++)
        if (pug_check_is_name(check, subject, function.name) &&
            is_in_file(file, subject, function.start))
            found += take_function(check, rule, role, object, &function);
    return found;
}

/* ---- mistakes ---- */

/** Or the inlined one that was found before. */
static const char *nearest_function(struct pug_check *check, const struct check_bound *bound)
{
    const char *const name = bound->subject.name;
    struct pug_names_function function;
    const char *nearest = bound->near;
    unsigned least = nearest ? bound->distance : PUG_NAME_FAR;
    for (uint32_t object = 0; object < check->object_count; object++) {
        struct pug_names_file *file = check->objects[object].file;
        for (size_t n = 0; file && pug_names_function_at(file, n, &function); n++) {
            const unsigned distance = pug_name_distance(name, function.name);
            if (distance < least) {
                least = distance;
                nearest = function.name;
            }
        }
    }
    return nearest;
}

static bool has_functions(struct pug_check *check)
{
    struct pug_names_function function;
    for (uint32_t object = 0; object < check->object_count; object++)
        if (check->objects[object].file &&
            pug_names_function_at(check->objects[object].file, 0, &function))
            return true;
    return false;
}

void pug_check_refuse(struct pug_check *check, const struct check_rule *rule,
                      const struct check_subject *subject, const char *message)
{
    pug_check_wrong(&check->texts, &check->errors, rule, subject->column, subject->length, message);
}

static void say_unknown(struct pug_check *check, const struct check_bound *bound)
{
    const struct check_rule *rule = &CHECK_TALLY(check, bound->rule)->rule;
    const struct check_subject *subject = &bound->subject;
    const char *near = NULL;
    if (!has_functions(check)) {
        pug_check_refuse(
            check, rule, subject,
            "no program with symbols is known, so no function is: give it with --elf FILE");
        return;
    }
    if (subject->by_address) {
        pug_check_refuse(check, rule, subject, "no function of the program is at this address");
        return;
    }
    if (!subject->glob)
        near = nearest_function(check, bound);
    pug_check_refuse(check, rule, subject,
                     pug_check_keep_format(
                         &check->texts, "the program has no function '%s'%s%s%s%s%s", subject->name,
                         subject->file ? " in " : "", subject->file ? subject->file : "",
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ""));
}

/* ---- binding ---- */

/** By the architecture's words: a handler of an exception where only a DWT reports them. */
static bool match_handler(struct pug_check *check, uint32_t rule, enum check_role role,
                          const struct check_subject *subject)
{
    unsigned number;
    if (check->flow || !check->software || subject->glob || subject->by_address ||
        !pug_vectors_number(&check->vectors, subject->name, &number))
        return false;
    char name[256];
    pug_vectors_name(&check->vectors, number, name, sizeof(name));
    uint32_t function = pug_check_named(check, name);
    if (function == 0)
        function = intern(check, PUG_NO_OBJECT, pug_check_keep(&check->texts, name, strlen(name)),
                          number, 0);
    return function && (CHECK_TALLY(check, rule)->impossible ||
                        pug_check_link(check, rule, role, function - 1));
}

static void bind_subject(struct pug_check *check, struct check_bound *bound)
{
    const struct check_rule *of = &CHECK_TALLY(check, bound->rule)->rule;
    bound->subject = bound->role == CHECK_ROLE_SUBJECT ? of->subject : of->other;
    bound->looks = bound->subject.kind == CHECK_FUNCTION &&
                   !match_handler(check, bound->rule, bound->role, &bound->subject);
    for (uint32_t object = 0; bound->looks && object < check->object_count; object++)
        if (check->status == PUG_OK)
            bound->found += match_object(check, bound->rule, bound->role, &bound->subject, object);
}

/** What a rule names is not there, or not to be seen. */
static void conclude_subject(struct pug_check *check, const struct check_bound *bound)
{
    const struct check_rule *rule = &CHECK_TALLY(check, bound->rule)->rule;
    if (!bound->looks)
        return;
    if (bound->unseen && rule->kind != CHECK_NEVER)
        pug_check_say_inlined(check, bound);
    else if (!bound->found && !bound->copies)
        say_unknown(check, bound);
}

/** Those that measure first, those that each entry is counted for last. */
static int group_of(const struct check_link *link)
{
    return link->kind == CHECK_TAKES ? 0 : link->counted ? 2 : 1;
}

/** By function, and in these groups. */
static int by_function(const void *left, const void *right)
{
    const struct check_link *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (group_of(a) != group_of(b))
        return group_of(a) - group_of(b);
    if (a->rule != b->rule)
        return a->rule < b->rule ? -1 : 1;
    return (a->role > b->role) - (a->role < b->role);
}

/** By function; each once, also where a function has several inlined copies. */
static void sort_links(struct pug_check *check)
{
    struct check_link *links = check->links.items;
    size_t count = 0;
    if (check->links.count > 1)
        qsort(links, check->links.count, sizeof(*links), by_function);
    for (size_t n = 0; n < check->links.count; n++)
        if (count == 0 || by_function(&links[count - 1], &links[n]) != 0)
            links[count++] = links[n];
    check->links.count = count;
    for (uint32_t n = 0; n < check->links.count; n++) {
        const struct check_link *link = CHECK_LINK_AT(check, n);
        struct check_function *function = CHECK_FUNCTION_AT(check, link->function);
        if (function->link_count++ == 0)
            function->first_link = n;
        function->measures += link->kind == CHECK_TAKES;
        function->plain += !link->counted;
    }
}

static void list_depths(struct pug_check *check)
{
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        const struct check_rule *rule = &CHECK_TALLY(check, n)->rule;
        if (rule->kind != CHECK_DEPTH || CHECK_TALLY(check, n)->impossible)
            continue;
        struct check_depth *depth = pug_list_add(&check->depths, sizeof(*depth));
        if (!depth) {
            pug_check_starve(check);
            return;
        }
        depth->rule = n;
        depth->bound = rule->cmp == CHECK_AT_MOST                         ? rule->limit.value
                       : rule->cmp == CHECK_LESS && rule->limit.value > 0 ? rule->limit.value - 1
                       : rule->cmp == CHECK_LESS                          ? 0
                                                                          : UINT64_MAX;
    }
}

static int by_start(const void *left, const void *right)
{
    const struct check_span *a = left, *b = right;
    return (a->start > b->start) - (a->start < b->start);
}

static void bind_exception(struct pug_check *check, const struct check_rule *rule,
                           const struct check_subject *subject)
{
    unsigned number;
    char *end;
    if (subject->kind != CHECK_EXCEPTION_NAMED ||
        pug_vectors_number(&check->vectors, subject->name, &number))
        return;
    (void)strtoul(subject->name, &end, 0);
    if (*end == '\0')
        return;
    for (unsigned numbers = 0; numbers < PUG_EXCEPTIONS_KINDS; numbers++)
        for (unsigned n = 0; n < 64; n++)
            if (pug_check_is_exception(check, subject->name, numbers, n) ||
                pug_check_is_exception(check, subject->name, numbers, n | 1u << 31))
                return;
    pug_check_refuse(
        check, rule, subject,
        pug_check_keep_format(&check->texts,
                              "'%s' is no exception, by no profile's names and no handler's; an "
                              "external interrupt is IRQ5 or its handler's name",
                              subject->name));
}

/** `bound`: for the two sides of each rule. */
static void bind_rules(struct pug_check *check, struct check_bound *bound)
{
    const bool functions = has_functions(check);
    const uint32_t rules = (uint32_t)check->tallies.count;
    for (uint32_t n = 0; n < 2 * rules && check->status == PUG_OK; n++) {
        bound[n].rule = n / 2;
        bound[n].role = n % 2 ? CHECK_ROLE_OTHER : CHECK_ROLE_SUBJECT;
        if (functions || !CHECK_TALLY(check, n / 2)->impossible)
            bind_subject(check, &bound[n]);
    }
    pug_check_bind_copies(check, bound, 2 * rules);
    for (uint32_t n = 0; n < 2 * rules && check->status == PUG_OK; n++) {
        const struct check_rule *rule = &CHECK_TALLY(check, n / 2)->rule;
        conclude_subject(check, &bound[n]);
        if (n % 2 && (functions || !CHECK_TALLY(check, n / 2)->impossible)) {
            bind_exception(check, rule, &rule->subject);
            bind_exception(check, rule, &rule->other);
            pug_check_bind_watch(check, n / 2, functions);
        }
    }
}

bool pug_check_bind(struct pug_check *check)
{
    while (pug_capture_object_at(check->capture, check->object_count))
        check->object_count++;
    check->objects = calloc(check->object_count + 1, sizeof(*check->objects));
    if (!check->objects) {
        pug_check_starve(check);
        return false;
    }
    for (uint32_t n = 0; n < check->object_count; n++)
        (void)file_of(check, n);
    struct check_bound *bound = calloc(2 * check->tallies.count + 1, sizeof(*bound));
    if (bound)
        bind_rules(check, bound);
    else
        pug_check_starve(check);
    free(bound);
    for (uint32_t n = 0; n < check->object_count; n++)
        if (check->objects[n].spans.count > 1)
            qsort(check->objects[n].spans.items, check->objects[n].spans.count,
                  sizeof(struct check_span), by_start);
    sort_links(check);
    list_depths(check);
    return check->status == PUG_OK;
}

void pug_check_unbind(struct pug_check *check)
{
    for (uint32_t n = 0; n < check->object_count; n++) {
        free(check->objects[n].spans.items);
        free(check->objects[n].copies.items);
    }
    free(check->objects);
    check->objects = NULL;
    check->object_count = 0;
    free(check->functions.items);
    free(check->links.items);
    free(check->table);
    free(check->depths.items);
    check->functions = check->links = check->depths = (struct pug_list){0};
    check->table = NULL;
    check->table_size = 0;
    check->looks_spans = check->looks_copies = check->at_known = false;
    check->clear_first = check->clear_last = 0;
    check->at_space = NULL;
    memset(check->near, 0, sizeof(check->near));
}

/* ---- while decoding ---- */

bool pug_check_go_to(struct pug_check *check, uint64_t address)
{
    if (check->at_space != check->where->space || !check->where->space ||
        address < check->at.first || address > check->at.last) {
        check->at_space = check->where->space;
        check->at_known = pug_capture_locate(check->capture, check->where, address, &check->at) &&
                          check->at.object < check->object_count;
        check->at.vaddr -= address;
    }
    return check->at_known;
}

uint32_t pug_check_function_at(struct pug_check *check, uint64_t address)
{
    struct pug_names_function function;
    struct check_near *near =
        &check->near[(address ^ address >> 12 ^ address >> 24) / 2 & (CHECK_CACHE - 1)];
    if (near->used && near->address == address && near->space == check->where->space)
        return near->function;
    uint32_t number = 0;
    if (pug_check_go_to(check, address)) {
        struct pug_names_file *file = file_of(check, check->at.object);
        if (file && pug_names_function(file, address + check->at.vaddr, &function))
            number = intern(check, check->at.object, function.name, function.start, function.size);
    }
    *near = (struct check_near){
        .space = check->where->space, .address = address, .function = number, .used = true};
    return number;
}

bool pug_check_locate(void *context, uint32_t task, const struct pug_element *element,
                      uint64_t address, struct pug_function *function)
{
    struct pug_check *check = context;
    (void)task;
    (void)element;
    const uint32_t number = pug_check_function_at(check, address);
    if (number == 0 || !pug_check_go_to(check, address))
        return false;
    const struct check_function *known = CHECK_FUNCTION_AT(check, number - 1);
    *function = (struct pug_function){.name = known->name,
                                      .start = known->start - check->at.vaddr,
                                      .size = known->size,
                                      .id = number};
    return true;
}

void pug_check_look(struct pug_check *check, const struct pug_element *range)
{
    if (range->start >= check->clear_first && range->end <= check->clear_last &&
        check->at_space == check->where->space && check->at_space)
        return;
    check->clear_first = check->clear_last = 0;
    if (!pug_check_go_to(check, range->start) || range->end <= range->start)
        return;
    const struct check_object *object = &check->objects[check->at.object];
    const struct check_span *spans = object->spans.items;
    if (object->spans.count == 0) {
        check->clear_first = check->at.first;
        check->clear_last = check->at.last;
        return;
    }
    const uint64_t start = range->start + check->at.vaddr, end = range->end + check->at.vaddr;
    size_t low = 0, high = object->spans.count;
    while (low < high) { /* the first one that begins after the range */
        const size_t middle = low + (high - low) / 2;
        if (spans[middle].start < end)
            low = middle + 1;
        else
            high = middle;
    }
    /* up to the next span; after the longest that may begin before, nothing is searched
     */
    const uint64_t next = low < object->spans.count ? spans[low].start : UINT64_MAX,
                   before = low > 0 ? spans[low - 1].start + object->longest : 0;
    const uint64_t first = check->at.first + check->at.vaddr,
                   last = check->at.last + check->at.vaddr;
    if (before <= start) {
        check->clear_first = (before > first ? before : first) - check->at.vaddr;
        check->clear_last = (next < last ? next : last) - check->at.vaddr;
    }
    while (low-- > 0 && spans[low].start + object->longest > start) {
        if (spans[low].end <= start)
            continue;
        const struct check_seen seen = {
            .core = check->core, .stream = check->stream, .function = spans[low].function};
        pug_check_violate(check, spans[low].rule, &seen, "it ran");
    }
}
