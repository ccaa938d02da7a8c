// SPDX-License-Identifier: MIT
#include "roff.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MOST 78u

/** A character as it stands for itself. */
static const char *escaped(char c, char own[2])
{
    own[0] = c;
    own[1] = 0;
    switch (c) {
    case '\\': return "\\e";
    case '-': return "\\-";
    case '~': return "\\(ti";
    case '^': return "\\(ha";
    case '`': return "\\(ga";
    case '\'': return "\\(aq";
    default: return own;
    }
}

void roff_command(FILE *file, const char *line)
{
    while (strlen(line) > LINE_MOST - 8) {
        size_t at = LINE_MOST - 8;
        while (at > 0 && line[at] != ' ')
            at--;
        if (at == 0)
            break;
        char part[LINE_MOST];
        memcpy(part, line, at);
        part[at] = 0;
        roff_words(file, part);
        fputs(" \\e\n    ", file);
        line += at + 1;
    }
    roff_words(file, line);
}

void roff_words(FILE *file, const char *words)
{
    char own[2];
    if (*words == '.' || *words == '\'')
        fputs("\\&", file);
    for (; *words; words++)
        fputs(escaped(*words, own), file);
}

/* ---- filling lines ---- */

struct fill {
    FILE *file;
    char word[1024]; /* with its escapes */
    size_t size, column;
    bool code, italic;
};

static void put_word(struct fill *fill)
{
    if (fill->size == 0)
        return;
    fill->word[fill->size] = 0;
    if (fill->column > 0 && fill->column + 1 + fill->size > LINE_MOST) {
        fputc('\n', fill->file);
        fill->column = 0;
    }
    if (fill->column > 0)
        fputc(' ', fill->file);
    else if (fill->word[0] == '.' || fill->word[0] == '\'')
        fputs("\\&", fill->file);
    fputs(fill->word, fill->file);
    fill->column += fill->size + (fill->column > 0);
    fill->size = 0;
}

static void add(struct fill *fill, const char *text)
{
    const size_t size = strlen(text);
    if (fill->size + size + 1 >= sizeof(fill->word))
        put_word(fill);
    memcpy(fill->word + fill->size, text, size);
    fill->size += size;
}

static void end_line(struct fill *fill)
{
    put_word(fill);
    if (fill->column > 0)
        fputc('\n', fill->file);
    fill->column = 0;
}

/** Is a star here an opening or a closing one, and no sign of multiplication? */
static bool is_emphasis(const struct fill *fill, const char *at, const char *line)
{
    if (fill->italic)
        return true;
    return at[1] != ' ' && at[1] != 0 && (at == line || strchr(" (\"[,", at[-1]) || at[-1] == '`');
}

/** One line's words; fonts go on over its end. */
static void put_inline(struct fill *fill, const char *line)
{
    char own[2];
    for (const char *at = line; *at; at++) {
        if (*at == '`') {
            fill->code = !fill->code;
            add(fill, fill->code ? "\\fB" : "\\fR");
        } else if (*at == '*' && !fill->code && is_emphasis(fill, at, line)) {
            fill->italic = !fill->italic;
            add(fill, fill->italic ? "\\fI" : "\\fR");
        } else if (*at == ' ' && fill->code) {
            add(fill, "\\ ");
        } else if (*at == ' ') {
            put_word(fill);
        } else {
            add(fill, escaped(*at, own));
        }
    }
    put_word(fill);
}

/* ---- paragraphs ---- */

enum block { BLOCK_NONE, BLOCK_TEXT, BLOCK_CODE, BLOCK_LIST };

static void begin(struct fill *fill, enum block *block, enum block wanted)
{
    if (*block == wanted && wanted != BLOCK_LIST)
        return;
    end_line(fill);
    if (*block == BLOCK_CODE)
        fputs(".fi\n.RE\n", fill->file);
    if (wanted == BLOCK_CODE)
        fputs(".PP\n.RS 4\n.nf\n", fill->file);
    else if (wanted == BLOCK_LIST)
        fputs(".IP \\(bu 2\n", fill->file);
    else if (wanted == BLOCK_TEXT)
        fputs(".PP\n", fill->file);
    *block = wanted;
}

static void put_line(struct fill *fill, enum block *block, const char *line)
{
    if (!*line) {
        if (*block == BLOCK_TEXT || *block == BLOCK_LIST)
            begin(fill, block, BLOCK_NONE);
    } else if (strncmp(line, "    ", 4) == 0) {
        begin(fill, block, BLOCK_CODE);
        roff_words(fill->file, line + 4);
        fputc('\n', fill->file);
    } else if (strncmp(line, "## ", 3) == 0) {
        begin(fill, block, BLOCK_NONE);
        fprintf(fill->file, ".SS %s\n", line + 3);
    } else if (strncmp(line, "- ", 2) == 0) {
        begin(fill, block, BLOCK_LIST);
        put_inline(fill, line + 2);
    } else {
        if (*block != BLOCK_LIST)
            begin(fill, block, BLOCK_TEXT);
        put_inline(fill, line + strspn(line, " "));
    }
}

void roff_text(FILE *file, const char *markdown)
{
    struct fill fill = {.file = file};
    enum block block = BLOCK_TEXT; /* the first one follows what stands there already */
    char line[4096];
    while (*markdown) {
        const size_t length = strcspn(markdown, "\n");
        const size_t taken = length < sizeof(line) - 1 ? length : sizeof(line) - 1;
        memcpy(line, markdown, taken);
        line[taken] = 0;
        put_line(&fill, &block, line);
        markdown += length + (markdown[length] != 0);
    }
    begin(&fill, &block, BLOCK_NONE);
    end_line(&fill);
}
