// SPDX-License-Identifier: MIT
#include "support/stm_stream.h"

static const struct pug_setting setting = {.name = "STMTCSR", .value = STM_TCSR};

const struct pug_settings stm_settings = {.items = &setting, .count = 1};

struct stream_run stm_run(struct stream_lines *lines, const struct rec_bytes *bytes)
{
    return (struct stream_run){
        .protocol = "STM",
        .settings = stm_settings,
        .bytes = bytes->data,
        .size = bytes->size,
        .lines = lines,
    };
}

struct rec_bytes stm_nibbles(const char *text)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    rec_stm_nibbles(&stm, text);
    rec_stm_end(&stm);
    return bytes;
}

void stm_assert_lines(const char *stream, struct stream_run run, const char *const *wanted)
{
    struct rec_bytes bytes = stm_nibbles(stream);
    struct stream_lines lines = {0};
    run.protocol = "STM";
    run.settings = stm_settings;
    run.bytes = bytes.data;
    run.size = bytes.size;
    run.lines = &lines;
    run.each_packet = true;
    stream_run(&run);
    stream_assert_lines(&lines, wanted);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}
