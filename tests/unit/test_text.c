// SPDX-License-Identifier: MIT
/**
 * @file Numbers as printf() has them, JSON that is always JSON, tables in their forms, names that
 * cannot steer a terminal.
 */
#include "base/text.h"
#include "text/json.h"
#include "text/lines.h"
#include "text/table.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static struct pug_memory memory;

static struct pug_sink fresh(void)
{
    free(memory.bytes);
    memory = (struct pug_memory){0};
    return pug_memory_sink(&memory);
}

static void expect(const char *text)
{
    struct pug_sink sink = pug_memory_sink(&memory);
    pug_sink_put(&sink, "", 1);
    assert_string_equal(memory.bytes, text);
}

static void json_nests_and_separates(void **state)
{
    static const char long_key[] =
        "a key of more characters than are looked at in one piece, which "
        "nobody would choose";
    (void)state;
    struct pug_sink sink = fresh();
    struct pug_json json = pug_json_begin(&sink);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "name", "main");
    pug_json_array(&json, "counts");
    pug_json_number(&json, NULL, UINT64_MAX);
    pug_json_signed(&json, NULL, -3);
    pug_json_object(&json, NULL);
    pug_json_close(&json);
    pug_json_close(&json);
    pug_json_hex(&json, "at", 0x4000);
    pug_json_real(&json, "share", 0.25);
    pug_json_real(&json, "none", NAN);
    pug_json_real(&json, "most", INFINITY);
    pug_json_bool(&json, "yes", true);
    pug_json_string(&json, "nothing", NULL);
    pug_json_bytes(&json, "raw", (const uint8_t *)"\0\xa5", 2);
    pug_json_bool(&json, "a \"key\"", false);
    pug_json_bool(&json, long_key, false);
    pug_json_close(&json);
    pug_json_line(&json);
    expect(
        "{\"name\": \"main\", \"counts\": [18446744073709551615, -3, {}], \"at\": \"0x4000\", "
        "\"share\": 0.25, \"none\": null, \"most\": null, \"yes\": true, \"nothing\": null, "
        "\"raw\": \"00a5\", \"a \\\"key\\\"\": false, \"a key of more characters than are looked "
        "at in one piece, which nobody would choose\": false}\n");
}

static void json_strings_hold_anything(void **state)
{
    (void)state;
    static const struct {
        const char *value, *json;
    } cases[] = {
        {"", "\"\""},
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1b[31m\x7f", "\"\\u0001\\u001b[31m\\u007f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff\xc3", "\"\\ufffd\\ufffd\""},                       /* no lead byte; cut at the end */
        {"\xc0\xaf", "\"\\ufffd\\ufffd\""},                       /* overlong */
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""},            /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""}, /* beyond the last */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pug_sink sink = fresh();
        struct pug_json json = pug_json_begin(&sink);
        pug_json_string(&json, NULL, cases[i].value);
        expect(cases[i].json);
    }
    struct pug_sink sink = fresh();
    struct pug_json json = pug_json_begin(&sink);
    pug_json_string_n(&json, NULL, "a\0b\xe2\x82\xac", 5); /* with a NUL, cut in a character */
    expect("\"a\\u0000b\\ufffd\\ufffd\"");
}

static const struct pug_column columns[] = {
    {"function", PUG_CELL_TEXT}, {"count", PUG_CELL_NUMBER}, {"at", PUG_CELL_HEX},
    {"share", PUG_CELL_PERCENT}, {"file", PUG_CELL_TEXT},
};

static struct pug_table *sample(void)
{
    struct pug_table *table = pug_table_new(columns, 5);
    assert_non_null(table);
    pug_table_text(table, "gr\xc3\xbc\xc3\x9f,\"e\"");
    pug_table_number(table, 7);
    pug_table_number(table, 0x1f0);
    pug_table_real(table, 0.125);
    pug_table_text(table, "a.c");
    pug_table_text(table, "f\x1b\n");
    pug_table_number(table, 12345678);
    pug_table_none(table);
    pug_table_real(table, 1);
    pug_table_none(table);
    return table;
}

static void tables_have_three_forms(void **state)
{
    (void)state;
    struct pug_table *table = sample();
    struct pug_sink sink = fresh();
    assert_int_equal(pug_table_write(table, PUG_TABLE_TEXT, &sink), PUG_OK);
    expect("function      count     at     share  file\n"
           "gr\xc3\xbc\xc3\x9f,\"e\"          7  0x1f0   12.50 %  a.c\n"
           "f\\x1b\\x0a  12345678      -  100.00 %  -\n");
    sink = fresh();
    assert_int_equal(pug_table_write(table, PUG_TABLE_CSV, &sink), PUG_OK);
    expect("function,count,at,share,file\n"
           "\"gr\xc3\xbc\xc3\x9f,\"\"e\"\"\",7,0x1f0,0.125,a.c\n"
           "\"f\x1b\n\",12345678,,1,\n");
    sink = fresh();
    assert_int_equal(pug_table_write(table, PUG_TABLE_JSON, &sink), PUG_OK);
    expect("{\"function\": \"gr\xc3\xbc\xc3\x9f,\\\"e\\\"\", \"count\": 7, \"at\": \"0x1f0\", "
           "\"share\": 0.125, \"file\": \"a.c\"}\n"
           "{\"function\": \"f\\u001b\\n\", \"count\": 12345678, \"at\": null, \"share\": 1, "
           "\"file\": null}\n");
    pug_table_free(table);
}

static void a_table_without_rows_is_its_heading(void **state)
{
    (void)state;
    struct pug_table *table = pug_table_new(columns, 5);
    struct pug_sink sink = fresh();
    assert_int_equal(pug_table_write(table, PUG_TABLE_TEXT, &sink), PUG_OK);
    expect("function  count  at  share  file\n");
    sink = fresh();
    assert_int_equal(pug_table_write(table, PUG_TABLE_JSON, &sink), PUG_OK);
    expect("");
    pug_table_free(table);
}

static void names_cannot_steer_a_terminal(void **state)
{
    (void)state;
    struct pug_sink sink = fresh();
    pug_sink_printable(&sink, "m\xc3\xa4in\x1b[2J\x07 \xc2\x9b\x33\x31m\xfe\n");
    expect("m\xc3\xa4in\\x1b[2J\\x07 \\xc2\\x9b31m\\xfe\\x0a");
    sink = fresh();
    pug_sink_format(&sink, "%0600d", 5); /* longer than a line */
    assert_int_equal(memory.count, 600);
}

/**
 * A number after `front` other characters, in a buffer of that size: the same as with snprintf().
 */
static void assert_number(uint64_t value, int digits, size_t front, size_t size)
{
    char want[64], got[64];
    memset(want, '#', sizeof(want));
    memset(got, '#', sizeof(got));
    struct pug_text text = PUG_TEXT(got, size);
    pug_text_put_n(&text, "................", front);
    if (digits < 0)
        pug_text_decimal(&text, value);
    else
        pug_text_hex(&text, value, (unsigned)digits);
    const size_t length = pug_text_end(&text);
    const int all =
        digits < 0
            ? snprintf(want, size, "%.*s%" PRIu64, (int)front, "................", value)
            : snprintf(want, size, "%.*s%0*" PRIx64, (int)front, "................", digits, value);
    assert_int_equal(length, all);
    assert_memory_equal(got, want, length < size ? length + 1 : size);
    assert_memory_equal(got + size, want + size, sizeof(got) - size);
}

static void numbers_are_those_of_printf(void **state)
{
    static const int digits[] = {-1, 1, 2, 8, 9, 15, 16};
    (void)state;
    for (unsigned bits = 0; bits <= 64; bits++) {
        const uint64_t power = bits < 64 ? UINT64_C(1) << bits : 0;
        const uint64_t values[] = {power, power - 1, power * 5 / 3,
                                   UINT64_C(0x0123456789abcdef) >> bits % 64};
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            for (size_t d = 0; d < sizeof(digits) / sizeof(digits[0]); d++)
                for (size_t size = 8; size <= 40; size += 8)
                    assert_number(values[i], digits[d], bits % 9, size);
    }
    uint64_t power = 1;
    for (unsigned n = 0; n < 20; n++, power *= 10)
        for (int more = -1; more <= 1; more++)
            assert_number(power + (uint64_t)more, -1, n % 9, 40);
}

static const char *const line_ends[] = {"\n", "\t0x12\n", "\t0xffff\n"};
enum { LINE_ENDS = sizeof(line_ends) / sizeof(line_ends[0]) };

static void near_lines_are_those_of_printf(void **state)
{
    static const uint64_t steps[] = {1, 4, 2, 0xfe, 0x100, 1000, 0x10000, UINT64_MAX / 37};
    static const uint64_t starts[] = {0, 0xf, 0xff, 0x100, 0xffc, 0xffffffff, UINT64_MAX - 9};
    (void)state;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct pug_line_near near = {0};
        uint64_t value = starts[i];
        for (unsigned n = 0; n < 600; n++) {
            const char *const end = line_ends[n / 7 % LINE_ENDS];
            char out[PUG_LINE_MOST + 1], wanted[PUG_LINE_MOST + 1];
            out[PUG_LINE_MOST] = '!';
            *pug_line_put(&near, out, value, pug_line_end(end)) = 0;
            snprintf(wanted, sizeof(wanted), "%" PRIx64 "%s", value, end);
            assert_true(out[PUG_LINE_MOST] == '!' || strlen(wanted) == PUG_LINE_MOST);
            assert_string_equal(out, wanted);
            value += steps[n % 80 < 60 ? 1 : n % (sizeof(steps) / sizeof(steps[0]))];
        }
    }
}

enum { MOST_LINES = 140 };

static void assert_lines(struct pug_lines *lines, uint64_t start, size_t count, const char *text)
{
    static char out[MOST_LINES * PUG_LINE_MOST + PUG_LINES_PIECE + 1], wanted[sizeof(out)];
    const struct pug_line_end end = pug_line_end(text);
    size_t size = 0;
    for (size_t n = 0; n < count; n++)
        size += (size_t)snprintf(wanted + size, sizeof(wanted) - size, "%" PRIx64 "%s",
                                 start + 4 * n, text);
    out[size + PUG_LINES_PIECE] = '!';
    assert_ptr_equal(pug_lines_put(lines, out, start, count, &end), out + size);
    assert_memory_equal(out, wanted, size);
    assert_int_equal(out[size + PUG_LINES_PIECE], '!');
}

/* Each thrice: not kept, made, and kept; among others that have the same place. */
static void many_lines_are_those_of_printf(void **state)
{
    static const uint64_t starts[] = {0,
                                      0xc,
                                      0x30,
                                      0xf0,
                                      0xfe,
                                      0x100,
                                      0xff1,
                                      0xff2,
                                      0x10ff0,
                                      0xffffff0,
                                      0xfffffff0,
                                      0xffffffff8,
                                      UINT64_C(0x55aabbccdd00),
                                      UINT64_C(0x55aabbccdd34),
                                      UINT64_C(0x55aabbcddd00),
                                      UINT64_C(0xffff000008080ffc),
                                      UINT64_MAX - 7};
    static struct pug_lines lines;
    (void)state;
    for (size_t count = 0; count <= MOST_LINES; count += count < 20 ? 1 : 40)
        for (size_t e = 0; e < LINE_ENDS; e++)
            for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
                for (unsigned again = 0; again < 3; again++)
                    assert_lines(&lines, starts[i], count, line_ends[e]);
}

/* Pages that are beside each other in memory do not write over each other. */
static void all_pages_of_lines_are_kept(void **state)
{
    static struct pug_lines lines;
    (void)state;
    for (size_t e = 0; e < LINE_ENDS; e++)
        for (unsigned again = 0; again < 3; again++)
            for (uint64_t at = 0; at < PUG_LINES_PAGES; at++)
                assert_lines(&lines, UINT64_C(0xffffffff87650000) + at * PUG_LINES_SPAN,
                             PUG_LINES_ALL, line_ends[e]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_printf),
        cmocka_unit_test(near_lines_are_those_of_printf),
        cmocka_unit_test(many_lines_are_those_of_printf),
        cmocka_unit_test(all_pages_of_lines_are_kept),
        cmocka_unit_test(json_nests_and_separates),
        cmocka_unit_test(json_strings_hold_anything),
        cmocka_unit_test(tables_have_three_forms),
        cmocka_unit_test(a_table_without_rows_is_its_heading),
        cmocka_unit_test(names_cannot_steer_a_terminal),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(memory.bytes);
    return failed;
}
