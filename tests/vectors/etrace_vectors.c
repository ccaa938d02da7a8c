// SPDX-License-Identifier: MIT
/**
 * @file Every E-Trace vector: what the decoder says was executed, and what happened, against what
 * the simulator's log says. Prints each difference; exits 0, 1, or 77 if the vectors are not here.
 *
 *     etrace_vectors [-v] [FOLDER [NAME.params]]
 */
#include "pugmark/advanced/packet/etrace.h"
#include "pugmark/advanced/params.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "vector_files.h"

#include <dirent.h>
#include <inttypes.h>

#define SOURCES 8
#define LINE    160

/** The results of one source. */
struct source {
    uint16_t id;
    char folder[1024];
    const struct pug_settings *settings;
    uint64_t *pcs;
    size_t pc_count, pc_capacity;
    char (*events)[LINE];
    size_t event_count, event_capacity;
    char (*accesses)[LINE]; /* dtype,address,size,data,operand[ @pc] */
    size_t access_count, access_capacity;
    uint64_t *times;
    size_t time_count, time_capacity;
    bool has_operand;
    uint64_t operand;
    const struct pug_etrace_packet *packet; /* in work */
    struct pug_etrace_packet last;
    size_t first; /* PCs before the packet */
    bool reported;
};

struct vector {
    const char *name; /* for messages */
    char folder[1024], file[512];
    struct pug_params *params;
    struct pug_image *image;
    struct pug_log *log;
    struct source sources[SOURCES];
    size_t source_count;
    uint64_t hash; /* of all elements */
    bool failed;
};

static bool verbose;
static unsigned vectors_run, vectors_failed;

static void complain(struct vector *v, const char *what, size_t at, const char *expected,
                     const char *got)
{
    printf("%s: %s %zu: expected '%s', got '%s'\n", v->name, what, at, expected, got);
    v->failed = true;
}

#define GROW(array, count, capacity)                                                               \
    do {                                                                                           \
        if ((count) == (capacity)) {                                                               \
            (capacity) = (capacity) ? 2 * (capacity) : 1024;                                       \
            (array) = realloc((array), (capacity) * sizeof(*(array)));                             \
        }                                                                                          \
    } while (0)

static char *new_event(struct source *s)
{
    GROW(s->events, s->event_count, s->event_capacity);
    return s->events[s->event_count++];
}

/* ---- elements ---- */

static void take_range(struct vector *v, struct source *s, const struct pug_element *e)
{
    uint64_t pc = e->start;
    for (uint32_t i = 0; i < e->count; i++) {
        GROW(s->pcs, s->pc_count, s->pc_capacity);
        s->pcs[s->pc_count++] = pc;
        pc += vector_insn_size(v->image, s->id, pc);
    }
    if (pc != e->end) {
        printf("%s: range %" PRIx64 " to %" PRIx64 " of %u instructions ends at %" PRIx64 "\n",
               v->name, e->start, e->end, e->count, pc);
        v->failed = true;
    }
}

static void take_exception(struct source *s, const struct pug_element *e)
{
    char epc[24] = "?";
    bool interrupt = e->number >> 31;
    if (e->flags & PUG_ELEM_RET_ADDR)
        snprintf(epc, sizeof(epc), "%" PRIx64, e->end);
    snprintf(new_event(s), LINE, "%zu TRAP %s cause=%x tval=%" PRIx64 " epc=%s", s->pc_count,
             interrupt ? "int" : "exc", e->number & 0x7fffffff,
             e->flags & PUG_ELEM_HAS_VALUE ? e->value : 0, epc);
}

/** "dtype,address,size,data,operand @pc", '-' for what is not traced. */
static void take_access(struct source *s, const struct pug_element *e)
{
    if (e->reason & PUG_ACCESS_OPERAND) {
        s->has_operand = true;
        s->operand = e->value;
        return;
    }
    char address[20] = "-", size[8] = "-", value[20] = "-", operand[20] = "-", pc[20] = "-";
    if (e->flags & PUG_ELEM_HAS_ADDRESS)
        snprintf(address, sizeof(address), "%" PRIx64, e->start);
    bool csr = e->reason >= PUG_ACCESS_CSR_RW && e->reason <= PUG_ACCESS_CSR_RC;
    if (!csr || e->type == PUG_ELEM_DATA_VALUE)
        snprintf(size, sizeof(size), "%d", __builtin_ctz(e->last_size));
    if (e->flags & PUG_ELEM_HAS_VALUE)
        snprintf(value, sizeof(value), "%" PRIx64, e->value);
    if (s->has_operand)
        snprintf(operand, sizeof(operand), "%" PRIx64, s->operand);
    if (e->flags & PUG_ELEM_HAS_PC)
        snprintf(pc, sizeof(pc), "%" PRIx64, e->end);
    s->has_operand = false;
    GROW(s->accesses, s->access_count, s->access_capacity);
    snprintf(s->accesses[s->access_count++], LINE, "%x,%s,%s,%s,%s @%s", e->reason, address, size,
             value, operand, pc);
}

static struct source *source_of(struct vector *v, uint16_t id)
{
    for (size_t i = 0; i < v->source_count; i++)
        if (v->sources[i].id == id)
            return &v->sources[i];
    return NULL;
}

/** FNV-1a, a word at a time. */
static uint64_t hash_of(uint64_t hash, const struct pug_element *elements, size_t count)
{
    uint64_t word;
    for (size_t i = 0; i < count * sizeof(*elements); i += sizeof(word)) {
        memcpy(&word, (const char *)elements + i, sizeof(word));
        hash = (hash ^ word) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct vector *v = context;
    (void)taken;
    v->hash = hash_of(v->hash, elements, count);
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        struct source *s = source_of(v, e->source);
        if (verbose) {
            char text[300];
            pug_element_text(e, text, sizeof(text));
            printf("    Idx:%" PRIu64 "; ID:%u; %s\n", e->index, e->source, text);
        }
        switch (e->type) {
        case PUG_ELEM_INSTR_RANGE: take_range(v, s, e); break;
        case PUG_ELEM_EXCEPTION: take_exception(s, e); break;
        case PUG_ELEM_TRACE_ON: snprintf(new_event(s), LINE, "%zu BEGIN", s->pc_count); break;
        case PUG_ELEM_EVENT:
            snprintf(new_event(s), LINE, "%zu NOTIFY %" PRIx64, s->pc_count - 1,
                     s->pcs[s->pc_count - 1]);
            break;
        case PUG_ELEM_TIMESTAMP:
            GROW(s->times, s->time_count, s->time_capacity);
            s->times[s->time_count++] = e->timestamp;
            break;
        case PUG_ELEM_DATA_ADDRESS:
        case PUG_ELEM_DATA_VALUE: take_access(s, e); break;
        default: break;
        }
    }
    return PUG_RESP_CONT;
}

/* ---- packets ---- */

/** Events that elements alone do not show, when all elements of the packet are here. */
static void finish_packet(struct source *s)
{
    if (!s->packet)
        return;
    const struct pug_etrace_packet *p = &s->last;
    s->packet = NULL;
    bool sync = p->type == PUG_ETRACE_SYNC || (p->type == PUG_ETRACE_TRAP && p->thaddr);
    if (sync && s->pc_count > 0)
        snprintf(new_event(s), LINE, "%zu SYNC priv=%u ctx=%" PRIx64, s->pc_count - 1, p->privilege,
                 p->context);
    if (p->type == PUG_ETRACE_CONTEXT)
        snprintf(new_event(s), LINE, "- CTX ctx=%" PRIx64, p->context);
    if (p->type != PUG_ETRACE_SUPPORT)
        return;
    if (p->qual_status == PUG_ETRACE_TRACE_LOST)
        snprintf(new_event(s), LINE, "%zu LOST", s->pc_count);
    else if (p->qual_status != PUG_ETRACE_NO_CHANGE)
        snprintf(new_event(s), LINE, "%zu END %s", s->pc_count,
                 p->qual_status == PUG_ETRACE_ENDED_REP ? "rep" : "ntr");
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct source *s = context;
    finish_packet(s);
    if (op != PUG_OP_DATA)
        return;
    if (verbose) {
        char text[300];
        pug_protocol_find("E-Trace")->packet_text(packet->data, text, sizeof(text));
        printf("Idx:%" PRIu64 "; %s\n", packet->index, text);
    }
    s->packet = packet->data;
    s->last = *s->packet;
}

/* ---- comparing ---- */

static void path_of(char *path, size_t size, const char *folder, const char *name)
{
    snprintf(path, size, "%s/%.*s", folder, (int)strcspn(name, " "), name);
}

static void compare_pcs(struct vector *v, struct source *s, const char *name)
{
    char path[1900], got[24];
    path_of(path, sizeof(path), s->folder, name);
    struct vector_lines expected = vector_lines(path);
    size_t i = 0;
    for (; i < expected.count && i < s->pc_count; i++) {
        if (strtoull(expected.lines[i], NULL, 16) == s->pcs[i])
            continue;
        snprintf(got, sizeof(got), "%" PRIx64, s->pcs[i]);
        complain(v, "PC", i, expected.lines[i], got);
        break;
    }
    if (!v->failed && expected.count != s->pc_count) {
        printf("%s: %zu PCs expected, got %zu\n", v->name, expected.count, s->pc_count);
        v->failed = true;
    }
    vector_lines_free(&expected);
}

static void compare_events(struct vector *v, struct source *s, const char *name)
{
    char path[1900];
    path_of(path, sizeof(path), s->folder, name);
    struct vector_lines expected = vector_lines(path);
    for (size_t i = 0; i < expected.count || i < s->event_count; i++) {
        const char *want = i < expected.count ? expected.lines[i] : "nothing";
        const char *got = i < s->event_count ? s->events[i] : "nothing";
        if (strcmp(want, got) == 0)
            continue;
        complain(v, "event", i, want, got);
        break;
    }
    vector_lines_free(&expected);
}

/** Times are known as far as their bits go; a first value may have to be given. */
static void compare_times(struct vector *v, struct source *s, const char *name, unsigned bytes)
{
    char path[1900], got[24];
    path_of(path, sizeof(path), v->folder, name);
    struct vector_lines expected = vector_lines(path);
    if (expected.count != s->time_count) {
        printf("%s: %zu times expected, got %zu\n", v->name, expected.count, s->time_count);
        v->failed = true;
    }
    uint64_t offset = 0;
    for (size_t i = 0; i < expected.count && i < s->time_count; i++) {
        uint64_t want = strtoull(expected.lines[i], NULL, 16);
        if (i == 0 && bytes < 8)
            offset = want - s->times[0];
        if (want == s->times[i] + offset)
            continue;
        snprintf(got, sizeof(got), "%" PRIx64, s->times[i]);
        complain(v, "time", i, expected.lines[i], got);
        break;
    }
    vector_lines_free(&expected);
}

/**
 * "pcindex,pc,dtype,address,size,data,operand"; PCs only where instructions are traced too. The
 * index is the number of instructions up to and with the one that made the access.
 */
static void compare_accesses(struct vector *v, struct source *s, const char *name, bool with_pc)
{
    char path[1900], want[LINE];
    path_of(path, sizeof(path), v->folder, name);
    struct vector_lines expected = vector_lines(path);
    for (size_t i = 1; i < expected.count || i - 1 < s->access_count; i++) {
        const char *got = i - 1 < s->access_count ? s->accesses[i - 1] : "nothing";
        char *line = i < expected.count ? strdup(expected.lines[i]) : strdup("0,0,nothing"), *rest;
        strtok_r(line, ",", &rest);
        strtok_r(NULL, ",", &rest);
        size_t index = strtoul(line, NULL, 10);
        if (with_pc && index > 0 && index <= s->pc_count)
            snprintf(want, sizeof(want), "%s @%" PRIx64, rest, s->pcs[index - 1]);
        else
            snprintf(want, sizeof(want), "%s @-", rest);
        if (strcmp(want, got) != 0) {
            complain(v, "access", i - 1, want, got);
            free(line);
            break;
        }
        free(line);
    }
    vector_lines_free(&expected);
}

/** The reference model's list: "1,dtype,address,size,data"; pairs are one number of both. */
static void compare_csv(struct vector *v, struct source *s, const char *name)
{
    char path[1900], want[LINE], got[LINE];
    path_of(path, sizeof(path), v->folder, name);
    struct vector_lines expected = vector_lines(path);
    size_t n = 0;
    for (size_t i = 1; i < expected.count && !v->failed; i++) {
        unsigned dtype, size;
        char address[24], value[64];
        if (sscanf(expected.lines[i], "%*u,%u,%23[^,],%u,%63s", &dtype, address, &size, value) != 4)
            vector_fatal("unknown line", path);
        const char *line = n < s->access_count ? s->accesses[n++] : "nothing";
        char a[24] = "", b[24] = "", d[24] = "", o[24] = "";
        unsigned t = 0;
        if (sscanf(line, "%x,%23[^,],%23[^,],%23[^,],%23[^ ]", &t, a, b, d, o) < 4)
            snprintf(a, sizeof(a), "nothing");
        uint64_t width = dtype > 1 && o[0] != '-' && d[0] != '-' ? size - 1 : size;
        bool pair = o[0] != '-';
        char both[64];
        if (pair) {
            uint64_t op = strtoull(o, NULL, 16), low = strtoull(d, NULL, 16);
            unsigned bits = 8u << width;
            if (op == 0)
                snprintf(both, sizeof(both), "%" PRIx64, low);
            else
                snprintf(both, sizeof(both), "%" PRIx64 "%0*" PRIx64, op, (int)(bits / 4), low);
        } else {
            snprintf(both, sizeof(both), "%s", d);
        }
        bool no_value = pug_settings_number(s->settings, "nodata", 0);
        bool no_address = pug_settings_number(s->settings, "noaddr", 0) && a[0] == '-';
        snprintf(want, sizeof(want), "%u,%s,%s", dtype, no_address ? "-" : address,
                 no_value ? "-" : value);
        snprintf(got, sizeof(got), "%u,%s,%s", t, a, no_value ? "-" : both);
        if (strcmp(want, got) != 0)
            complain(v, "access", i, want, line);
    }
    if (!v->failed && n != s->access_count)
        complain(v, "access", n, "nothing", s->accesses[n]);
    vector_lines_free(&expected);
}

static void compare(struct vector *v, struct source *s)
{
    const char *pcs = pug_settings_word(s->settings, "pcs", NULL);
    const char *events = pug_settings_word(s->settings, "events", NULL);
    const char *times = pug_settings_word(s->settings, "full_times", NULL);
    const char *accesses = pug_settings_word(s->settings, "accesses", NULL);
    const char *expected = pug_settings_word(s->settings, "expected", NULL);
    if (pcs)
        compare_pcs(v, s, pcs);
    if (events && !v->failed)
        compare_events(v, s, events);
    if (times)
        compare_times(v, s, times,
                      (unsigned)pug_settings_number(s->settings, "timestamp_bytes", 0));
    if (accesses)
        compare_accesses(v, s, accesses, true);
    if (expected && strstr(expected, ".csv"))
        compare_csv(v, s, expected);
    else if (expected)
        compare_accesses(v, s, expected, false);
}

/* ---- running ---- */

static void add_source(struct vector *v, struct pug_tree *tree, const struct pug_settings *settings,
                       const char *folder, int program_of)
{
    struct source *s = &v->sources[v->source_count++];
    struct pug_source *source;
    s->settings = settings;
    snprintf(s->folder, sizeof(s->folder), "%s", folder);
    struct pug_source_config config = {
        .protocol = "E-Trace", .settings = *settings, .decode = true};
    if (pug_tree_add_source(tree, &config, &source) != PUG_OK)
        vector_fatal("source not added", v->name);
    s->id = pug_source_id(source);
    pug_source_monitor(source, on_packet, s);
    if (program_of >= -1)
        vector_program(v->image, folder, program_of);
}

static void free_source(struct source *s)
{
    free(s->pcs);
    free(s->events);
    free(s->accesses);
    free(s->times);
}

static enum pug_response hash_elements(void *context, const struct pug_element *elements,
                                       size_t count, size_t *taken)
{
    uint64_t *hash = context;
    (void)taken;
    *hash = hash_of(*hash, elements, count);
    return PUG_RESP_CONT;
}

/** … and when the tree has seen the same before, as its elements' consumer has a hash. */
static void check_repeats(struct vector *v, struct pug_tree *tree, const uint8_t *bytes,
                          size_t size, uint64_t *hash)
{
    uint64_t first = 0;
    size_t used;
    for (unsigned i = 0; i < 4; i++) {
        pug_tree_reset(tree);
        *hash = 0;
        pug_tree_data(tree, 0, bytes, size, &used);
        pug_tree_end(tree);
        if (i == 0)
            first = *hash; /* not as before: its first element says that there was a reset */
        if (*hash != first) {
            printf("%s: other elements the %u. time after a reset\n", v->name, i + 1);
            v->failed = true;
        }
    }
}

/** The same without anybody who looks at packets: decoders take plain ones another way then. */
static void decode_again(struct vector *v, const struct pug_tree *tree, const uint8_t *bytes,
                         size_t size)
{
    struct pug_tree *again;
    uint64_t hash = 0;
    size_t used;
    if (pug_tree_clone(tree, NULL, &again) != PUG_OK)
        vector_fatal("no second tree", v->name);
    pug_tree_on_elements(again, hash_elements, &hash);
    pug_tree_data(again, 0, bytes, size, &used);
    pug_tree_end(again);
    if (hash != v->hash) {
        printf("%s: other elements when nobody looks at packets\n", v->name);
        v->failed = true;
    }
    check_repeats(v, again, bytes, size, &hash);
    pug_tree_free(again);
}

static void run(struct vector *v, const char *params, const char *trace)
{
    size_t size = 0, used = 0;
    uint8_t *bytes = whole_file(trace, &size);
    v->log = pug_log_new(PUG_SEV_INFO);
    if (verbose)
        pug_log_set_file(v->log, stdout);
    v->image = pug_image_new();
    if (!bytes || pug_params_load(params, v->log, &v->params) != PUG_OK)
        vector_fatal("cannot be read", params);
    struct pug_tree *tree;
    struct pug_tree_config config = {.transport = pug_params_transport(v->params),
                                     .settings = *pug_params_settings(v->params),
                                     .image = v->image,
                                     .log = v->log};
    if (pug_tree_new(&config, &tree) != PUG_OK)
        vector_fatal("no tree", params);
    pug_tree_on_elements(tree, on_elements, v);
    if (pug_params_sources(v->params) == 0) {
        bool program = pug_settings_find(pug_params_settings(v->params), "pcs");
        add_source(v, tree, pug_params_settings(v->params), v->folder, program ? -1 : -2);
    }
    for (size_t i = 0; i < pug_params_sources(v->params); i++) {
        const struct pug_settings *settings = pug_params_source(v->params, i);
        char folder[1024];
        snprintf(folder, sizeof(folder), "%s", pug_params_source_path(v->params, i));
        *strrchr(folder, '/') = '\0';
        add_source(v, tree, settings, folder, (int)pug_settings_number(settings, "srcid", 0));
    }
    enum pug_response response = pug_tree_data(tree, 0, bytes, size, &used);
    enum pug_response end = pug_tree_end(tree);
    for (size_t i = 0; i < v->source_count; i++)
        finish_packet(&v->sources[i]);
    if (response >= PUG_RESP_WAIT || end >= PUG_RESP_WAIT || used != size) {
        printf("%s: answers %d, %d\n", v->name, response, end);
        v->failed = true;
    }
    for (size_t i = 0; i < v->source_count; i++)
        compare(v, &v->sources[i]);
    decode_again(v, tree, bytes, size);
    const char *note = pug_settings_word(pug_params_settings(v->params), "note", "");
    if (strstr(note, "EXPECTED TO FAIL"))
        v->failed = pug_log_errors(v->log) == 0;
    else if (!v->failed && pug_log_errors(v->log) > 0)
        complain(v, "errors", (size_t)pug_log_errors(v->log), "none", pug_log_last(v->log)->text);
    for (size_t i = 0; i < v->source_count; i++)
        free_source(&v->sources[i]);
    pug_tree_free(tree);
    pug_params_free(v->params);
    pug_image_free(v->image);
    pug_log_free(v->log);
    free(bytes);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void run_folder(const char *folder, const char *only)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char params[1400], trace[1400];
        const char *name = names[i]->d_name;
        snprintf(params, sizeof(params), "%s/%s", folder, name);
        bool wanted = ends_with(name, ".params") && (!only || strcmp(only, name) == 0);
        if (wanted && vector_trace_of(params, true, trace, sizeof(trace))) {
            struct vector v = {.name = params};
            snprintf(v.folder, sizeof(v.folder), "%s", folder);
            run(&v, params, trace);
            vectors_run++;
            vectors_failed += v.failed;
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

int main(int argc, char **argv)
{
    const char *root = PUG_SOURCE_DIR "/../shared/vectors/etrace";
    char folder[1024];
    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        verbose = true;
        argc--;
        argv++;
    }
    struct dirent **names;
    int count = scandir(root, &names, NULL, alphasort);
    if (count < 0) {
        printf("skipped: no vectors at %s\n", root);
        return 77;
    }
    if (!whole_file_unpacks(PUG_UNPACK_XZ)) {
        printf("skipped: this build cannot unpack xz\n");
        return 77;
    }
    for (int i = 0; i < count; i++) {
        snprintf(folder, sizeof(folder), "%s/%s", root, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && (argc < 2 || strcmp(argv[1], names[i]->d_name) == 0))
            run_folder(folder, argc > 2 ? argv[2] : NULL);
        free(names[i]);
    }
    free(names);
    printf("%u vectors, %u failed\n", vectors_run, vectors_failed);
    return vectors_failed > 0 || vectors_run == 0;
}
