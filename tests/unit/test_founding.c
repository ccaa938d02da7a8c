// SPDX-License-Identifier: MIT
/**
 * @file Rows of docs/founding.md that no other test asserts: callbacks and their pointers, one
 * callback for all sources, CUSTOM elements, a changed clock, raw frames, what a log keeps and
 * passes on.
 */
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a protocol whose packets are bytes, and give a CUSTOM element each ---- */

struct note {
    struct pug_stage *stage;
    uint8_t byte;
    uint8_t payloads[256][3]; /**< as many as elements wait to be delivered */
    uint8_t next;
};

static enum pug_status note_config(const struct pug_settings *settings, struct pug_log *log,
                                   void **config)
{
    (void)log;
    uint16_t *id = malloc(sizeof(*id));
    if (!id)
        return PUG_ERR_MEM;
    *id = (uint16_t)pug_settings_number(settings, "id", 1);
    *config = id;
    return PUG_OK;
}

static uint16_t note_id(const void *config)
{
    return *(const uint16_t *)config;
}

static enum pug_status note_new(const void *config, struct pug_stage *stage, void **made)
{
    struct note *note = calloc(1, sizeof(*note));
    (void)config;
    if (!note)
        return PUG_ERR_MEM;
    note->stage = stage;
    *made = note;
    return PUG_OK;
}

static bool note_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    struct note *note = reader;
    if (span->at == span->end)
        return false;
    note->byte = *span->at;
    *packet = (struct pug_packet){.index = pug_span_index(span),
                                  .data = &note->byte,
                                  .raw = &note->byte,
                                  .raw_size = 1,
                                  .flags = PUG_PACKET_DECODE | PUG_PACKET_MONITOR};
    span->at++;
    return true;
}

/** A byte b gives the extended data b, b + 1, b + 2, and fields that say b, too. */
static enum pug_response note_decode(void *decoder, const struct pug_packet *packet)
{
    struct note *note = decoder;
    const uint8_t byte = *(const uint8_t *)packet->data;
    struct pug_element *e = pug_out_push(&note->stage->out, PUG_ELEM_CUSTOM, packet->index);
    uint8_t *payload = note->payloads[note->next++];
    for (unsigned i = 0; i < 3; i++)
        payload[i] = (uint8_t)(byte + i);
    e->flags = PUG_ELEM_PAYLOAD | PUG_ELEM_HAS_TS;
    e->payload = payload;
    e->count = 3;
    e->timestamp = 1000u + byte;
    e->reason = byte;
    return PUG_RESP_CONT;
}

static enum pug_response note_end(void *decoder)
{
    struct note *note = decoder;
    pug_out_push(&note->stage->out, PUG_ELEM_EO_TRACE, 0);
    return PUG_RESP_CONT;
}

static void note_reset(void *decoder)
{
    (void)decoder;
}

static const struct pug_protocol note_protocol = {.abi = PUG_AUTHOR_ABI,
                                                  .name = "NOTE",
                                                  .title = "bytes",
                                                  .config_new = note_config,
                                                  .config_free = free,
                                                  .trace_id = note_id,
                                                  .reader_new = note_new,
                                                  .reader_free = free,
                                                  .read = note_read,
                                                  .decoder_new = note_new,
                                                  .decoder_free = free,
                                                  .decode = note_decode,
                                                  .decode_end = note_end,
                                                  .decoder_reset = note_reset};

static struct pug_source *add_note(struct pug_tree *tree, uint16_t id)
{
    struct pug_source *source;
    const struct pug_setting settings[] = {{.name = "id", .value = id}};
    const struct pug_source_config config = {
        .definition = &note_protocol, .settings = {.items = settings, .count = 1}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    return source;
}

/* Two sources in one frame, 0x12 and 0x60 in turn: an id, and a byte of it. */
#define LOW  0x12
#define HIGH 0x60
static const uint8_t frame[16] = {LOW << 1 | 1,
                                  0x10,
                                  HIGH << 1 | 1,
                                  0x20,
                                  LOW << 1 | 1,
                                  0x11,
                                  HIGH << 1 | 1,
                                  0x21,
                                  LOW << 1 | 1,
                                  0x12,
                                  1,
                                  0x99,
                                  1,
                                  0x99,
                                  1,
                                  0};

static struct pug_tree *frame_tree(void)
{
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "coresight"}, &tree),
                     PUG_OK);
    return tree;
}

static void feed(struct pug_tree *tree, const uint8_t *bytes, size_t size)
{
    size_t used;
    assert_int_equal(pug_tree_data(tree, 0, bytes, size, &used), PUG_RESP_CONT);
    assert_int_equal(used, size);
}

/* ---- one callback for all sources, with the trace id; CUSTOM, any fields, extended data ---- */

struct heard {
    char text[512];
    unsigned wait; /**< answer WAIT to the n-th */
    unsigned count;
};

static enum pug_response hear(void *context, const struct pug_element *e)
{
    struct heard *heard = context;
    const size_t length = strlen(heard->text);
    const uint8_t *payload = e->payload;
    if (e->type == PUG_ELEM_CUSTOM) {
        assert_int_equal(e->flags, PUG_ELEM_PAYLOAD | PUG_ELEM_HAS_TS);
        assert_int_equal(e->count, 3);
        assert_int_equal(e->timestamp, 1000u + payload[0]);
        assert_int_equal(e->reason, payload[0]);
        snprintf(heard->text + length, sizeof(heard->text) - length, "%02x:%02x%02x%02x ",
                 e->source, payload[0], payload[1], payload[2]);
    } else {
        assert_int_equal(e->type, PUG_ELEM_EO_TRACE);
        snprintf(heard->text + length, sizeof(heard->text) - length, "%02x:end ", e->source);
    }
    return ++heard->count == heard->wait ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

static enum pug_response hear_batch(void *context, const struct pug_element *elements, size_t count,
                                    size_t *taken)
{
    for (*taken = 0; *taken < count;) {
        const enum pug_response response = hear(context, &elements[(*taken)++]);
        if (response != PUG_RESP_CONT)
            return response;
    }
    return PUG_RESP_CONT;
}

#define EXPECTED                                                                                   \
    "12:101112 60:202122 12:111213 60:212223 12:121314 " /* in the order of the trace */           \
    "12:end 60:end "

static void test_one_callback(void **state)
{
    (void)state;
    for (unsigned batches = 0; batches < 2; batches++)
        for (unsigned wait = 0; wait <= 7; wait++) {
            struct heard heard = {.wait = wait};
            struct pug_tree *tree = frame_tree();
            size_t used;
            add_note(tree, LOW);
            add_note(tree, HIGH);
            if (batches)
                pug_tree_on_elements(tree, hear_batch, &heard);
            else
                pug_tree_on_element(tree, hear, &heard);
            enum pug_response response = pug_tree_data(tree, 0, frame, sizeof(frame), &used);
            assert_int_equal(used, sizeof(frame));
            while (response == PUG_RESP_WAIT)
                response = pug_tree_flush(tree);
            assert_int_equal(response, PUG_RESP_CONT);
            for (response = pug_tree_end(tree); response == PUG_RESP_WAIT;)
                response = pug_tree_flush(tree);
            assert_string_equal(heard.text, EXPECTED);
            pug_tree_free(tree);
        }
}

/** Words for it, and who keeps an element has its own copy of the bytes. */
static void test_custom_element(void **state)
{
    (void)state;
    const struct pug_element element = {.type = PUG_ELEM_CUSTOM};
    char text[64];
    assert_string_equal(pug_element_type_name(PUG_ELEM_CUSTOM), "CUSTOM");
    pug_element_text(&element, text, sizeof(text));
    assert_non_null(strstr(text, "CUSTOM"));
}

/* ---- a C API with an opaque pointer: each callback gets its own, and no other ---- */

struct pointer {
    unsigned calls;
    struct pointer *self; /**< that it is this one */
};

static void called(void *context)
{
    struct pointer *pointer = context;
    assert_ptr_equal(pointer->self, pointer);
    pointer->calls++;
}

static enum pug_response on_element(void *context, const struct pug_element *element)
{
    (void)element;
    called(context);
    return PUG_RESP_CONT;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    (void)elements;
    called(context);
    *taken = count;
    return PUG_RESP_CONT;
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)op;
    (void)packet;
    called(context);
}

static enum pug_response on_sink(void *context, enum pug_op op, const struct pug_packet *packet)
{
    (void)op;
    (void)packet;
    called(context);
    return PUG_RESP_CONT;
}

static void on_run(void *context, const struct pug_run *run)
{
    (void)run;
    called(context);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    (void)op;
    (void)index;
    (void)kind;
    (void)source;
    (void)bytes;
    (void)size;
    called(context);
}

static void on_message(void *context, const struct pug_log_record *record)
{
    (void)record;
    called(context);
}

static uint32_t on_memory(void *context, uint64_t address, const struct pug_reader_space *space,
                          uint32_t wanted, uint8_t *buffer)
{
    (void)address;
    (void)space;
    called(context);
    memset(buffer, 0, wanted);
    return wanted;
}

static void test_opaque_pointers(void **state)
{
    (void)state;
    enum { ELEMENT, MONITOR_LOW, MONITOR_HIGH, RUN, FRAME, MESSAGE, MEMORY, COUNT };
    struct pointer pointers[COUNT] = {0};
    struct pug_tree *tree = frame_tree();
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_reader_space space = {.space = PUG_SPACE_ANY};
    uint8_t byte;
    for (unsigned i = 0; i < COUNT; i++)
        pointers[i].self = &pointers[i];
    pug_tree_on_element(tree, on_element, &pointers[ELEMENT]);
    pug_source_monitor(add_note(tree, LOW), on_packet, &pointers[MONITOR_LOW]);
    pug_source_monitor(add_note(tree, HIGH), on_packet, &pointers[MONITOR_HIGH]);
    pug_tree_on_runs(tree, on_run, &pointers[RUN]);
    assert_int_equal(pug_tree_on_frames(tree, on_frame, &pointers[FRAME], 2), PUG_OK);
    pug_log_set_sink(log, on_message, &pointers[MESSAGE]);
    assert_int_equal(pug_image_add_callback(image, NULL, 0, 0xffff, on_memory, &pointers[MEMORY]),
                     PUG_OK);
    feed(tree, frame, sizeof(frame));
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_INFO, .text = "one"});
    assert_int_equal(pug_image_read(image, &space, 0x100, &byte, 1), 1);
    assert_int_equal(pointers[ELEMENT].calls, 5);
    assert_int_equal(pointers[MONITOR_LOW].calls, 3);
    assert_int_equal(pointers[MONITOR_HIGH].calls, 2);
    assert_true(pointers[RUN].calls >= 5);
    assert_true(pointers[FRAME].calls >= 5);
    assert_int_equal(pointers[MESSAGE].calls, 1);
    assert_int_equal(pointers[MEMORY].calls, 1);
    pug_tree_free(tree);
    pug_image_free(image);
    pug_log_free(log);
}

/** The same for replacements: batches, and packets that go nowhere else. */
static void test_other_pointers(void **state)
{
    (void)state;
    struct pointer batch = {.self = &batch}, sink = {.self = &sink};
    struct pug_tree *tree = frame_tree();
    add_note(tree, LOW);
    pug_tree_on_elements(tree, on_elements, &batch);
    const struct pug_setting settings[] = {{.name = "id", .value = HIGH}};
    const struct pug_source_config config = {.definition = &note_protocol,
                                             .settings = {.items = settings, .count = 1}};
    struct pug_source *source;
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    assert_int_equal(pug_source_sink(source, on_sink, &sink), PUG_OK);
    feed(tree, frame, sizeof(frame));
    assert_true(batch.calls >= 1);
    assert_int_equal(sink.calls, 2);
    pug_tree_free(tree);
}

/* ---- the clock changed ---- */

static enum pug_response collect_flags(void *context, const struct pug_element *e)
{
    char *text = context;
    const size_t length = strlen(text);
    if (e->type == PUG_ELEM_TIMESTAMP)
        snprintf(text + length, 64 - length, "%u%s ", (unsigned)e->timestamp,
                 e->flags & PUG_ELEM_FREQ_CHANGE ? "!" : "");
    return PUG_RESP_CONT;
}

static void clock_changes(const char *protocol, const uint8_t *bytes, size_t size)
{
    static const struct pug_setting settings[] = {{.name = "ETMCR", .value = 0},
                                                  {.name = "ETMIDR", .value = 0x4100F310},
                                                  {.name = "ETMCCER", .value = 0x10000000},
                                                  {.name = "ETMTRACEIDR", .value = 0x10}};
    char text[64] = "";
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.transport = "plain"}, &tree), PUG_OK);
    const struct pug_source_config config = {
        .protocol = protocol, .settings = {.items = settings, .count = 4}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &config, NULL), PUG_OK);
    pug_tree_on_element(tree, collect_flags, text);
    feed(tree, bytes, size);
    assert_string_equal(text, "1 2! 3 ");
    pug_tree_free(tree);
}

static void test_clock_changed(void **state)
{
    (void)state;
    static const uint8_t ptm[] = {0, 0, 0,    0,    0, 0x80, 0x08, 0,    0x80,
                                  0, 0, 0x21, 0x42, 1, 0x46, 2,    0x42, 3};
    static const uint8_t etmv3[] = {0,    0, 0, 0,    0, 0x80, 0x08, 1,    0,
                                    0x80, 0, 0, 0x42, 1, 0x46, 2,    0x42, 3};
    clock_changes("PTM", ptm, sizeof(ptm));
    clock_changes("ETMV3", etmv3, sizeof(etmv3));
}

/* ---- unpacked and packed frames ---- */

static void write_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                        uint16_t source, const uint8_t *bytes, size_t size)
{
    char *text = context;
    size_t length = strlen(text);
    if (op != PUG_OP_DATA)
        return;
    length += (size_t)snprintf(text + length, 256 - length, "%u %d/%x", (unsigned)index, (int)kind,
                               source);
    for (size_t i = 0; i < size && i < 3; i++)
        length += (size_t)snprintf(text + length, 256 - length, " %02x", bytes[i]);
    snprintf(text + length, 256 - length, "\n");
}

static void test_frames(void **state)
{
    (void)state;
    for (unsigned want = 1; want <= 2; want++) {
        char text[256] = "";
        struct pug_tree *tree = frame_tree();
        add_note(tree, LOW);
        assert_int_equal(pug_tree_on_frames(tree, write_frame, text, want), PUG_OK);
        feed(tree, frame, sizeof(frame));
        if (want == 1) /* the whole frame, as it came: of no id */
            assert_string_equal(text, "0 0/0 25 10 c1\n");
        else /* what each id has of it, with a source or without, by the pair of bytes it lies in */
            assert_string_equal(text, "0 3/12 10\n2 3/60 20\n4 3/12 11\n6 3/60 21\n8 3/12 12\n"
                                      "10 3/0 99 99\n");
        pug_tree_free(tree);
    }
}

/* ---- the log: the last error, to a file, as much as is wanted ---- */

static void put(struct pug_log *log, enum pug_severity severity, enum pug_status code,
                const char *text)
{
    pug_log_put(log, &(struct pug_log_record){.severity = severity,
                                              .code = code,
                                              .index = 7,
                                              .source = 0x12,
                                              .component = "TEST",
                                              .text = text});
}

static void write_message(void *context, const struct pug_log_record *record)
{
    char *text = context;
    const size_t length = strlen(text);
    snprintf(text + length, 128 - length, "%d:%s@%u/%x ", (int)record->severity, record->text,
             (unsigned)record->index, record->source);
}

static void test_log(void **state)
{
    (void)state;
    static const char *const heard[] = {
        [PUG_SEV_NONE] = "",
        [PUG_SEV_ERROR] = "1:wrong@7/12 ",
        [PUG_SEV_WARN] = "1:wrong@7/12 2:odd@7/12 ",
        [PUG_SEV_INFO] = "1:wrong@7/12 2:odd@7/12 3:so@7/12 ",
    };
    for (unsigned verbosity = PUG_SEV_NONE; verbosity <= PUG_SEV_INFO; verbosity++) {
        char text[128] = "", line[128];
        unsigned lines = 0;
        struct pug_log *log = pug_log_new(PUG_SEV_INFO);
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_null(pug_log_last(log));
        pug_log_set_verbosity(log, (enum pug_severity)verbosity);
        assert_int_equal(pug_log_verbosity(log), verbosity);
        pug_log_set_sink(log, write_message, text);
        pug_log_set_file(log, file);
        put(log, PUG_SEV_ERROR, PUG_ERR_PACKET_SEQUENCE, "wrong");
        put(log, PUG_SEV_WARN, PUG_OK, "odd");
        put(log, PUG_SEV_INFO, PUG_OK, "so");
        assert_string_equal(text, heard[verbosity]);
        assert_int_equal(pug_log_last(log)->code, PUG_ERR_PACKET_SEQUENCE);
        assert_string_equal(pug_log_last(log)->text, "wrong");
        rewind(file);
        while (fgets(line, sizeof(line), file)) {
            static const char *const words[] = {"wrong", "odd", "so"};
            if (lines < 3)
                assert_non_null(strstr(line, words[lines]));
            lines++;
        }
        assert_int_equal(lines, verbosity); /* none, errors, warnings too, all */
        fclose(file);
        pug_log_free(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_callback),
        cmocka_unit_test(test_custom_element),
        cmocka_unit_test(test_opaque_pointers),
        cmocka_unit_test(test_other_pointers),
        cmocka_unit_test(test_clock_changed),
        cmocka_unit_test(test_frames),
        cmocka_unit_test(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
