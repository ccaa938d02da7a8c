// SPDX-License-Identifier: MIT
#include "check/lexer.h"

#include <string.h>

/** Bytes of "±", and of "≤" and "≥", which are other ways to write three signs. */
#define PLUS_MINUS "\xc2\xb1"

struct cutter {
    struct check_text *texts;
    struct pug_list *errors, *tokens;
    const struct check_rule *rule;
    const char *at;
    uint32_t column;
    bool failed;
};

/** Characters of UTF-8: bytes that go on with one do not count. */
static uint32_t characters(const char *text, size_t size)
{
    uint32_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

static void add(struct cutter *cutter, enum check_token_kind kind, const char *text, size_t size,
                const char *end)
{
    struct check_token *token = pug_list_add(cutter->tokens, sizeof(*token));
    const uint32_t length = characters(cutter->at, (size_t)(end - cutter->at));
    if (!token) {
        cutter->texts->failed = true;
        return;
    }
    token->kind = (uint8_t)kind;
    token->text = pug_check_keep(cutter->texts, text, size);
    token->column = cutter->column;
    token->length = length;
    cutter->column += length;
    cutter->at = end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word(const char *at)
{
    const unsigned char c = (unsigned char)*at;
    if (c >= 0x80)
        return strncmp(at, PLUS_MINUS, 2) != 0 && strncmp(at, "\xe2\x89\xa4", 3) != 0 &&
               strncmp(at, "\xe2\x89\xa5", 3) != 0;
    if (c == ':') /* a::b is one name */
        return at[1] == ':' || at[-1] == ':';
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c != '\0' && strchr("_.-$@*?/~[]", c) != NULL);
}

static void cut_word(struct cutter *cutter)
{
    const char *end = cutter->at;
    const bool number = *end >= '0' && *end <= '9';
    while (is_word(end) && strncmp(end, "+-", 2) != 0)
        end++;
    add(cutter, number ? CHECK_NUMBER : CHECK_WORD, cutter->at, (size_t)(end - cutter->at), end);
}

static void cut_string(struct cutter *cutter)
{
    struct check_text *texts = cutter->texts;
    char room[CHECK_LINE];
    size_t size = 0;
    const char *end = cutter->at + 1;
    for (; *end && *end != '"' && size + 1 < sizeof(room); end++) {
        if (*end == '\\' && (end[1] == '"' || end[1] == '\\'))
            end++;
        room[size++] = *end;
    }
    if (*end != '"') {
        pug_check_wrong(texts, cutter->errors, cutter->rule, cutter->column,
                        characters(cutter->at, strlen(cutter->at)), "the text has no closing \"");
        cutter->failed = true;
        return;
    }
    add(cutter, CHECK_STRING, room, size, end + 1);
}

static bool cut_sign(struct cutter *cutter)
{
    static const struct {
        const char *text, *means;
    } signs[] = {{"<=", "<="},
                 {">=", ">="},
                 {"==", "=="},
                 {"+-", "±"},
                 {PLUS_MINUS, "±"},
                 {"\xe2\x89\xa4", "<="},
                 {"\xe2\x89\xa5", ">="},
                 {"<", "<"},
                 {">", ">"},
                 {":", ":"},
                 {",", ","},
                 {"%", "%"}};
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        const size_t size = strlen(signs[i].text);
        if (strncmp(cutter->at, signs[i].text, size) != 0)
            continue;
        add(cutter, CHECK_SIGN, signs[i].means, strlen(signs[i].means), cutter->at + size);
        return true;
    }
    return false;
}

static void cut_one(struct cutter *cutter)
{
    if (*cutter->at == '"') {
        cut_string(cutter);
    } else if (!cut_sign(cutter)) {
        if (is_word(cutter->at)) {
            cut_word(cutter);
            return;
        }
        pug_check_wrong(cutter->texts, cutter->errors, cutter->rule, cutter->column, 1,
                        *cutter->at == '='
                            ? "a single = compares nothing: did you mean ==?"
                            : "this character means nothing here; names with such characters stand "
                              "in quotes: \"a name\"");
        cutter->failed = true;
    }
}

bool pug_check_cut(struct check_text *texts, struct pug_list *errors, const struct check_rule *rule,
                   const char *line, struct pug_list *tokens)
{
    struct cutter cutter = {
        .texts = texts, .errors = errors, .tokens = tokens, .rule = rule, .at = line, .column = 1};
    while (!cutter.failed && !texts->failed) {
        while (is_blank(*cutter.at)) {
            cutter.at++;
            cutter.column++;
        }
        if (*cutter.at == '\0' || *cutter.at == '#')
            break;
        cut_one(&cutter);
    }
    add(&cutter, CHECK_END, "", 0, cutter.at);
    return !cutter.failed && !texts->failed;
}
