// SPDX-License-Identifier: MIT
/** @file Rules about memory: variables that they name, and accesses to them. */
#include "base/edit_distance.h"
#include "check/engine.h"
#include "names/names.h"

#include <inttypes.h>
#include <string.h>

/* ---- variables ---- */

static bool find_variable(struct pug_check *check, struct check_tally *tally)
{
    const char *const name = tally->rule.subject.name;
    struct names_place place;
    struct pug_names_variable variable;
    for (uint32_t n = 0; n < check->object_count; n++) {
        struct pug_names_file *file = check->objects[n].file;
        if (!file || !pug_names_place_of(file, name, &place))
            continue;
        tally->has_variable = true;
        tally->variable = place.at;
        tally->variable_size = place.size > UINT32_MAX ? UINT32_MAX : (uint32_t)place.size;
        tally->variable_signed = pug_names_variable(file, place.at, &variable) &&
                                 variable.size == place.size &&
                                 variable.encoding == PUG_NAMES_SIGNED;
        return true;
    }
    return false;
}

/** The variable with the nearest name; NULL: none is near. */
static const char *nearest_variable(struct pug_check *check, const char *name)
{
    const char *nearest = NULL;
    unsigned least = PUG_NAME_FAR;
    for (uint32_t n = 0; n < check->object_count; n++) {
        unsigned distance = least;
        const char *near = check->objects[n].file
                               ? pug_names_nearest_variable(check->objects[n].file, name, &distance)
                               : NULL;
        if (near && distance < least) {
            least = distance;
            nearest = near;
        }
    }
    return nearest;
}

void pug_check_bind_watch(struct pug_check *check, uint32_t rule, bool program)
{
    struct check_tally *tally = CHECK_TALLY(check, rule);
    const struct check_subject *subject = &tally->rule.subject;
    tally->has_variable = false;
    if (tally->rule.kind != CHECK_WATCH || subject->by_address || find_variable(check, tally))
        return;
    if (!program) {
        if (!tally->impossible)
            pug_check_refuse(check, &tally->rule, subject,
                             "no program with symbols is known, so no variable is: give it with "
                             "--elf FILE, or say an address");
        return;
    }
    const char *near = nearest_variable(check, subject->name);
    pug_check_refuse(check, &tally->rule, subject,
                     pug_check_keep_format(&check->texts, "the program has no variable '%s'%s%s%s",
                                           subject->name, near ? "; did you mean '" : "",
                                           near ? near : "", near ? "'?" : ""));
}

/* ---- accesses ---- */

struct access {
    uint64_t address, value;
    unsigned size; /* 0: not known */
    bool has_value;
};

static bool is_watched(const struct check_tally *tally, const struct access *access)
{
    if (tally->rule.subject.by_address)
        return access->address == tally->rule.subject.number;
    const uint64_t size = tally->variable_size ? tally->variable_size : 1,
                   length = access->size ? access->size : 1;
    return tally->has_variable && access->address < tally->variable + size &&
           tally->variable < access->address + length;
}

/** Is it all of the variable, and not more? */
static bool is_whole(const struct check_tally *tally, const struct access *access)
{
    return !tally->has_variable ||
           (access->address == tally->variable && (access->size == 0 || tally->variable_size == 0 ||
                                                   access->size == tally->variable_size));
}

static void compare(struct pug_check *check, uint32_t rule, const struct access *access,
                    const struct check_seen *seen)
{
    const struct check_tally *tally = CHECK_TALLY(check, rule);
    const unsigned bits = access->size > 0 && access->size < 8 ? 8 * access->size : 64;
    const uint64_t value = bits < 64 ? access->value & ((UINT64_C(1) << bits) - 1) : access->value;
    const struct check_interval one = {value, value};
    if (tally->variable_signed && value >> (bits - 1)) { /* limits are never negative */
        const uint64_t below = (bits < 64 ? UINT64_C(1) << bits : 0) - value;
        if (tally->rule.cmp > CHECK_AT_MOST)
            pug_check_violate(check, rule, seen, "it was -%" PRIu64, below);
    } else if (pug_check_compare(&one, tally->rule.cmp, tally->rule.limit.value) == PUG_VIOLATED) {
        pug_check_violate(check, rule, seen, "it was %" PRIu64, value);
    }
}

void pug_check_access(struct pug_check *check, struct check_core *core, uint64_t address,
                      bool has_value, uint64_t value, unsigned size,
                      const struct check_event *stamp)
{
    const struct check_seen seen = {.core = core, .stamp = &stamp->stamp};
    const struct access access = {address, value, size, has_value};
    check->watches = true;
    check->saw = true;
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->rule.kind != CHECK_WATCH || tally->impossible || !is_watched(tally, &access))
            continue;
        tally->count++;
        if (tally->rule.never)
            pug_check_violate(check, n, &seen, "it was accessed");
        else if (!has_value)
            pug_check_doubt(check, n, &seen, "the trace does not tell the value");
        else if (!is_whole(tally, &access))
            pug_check_doubt(check, n, &seen, "only a part of it was accessed, or more than it");
        else
            compare(check, n, &access, &seen);
    }
}
