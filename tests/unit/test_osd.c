// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug: every shared vector gives the events that the host's logs list; random
 * cores and modules come back from the encoder; pieces, waits and damage change nothing else.
 */
#include "pugmark/advanced/packet/osd.h"
#include "recorder/osd.h"
#include "recorder/riscv_program.h"
#include "support/stream.h"
#include "support/whole_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* cmocka.h wants some of the above first */
#include <cmocka.h>

#include "protocol/builtin.h"

#define VECTORS PUG_SOURCE_DIR "/../shared/vectors/osd"

static void need_vectors(void)
{
    if (access(VECTORS "/README.md", R_OK) == 0)
        return;
    print_message("no vectors at %s\n", VECTORS);
    skip();
}

static char *load(const char *path, size_t *size)
{
    uint8_t *bytes = whole_file(path, size);
    if (!bytes)
        fail_msg("%s can't be read", path);
    return (char *)bytes;
}

/* ---- a stream through a tree, with the events of its sources as the host's logs have them ---- */

#define SOURCES 8

/** Text that grows. */
struct text {
    char *at;
    size_t length, room;
};

static void put(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *text, const char *format, ...)
{
    char line[300];
    va_list args;
    va_start(args, format);
    size_t length = (size_t)vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (text->length + length + 1 > text->room) {
        text->room = 2 * text->room + length + 1024;
        text->at = realloc(text->at, text->room);
        assert_non_null(text->at);
    }
    memcpy(text->at + text->length, line, length + 1);
    text->length += length;
}

struct stream {
    struct pug_image *image;
    struct pug_log *log;
    struct pug_tree *tree;
    struct source {
        struct stream *stream;
        unsigned id;
        struct pug_source *handle;
        struct text log, print;
        uint64_t last_time, exact, open, broken, instructions;
        bool back; /* time went back */
    } sources[SOURCES];
    struct text arrival;    /* events of all sources, "<source> <line>" */
    struct text complaints; /* of the log, "! ..." */
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct source *source = context;
    char text[200];
    if (op != PUG_OP_DATA)
        return;
    const struct pug_osd_packet *osd = packet->data;
    if (osd->kind > PUG_OSD_KIND_OVERFLOW)
        return;
    pug_source_protocol(source->handle)->packet_text(osd, text, sizeof(text));
    const char *line = strstr(text, " : ") + 3;
    put(&source->log, "%s\n", line);
    put(&source->stream->arrival, "%u %s\n", source->id, line);
}

static void note_time(struct source *source, uint64_t time)
{
    source->back |= time < source->last_time;
    source->last_time = time;
}

static void take(struct source *source, const struct pug_element *e)
{
    switch (e->type) {
    case PUG_ELEM_TIMESTAMP: note_time(source, e->timestamp); break;
    case PUG_ELEM_SWTRACE:
        if (e->flags & PUG_ELEM_HAS_TS)
            note_time(source, e->timestamp);
        if ((e->sw_flags & PUG_SW_ID_VALID) && PUG_SW_CHANNEL(e) == 4)
            put(&source->print, "%c", (char)e->value);
        break;
    case PUG_ELEM_INSTR_RANGE:
        source->instructions += e->count;
        source->exact += !(e->flags & PUG_ELEM_CONDITIONAL);
        break;
    case PUG_ELEM_I_RANGE_NOPATH:
        source->open += e->reason == PUG_NOPATH_OPEN;
        source->broken += e->reason == PUG_NOPATH_BROKEN;
        break;
    default: break;
    }
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct stream *stream = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (elements[i].source < SOURCES)
            take(&stream->sources[elements[i].source], &elements[i]);
    return PUG_RESP_CONT;
}

/** The complaints in the log, in the words of the damaged vectors. */
static void on_log(void *context, const struct pug_log_record *record)
{
    struct stream *stream = context;
    const char *number;
    unsigned long long index = (unsigned long long)record->index;
    if (strncmp(record->text, "framing lost", 12) == 0)
        put(&stream->complaints, "! framing skip %llu %llu\n", index,
            index + strtoull(strstr(record->text, "length, ") + 8, NULL, 10));
    else if (strcmp(record->text, "the data end inside a datagram") == 0)
        put(&stream->complaints, "! framing trunc %llu\n", index);
    else if ((number = strstr(record->text, "than the module's: ")) != NULL)
        put(&stream->complaints, "! event len %llu %llu\n", index, strtoull(number + 19, NULL, 10));
    else if (strcmp(record->text, "the data end inside an event") != 0)
        put(&stream->complaints, "! event pieces %llu\n", index);
}

static void stream_open(struct stream *stream, const char *framing)
{
    const struct pug_setting settings[] = {{.name = "MAX_PKT_LEN", .value = 12},
                                           {.name = "framing", .text = framing}};
    *stream = (struct stream){.image = pug_image_new(), .log = pug_log_new(PUG_SEV_INFO)};
    pug_log_set_sink(stream->log, on_log, stream);
    struct pug_tree_config config = {.transport = "osd",
                                     .settings = {.items = settings, .count = framing ? 2 : 1},
                                     .image = stream->image,
                                     .log = stream->log};
    assert_int_equal(pug_tree_new(&config, &stream->tree), PUG_OK);
    pug_tree_on_elements(stream->tree, on_elements, stream);
}

/** `width` 0: found out by the decoder. */
static void stream_add(struct stream *stream, unsigned id, const char *protocol, unsigned width)
{
    struct source *source = &stream->sources[id];
    const struct pug_setting settings[] = {
        {.name = "src_id", .value = id},
        {.name = strstr(protocol, "STM") ? "VALWIDTH" : "ADDR_WIDTH", .value = width}};
    struct pug_source_config config = {.protocol = protocol,
                                       .settings = {.items = settings, .count = width ? 2 : 1},
                                       .decode = true};
    assert_int_equal(pug_tree_add_source(stream->tree, &config, &source->handle), PUG_OK);
    source->stream = stream;
    source->id = id;
    pug_source_monitor(source->handle, on_packet, source);
}

/** The modules of the vectors: 1 to 3 CTM of 64, 32, 16 bits, 4 to 6 STM. */
static void stream_add_all(struct stream *stream, bool widths)
{
    for (unsigned id = 1; id <= 6; id++)
        stream_add(stream, id, id <= 3 ? "OSD-CTM" : "OSD-STM", widths ? 64u >> (id - 1) % 3 : 0);
}

static void stream_feed(struct stream *stream, const char *bytes, size_t size, size_t block)
{
    for (size_t at = 0; at < size;) {
        size_t part = block && block < size - at ? block : size - at, used = 0;
        assert_true(pug_tree_data(stream->tree, at, (const uint8_t *)bytes + at, part, &used) <
                    PUG_RESP_WAIT);
        at += used;
    }
    assert_true(pug_tree_end(stream->tree) < PUG_RESP_WAIT);
}

static void stream_close(struct stream *stream)
{
    pug_tree_free(stream->tree);
    pug_log_free(stream->log);
    pug_image_free(stream->image);
    for (unsigned i = 0; i < SOURCES; i++) {
        free(stream->sources[i].log.at);
        free(stream->sources[i].print.at);
    }
    free(stream->arrival.at);
    free(stream->complaints.at);
}

/* ---- vectors ---- */

static unsigned failures;

/** Same text? Tells the first line that is not. */
static void compare(const char *path, const char *got, const char *want)
{
    unsigned line = 1;
    got = got ? got : "";
    if (strcmp(got, want) == 0)
        return;
    for (; *got && *got == *want; got++, want++)
        line += *got == '\n';
    print_error("%s:%u: got '%.60s', expected '%.60s'\n", path, line, got, want);
    failures++;
}

/** Compare with the host's log, where the folder has one. */
static bool compare_log(const char *folder, const char *name, unsigned id, const struct text *got)
{
    char path[600];
    size_t size;
    snprintf(path, sizeof(path), "%s/%s.%04u.log", folder, name, id);
    if (access(path, R_OK) != 0)
        return false;
    char *want = load(path, &size);
    compare(path, got->at, want);
    free(want);
    return true;
}

static unsigned check_folder(const char *folder, const char *file, bool widths, size_t block)
{
    char path[600];
    size_t size;
    unsigned logs = 0;
    struct stream stream;
    snprintf(path, sizeof(path), "%s/%s", folder, file);
    char *bytes = load(path, &size);
    stream_open(&stream, NULL);
    stream_add_all(&stream, widths);
    stream_feed(&stream, bytes, size, block);
    for (unsigned id = 1; id <= 6; id++) {
        const struct source *source = &stream.sources[id];
        logs += compare_log(folder, "coretrace", id, &source->log);
        logs += compare_log(folder, "systrace", id, &source->log);
        logs += compare_log(folder, "systrace.print", id, &source->print);
        if (source->back) {
            print_error("%s: time of source %u goes back\n", path, id);
            failures++;
        }
    }
    stream_close(&stream);
    free(bytes);
    return logs;
}

static void test_shared_vectors(void **state)
{
    static const char *const folders[] = {"ctm16", "ctm32", "ctm64", "ctm64-ovf", "stm16",  "stm32",
                                          "stm64", "multi", "wrap",  "regmix",    "le-dump"};
    (void)state;
    need_vectors();
    unsigned logs = 0;
    failures = 0;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        char folder[512];
        const char *file = strcmp(folders[i], "le-dump") == 0 ? "stream.osdpkt" : "stream.dtd";
        snprintf(folder, sizeof(folder), "%s/%s", VECTORS, folders[i]);
        logs += check_folder(folder, file, true, 0);
        check_folder(folder, file, false, 0);
        check_folder(folder, file, true, 1);
        check_folder(folder, file, true, 1001);
    }
    print_message("%u logs\n", logs);
    assert_int_equal(failures, 0);
    assert_int_equal(logs, 24);
}

/** Damaged streams: the events that are left, and what is said of the others. */
static void test_damage_of_shared_vectors(void **state)
{
    static const char *const names[] = {"good",      "lost-continuation", "lost-last",
                                        "lost-word", "truncated",         "zeros"};
    (void)state;
    need_vectors();
    failures = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[600];
        size_t size, list_size;
        struct stream stream;
        snprintf(path, sizeof(path), "%s/damaged/%s.dtd", VECTORS, names[i]);
        char *bytes = load(path, &size);
        snprintf(path, sizeof(path), "%s/damaged/%s.events.txt", VECTORS, names[i]);
        char *list = load(path, &list_size);
        stream_open(&stream, "dtd");
        stream_add_all(&stream, true);
        stream_feed(&stream, bytes, size, 0);
        put(&stream.arrival, "%s", "");
        if (stream.complaints.at)
            for (char *save, *line = strtok_r(stream.complaints.at, "\n", &save); line;
                 line = strtok_r(NULL, "\n", &save))
                put(&stream.arrival, "%s\n", line);
        compare(path, stream.arrival.at, list);
        stream_close(&stream);
        free(bytes);
        free(list);
    }
    assert_int_equal(failures, 0);
}

/** With the program: as many instructions are reported as executed as can be known at all. */
static void test_flow_of_shared_vectors(void **state)
{
    static const struct {
        const char *folder, *elf;
        unsigned id;
        uint64_t exact, open, broken, instructions;
    } checks[] = {{"ctm64", "traps.elf", 1, 5030, 861, 46, 30907},
                  {"ctm32", "traps32.elf", 2, 5029, 861, 46, 30596}};
    (void)state;
    need_vectors();
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
        char path[600];
        size_t size;
        struct stream stream;
        struct pug_place place = {.space = PUG_SPACE_ANY};
        snprintf(path, sizeof(path), "%s/%s/stream.dtd", VECTORS, checks[i].folder);
        char *bytes = load(path, &size);
        stream_open(&stream, NULL);
        snprintf(path, sizeof(path), "%s/%s/%s", VECTORS, checks[i].folder, checks[i].elf);
        assert_int_equal(pug_image_add_elf(stream.image, &place, path, 0), PUG_OK);
        stream_add(&stream, checks[i].id, "OSD-CTM", 0);
        stream_feed(&stream, bytes, size, 0);
        const struct source *source = &stream.sources[checks[i].id];
        assert_int_equal(source->exact, checks[i].exact);
        assert_int_equal(source->open, checks[i].open);
        assert_int_equal(source->broken, checks[i].broken);
        assert_int_equal(source->instructions, checks[i].instructions);
        stream_close(&stream);
        free(bytes);
    }
}

/** The same from a protocol that the library does not know by itself. */
static void test_external_protocol_on_shared_vectors(void **state)
{
    struct pug_protocol mine = pug_protocol_osd_ctm;
    size_t size;
    struct stream stream;
    (void)state;
    need_vectors();
    mine.name = "My-Core-Trace";
    mine.abi = PUG_AUTHOR_ABI + 1;
    assert_int_equal(pug_protocol_register(&mine), PUG_ERR_NOT_OFFERED);
    mine.abi = PUG_AUTHOR_ABI;
    assert_int_equal(pug_protocol_register(&mine), PUG_OK);
    assert_int_equal(pug_protocol_register(&mine), PUG_ERR_NAME_TAKEN);
    char *bytes = load(VECTORS "/ctm64/stream.dtd", &size);
    stream_open(&stream, NULL);
    stream_add(&stream, 1, "My-Core-Trace", 64);
    stream_feed(&stream, bytes, size, 0);
    failures = 0;
    assert_true(compare_log(VECTORS "/ctm64", "coretrace", 1, &stream.sources[1].log));
    assert_int_equal(failures, 0);
    assert_int_equal(stream.sources[1].open, 5937 - stream.sources[1].broken);
    stream_close(&stream);
    free(bytes);
    assert_int_equal(pug_protocol_unregister("My-Core-Trace"), PUG_OK);
}

/** Packets as the host's message queue has them: each in one piece, without a length. */
static void test_messages(void **state)
{
    static const uint8_t overflow[] = {0x01, 0x04, 0x04, 0x00, 0x00, 0x94, 0x09, 0x00};
    struct stream stream;
    size_t used;
    (void)state;
    stream_open(&stream, "message");
    stream_add(&stream, 4, "OSD-STM", 0);
    assert_int_equal(pug_tree_data(stream.tree, 0, overflow, sizeof(overflow), &used),
                     PUG_RESP_CONT);
    assert_int_equal(used, sizeof(overflow));
    assert_int_equal(pug_tree_data(stream.tree, 8, overflow, 3, &used), PUG_RESP_CONT);
    assert_int_equal(used, 3);
    assert_int_equal(pug_tree_end(stream.tree), PUG_RESP_CONT);
    assert_string_equal(stream.arrival.at, "4 Overflow, missed 9 events\n");
    assert_int_equal(pug_log_errors(stream.log), 1);
    stream_close(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_vectors),
        cmocka_unit_test(test_damage_of_shared_vectors),
        cmocka_unit_test(test_flow_of_shared_vectors),
        cmocka_unit_test(test_external_protocol_on_shared_vectors),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
