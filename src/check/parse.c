// SPDX-License-Identifier: MIT
/**
 * @file Rules from their text: lines, names, scopes. The grammar is in docs/book/answers/check.md.
 * A line's first mistake is reported, with what was expected there; the next line is read all the
 * same.
 */
#include "check/reader.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

/** "each thread", "each core", "thread NAME", "all". */
static void take_scope(struct reader *reader)
{
    static const char *const words[] = {"each", "thread", "all"}, *const each[] = {"thread",
                                                                                   "core"};
    if (pug_rule_take(reader, "all"))
        return;
    if (pug_rule_take(reader, "thread")) {
        reader->rule.scope = CHECK_SCOPE_THREAD;
        reader->rule.thread = pug_rule_name(reader, "a thread's name");
    } else if (!pug_rule_take(reader, "each")) {
        pug_rule_expected(reader, "'each thread', 'each core', 'thread NAME' or 'all'", words, 3);
    } else if (pug_rule_take(reader, "thread")) {
        reader->rule.scope = CHECK_SCOPE_THREADS;
    } else if (pug_rule_take(reader, "core")) {
        reader->rule.scope = CHECK_SCOPE_CORES;
    } else {
        pug_rule_expected(reader, "'thread' or 'core'", each, 2);
    }
}

/** Kinds of rules that are not about what threads or cores do one by one. */
static bool has_scope(const struct check_rule *rule)
{
    return rule->kind != CHECK_COVERED && rule->kind != CHECK_PROGRAM &&
           rule->kind != CHECK_SHARE && rule->kind != CHECK_PORT && rule->kind != CHECK_WATCH &&
           rule->kind != CHECK_NO_LOSS && rule->kind != CHECK_NO_GAP;
}

static void take_end(struct reader *reader)
{
    static const char *const words[] = {"for", "unless"};
    const struct check_token *token = reader->at;
    if (pug_rule_take(reader, "for"))
        take_scope(reader);
    if (!reader->failed && reader->rule.scope != CHECK_SCOPE_ALL && !has_scope(&reader->rule))
        pug_rule_wrong(reader, token, "this rule is about the whole trace: it has no scope");
    if (pug_rule_take(reader, "unless")) {
        pug_rule_want(reader, "undecided");
        reader->rule.unless_undecided = true;
    }
    if (!reader->failed && reader->at->kind != CHECK_END)
        pug_rule_expected(reader, "the end of the rule, 'for', or 'unless undecided'", words, 2);
}

/** "NAME:" in front. */
static void take_label(struct reader *reader)
{
    if (reader->at->kind == CHECK_END || !pug_rule_is(reader->at + 1, ":"))
        return;
    reader->rule.name = pug_rule_name(reader, "the rule's name");
    reader->at++;
}

/** The rule without blanks around it and without its comment, as reports show it. */
static const char *tidy(struct check_text *texts, const struct check_token *tokens,
                        const char *line)
{
    const struct check_token *last = tokens;
    size_t from, to, at = 0;
    uint32_t column = 1;
    while (last->kind != CHECK_END)
        last++;
    if (last == tokens)
        return "";
    const uint32_t end = last[-1].column + last[-1].length;
    for (from = to = strlen(line); line[at]; at++) {
        if (((unsigned char)line[at] & 0xc0) == 0x80)
            continue;
        if (column == tokens->column)
            from = at;
        if (column == end)
            to = at;
        column++;
    }
    return pug_check_keep(texts, line + from, to - from);
}

static void read_rule(struct check_text *texts, struct check_rule rule, struct pug_list *rules,
                      struct pug_list *errors)
{
    struct pug_list tokens = {0};
    struct reader reader = {.texts = texts, .errors = errors, .rule = rule};
    if (pug_check_cut(texts, errors, &rule, rule.line_text, &tokens)) {
        /* three ends after the last word, so that none looks beyond them */
        const struct check_token end = ((struct check_token *)tokens.items)[tokens.count - 1];
        for (int i = 0; i < 3; i++) {
            struct check_token *more = pug_list_add(&tokens, sizeof(*more));
            if (more)
                *more = end;
            else
                texts->failed = true;
        }
        reader.tokens = reader.at = tokens.items;
        if (!texts->failed && reader.at->kind != CHECK_END) {
            reader.rule.text = tidy(texts, reader.tokens, rule.line_text);
            take_label(&reader);
            pug_rule_body(&reader);
            take_end(&reader);
            struct check_rule *kept =
                reader.failed ? NULL : pug_list_add(rules, sizeof(struct check_rule));
            if (kept)
                *kept = reader.rule;
            else
                free(reader.rule.list.items);
            texts->failed |= !reader.failed && !kept;
        }
    }
    free(tokens.items);
}

/** The next line with those that "\" joins to it; returns how many lines that were. */
static uint32_t next_line(const char **at, const char *end, char *room, size_t *size, bool *fits)
{
    uint32_t lines = 0;
    bool more = true;
    *size = 0;
    *fits = true;
    while (more && *at < end) {
        const char *stop = memchr(*at, '\n', (size_t)(end - *at));
        const char *next = stop ? stop + 1 : end;
        size_t length = (size_t)((stop ? stop : end) - *at);
        while (length > 0 && (*at)[length - 1] == '\r')
            length--;
        more = length > 0 && (*at)[length - 1] == '\\';
        length -= more;
        if (*size + length + 2 > CHECK_LINE) {
            *fits = false;
        } else {
            memcpy(room + *size, *at, length);
            *size += length;
            if (more)
                room[(*size)++] = ' ';
        }
        *at = next;
        lines++;
    }
    return lines;
}

enum pug_status pug_check_parse(struct check_text *texts, const char *file, const char *text,
                                size_t size, struct pug_list *rules, struct pug_list *errors)
{
    const char *at = text, *const end = text + size;
    const size_t before = errors->count;
    uint32_t line = 1;
    char *room = malloc(CHECK_LINE);
    if (!room)
        return PUG_ERR_MEM;
    const char *const kept = pug_check_keep(texts, file, strlen(file));
    enum pug_status status = PUG_OK;
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        at += 3;
    while (at < end && status == PUG_OK && !texts->failed) {
        size_t length;
        bool fits;
        const uint32_t lines = next_line(&at, end, room, &length, &fits);
        struct check_rule rule = {.file = kept, .line = line};
        line += lines;
        if (!fits || rules->count == CHECK_RULES) {
            status = PUG_ERR_LIMIT;
            break;
        }
        rule.line_text = pug_check_keep(texts, room, length);
        if (memchr(room, '\0', length)) {
            pug_check_wrong(texts, errors, &rule, (uint32_t)strlen(rule.line_text) + 1, 1,
                            "a zero byte: this is no text");
            break;
        }
        read_rule(texts, rule, rules, errors);
    }
    free(room);
    if (texts->failed)
        return PUG_ERR_MEM;
    return status == PUG_OK && errors->count > before ? PUG_ERR_FORMAT : status;
}
