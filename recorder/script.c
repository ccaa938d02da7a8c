// SPDX-License-Identifier: MIT
#include "recorder/script.h"

#include "files/outfile.h"
#include "recorder/frames.h"
#include "recorder/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE 4096u

/* ---- words ---- */

bool rec_words_split(char *line, struct rec_words *words)
{
    words->count = 0;
    for (char *at = line;;) {
        at += strspn(at, " \t\r\n");
        if (*at == 0 || *at == '#')
            return true;
        if (words->count == REC_SCRIPT_WORDS)
            return false;
        bool quoted = *at == '"';
        at += quoted;
        words->at[words->count++] = at;
        at += strcspn(at, quoted ? "\"\n" : " \t\r\n");
        if (quoted && *at != '"')
            return false;
        if (*at)
            *at++ = 0;
    }
}

bool rec_words_number(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && *end == 0 && errno == 0 && *value <= most;
}

bool rec_words_numbers(const struct rec_words *words, size_t count, uint64_t *values)
{
    if (words->count != 1 + count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!rec_words_number(words->at[1 + i], UINT64_MAX, &values[i]))
            return false;
    return true;
}

const char *rec_words_value(const struct rec_words *words, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < words->count; i++)
        if (strncmp(words->at[i], name, length) == 0 && words->at[i][length] == '=')
            return words->at[i] + length + 1;
    return NULL;
}

bool rec_words_named(const struct rec_words *words, const char *name, uint64_t most,
                     uint64_t otherwise, uint64_t *value)
{
    const char *text = rec_words_value(words, name);
    *value = otherwise;
    return !text || rec_words_number(text, most, value);
}

bool rec_words_flag(const struct rec_words *words, const char *flag)
{
    for (size_t i = 1; i < words->count; i++)
        if (strcmp(words->at[i], flag) == 0)
            return true;
    return false;
}

/* ---- the snapshot ---- */

const struct rec_script_class *rec_script_find(const char *name)
{
    static const struct {
        const char *name;
        const struct rec_script_class *is;
    } names[] = {{"stm", &rec_script_stm},
                 {"itm", &rec_script_itm},
                 {"dwt", &rec_script_itm},
                 {"osd", &rec_script_osd}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].is;
    return NULL;
}

/** A file of the folder, whole. */
static bool save(const char *folder, const char *name, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return pug_outfile_save(path, bytes, size) == PUG_OK;
}

static bool page_save(struct rec_page *page, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return rec_page_save(page, path);
}

/** source_N.ini; false where there is no such source, or something failed (`*good` then). */
static bool save_source(const struct rec_script_class *of, const struct rec_script *script,
                        const char *folder, unsigned n, bool *good)
{
    struct rec_page registers, page;
    char name[32];
    *good = rec_page_open(&registers);
    if (!*good)
        return false;
    const char *type = of->source(script, n, registers.file);
    *good = rec_page_close(&registers) && (!type || rec_page_open(&page));
    if (*good && type) {
        fprintf(page.file, "[device]\nname=source_%u\nclass=trace_source\ntype=%s\n\n[regs]\n%s", n,
                type, registers.text);
        snprintf(name, sizeof(name), "source_%u.ini", n);
        *good = page_save(&page, folder, name);
    }
    free(registers.text);
    return *good && type;
}

static bool save_snapshot(const struct rec_script_class *of, const struct rec_script *script,
                          const struct rec_bytes *trace, const char *folder)
{
    struct rec_page page;
    unsigned count = 0;
    bool good = true;
    while (save_source(of, script, folder, count, &good))
        count++;
    if (!good || !rec_page_open(&page))
        return false;
    fprintf(page.file,
            "[trace_buffers]\nbuffers=buffer0\n\n[buffer0]\nname=buffer_0\nfile=trace.bin\n"
            "format=%s\n\n[source_buffers]\n",
            of->format);
    for (unsigned n = 0; n < count; n++)
        fprintf(page.file, "source_%u=buffer_0\n", n);
    if (!page_save(&page, folder, "trace.ini") || !rec_page_open(&page))
        return false;
    fprintf(page.file, "[snapshot]\nversion=1.0\ndescription=made by pugmark record\n\n"
                       "[device_list]\n");
    for (unsigned n = 0; n < count; n++)
        fprintf(page.file, "device%u=source_%u.ini\n", n, n);
    fprintf(page.file, "\n[trace]\nmetadata=trace.ini\n");
    return page_save(&page, folder, "snapshot.ini") &&
           save(folder, "trace.bin", trace->data, trace->size);
}

/** All lines. False: `why` says which is wrong. */
static bool take_lines(const struct rec_script_class *of, const struct rec_script_config *config,
                       struct rec_script *script, FILE *lines, char *why, size_t size)
{
    char line[LINE];
    uint64_t events = 0;
    for (unsigned n = 1; fgets(line, sizeof(line), lines); n++) {
        struct rec_words words;
        bool whole = strchr(line, '\n') || feof(lines);
        if (!whole || !rec_words_split(line, &words) ||
            (words.count > 0 && !of->event(script, &words))) {
            snprintf(why, size, "line %u is no event of %s (docs/book/formats/event-script.md)", n,
                     of->name);
            return false;
        }
        events += words.count > 0;
        if (config->read_line)
            config->read_line(config->read_context, lines);
    }
    if (ferror(lines))
        snprintf(why, size, "%s", strerror(errno));
    else if (events == 0)
        snprintf(why, size, "there is no event");
    return events > 0 && !ferror(lines);
}

bool rec_script_record(const struct rec_script_class *of, const struct rec_script_config *config,
                       FILE *lines, const char *folder, char *why, size_t size)
{
    struct rec_bytes out = {0}, framed = {0};
    struct rec_script *script = of->make(config, &out);
    snprintf(why, size, "no memory");
    bool good = script && take_lines(of, config, script, lines, why, size);
    if (good) {
        struct rec_frames frames = {.out = &framed};
        of->end(script);
        if (of->frames) {
            rec_frames_put(&frames, (uint8_t)config->source, out.data, out.size);
            rec_frames_finish(&frames);
        }
        good = !out.failed && !framed.failed;
        if (good && !save_snapshot(of, script, of->frames ? &framed : &out, folder)) {
            snprintf(why, size, "%s", strerror(errno));
            good = false;
        }
    }
    if (script)
        of->free(script);
    rec_bytes_free(&out);
    rec_bytes_free(&framed);
    return good;
}
