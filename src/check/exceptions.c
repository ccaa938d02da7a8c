// SPDX-License-Identifier: MIT
/** @file What exceptions mean for rules. */
#include "check/frames.h"

void pug_check_exception_return(struct pug_check *check, struct check_stream *stream)
{
    const uint32_t *rules = stream->doubtful.items;
    if (stream->exceptions > 0 || stream->returned)
        return;
    stream->returned = true;
    stream->version++;
    for (size_t n = 0; n < stream->doubtful.count; n++) {
        const struct check_seen seen = {.core = stream->core, .stream = stream};
        pug_check_doubt(check, rules[n], &seen,
                        "it was entered before the first return from an exception, and the trace "
                        "does not tell whether inside of one");
    }
    stream->doubtful.count = 0;
}

static bool may_be(struct pug_check *check, const struct check_rule *rule, unsigned numbers,
                   uint32_t number)
{
    const char *const *names = rule->list.items;
    for (size_t n = 0; n < rule->list.count; n++)
        if (pug_check_is_exception(check, names[n], numbers, number))
            return true;
    return false;
}

static void order_exception(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                            unsigned numbers, uint32_t number, const struct check_event *stamp)
{
    const struct check_rule *of = &CHECK_TALLY(check, rule)->rule;
    if (of->subject.kind == CHECK_EXCEPTION_NAMED &&
        pug_check_is_exception(check, of->subject.name, numbers, number))
        pug_check_queue_order(check, stream, rule, stamp, CHECK_OP_ENTRY, 0);
    if (of->other.kind == CHECK_EXCEPTION_NAMED &&
        pug_check_is_exception(check, of->other.name, numbers, number))
        pug_check_queue_order(check, stream, rule, stamp, CHECK_OP_OTHER, 0);
}

void pug_check_exception(struct pug_check *check, struct check_stream *stream, unsigned numbers,
                         uint32_t number, const struct check_event *given)
{
    struct check_event stamp;
    char name[64];
    if (given)
        stamp = *given;
    else
        pug_check_stamp_now(check, stream, &stamp);
    const struct check_seen seen = {.core = stream->core, .stream = stream, .stamp = &stamp.stamp};
    pug_exception_text((enum pug_exception_numbers)numbers, number, name, sizeof(name));
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->impossible)
            continue;
        switch (tally->rule.kind) {
        case CHECK_EXCEPTIONS:
            tally->count++;
            if (!may_be(check, &tally->rule, numbers, number))
                pug_check_violate(check, n, &seen, "%s was taken", name);
            break;
        case CHECK_EXCEPTION:
            if (pug_check_is_exception(check, tally->rule.subject.name, numbers, number))
                pug_check_violate(check, n, &seen, "%s was taken", name);
            break;
        case CHECK_WITHIN: order_exception(check, stream, n, numbers, number, &stamp); break;
        default: break;
        }
    }
}
