// SPDX-License-Identifier: MIT
#include "diagnose/findings.h"

#include <stdlib.h>
#include <string.h>

struct pug_finding_string {
    struct pug_finding_string *before;
    char text[];
};

struct pug_findings *pug_findings_new(void)
{
    return calloc(1, sizeof(struct pug_findings));
}

void pug_findings_clear(struct pug_findings *findings)
{
    for (struct pug_finding_string *string = findings->strings, *before; string; string = before) {
        before = string->before;
        free(string);
    }
    free(findings->items);
    *findings = (struct pug_findings){0};
}

void pug_findings_free(struct pug_findings *findings)
{
    if (findings)
        pug_findings_clear(findings);
    free(findings);
}

static const char *copy(struct pug_findings *findings, const char *text)
{
    const size_t size = text ? strlen(text) + 1 : 1;
    struct pug_finding_string *string = size > 1 ? malloc(sizeof(*string) + size) : NULL;
    findings->failed |= size > 1 && !string;
    if (!string)
        return "";
    string->before = findings->strings;
    findings->strings = string;
    return memcpy(string->text, text, size);
}

static bool reserve(struct pug_findings *findings)
{
    if (findings->count < findings->room)
        return true;
    const size_t room = findings->room * 2 + 8;
    struct pug_finding *items = realloc(findings->items, room * sizeof(*items));
    findings->failed |= !items;
    if (!items)
        return false;
    findings->items = items;
    findings->room = room;
    return true;
}

/** Is a finding of this code about one source? */
static bool has_source(enum pug_finding_code code)
{
    switch (code) {
    case PUG_FINDING_PROGRAM:
    case PUG_FINDING_MEMORY:
    case PUG_FINDING_PARAMETERS:
    case PUG_FINDING_SETTINGS:
    case PUG_FINDING_STRAY:
    case PUG_FINDING_LITTLE:
    case PUG_FINDING_NO_SYNC:
    case PUG_FINDING_NO_BYTES:
    case PUG_FINDING_NOTHING:
    case PUG_FINDING_RATE:
    case PUG_FINDING_NOISE:
    case PUG_FINDING_LOSS:
    case PUG_FINDING_UNDEFINED:
    case PUG_FINDING_AGREES: return true;
    default: return false;
    }
}

static bool has_address(enum pug_finding_code code)
{
    return code == PUG_FINDING_PROGRAM || code == PUG_FINDING_UNMAPPED ||
           code == PUG_FINDING_UNDEFINED;
}

void pug_findings_add(struct pug_findings *findings, const struct pug_finding *finding)
{
    findings->wrong += finding->about == PUG_FINDING_WRONG;
    if (!reserve(findings))
        return;
    struct pug_finding *added = &findings->items[findings->count++];
    *added = *finding;
    added->segment = findings->segment;
    if (!has_source(finding->code))
        added->source = PUG_SOURCE_UNKNOWN;
    if (!has_address(finding->code))
        added->address = PUG_ADDRESS_UNKNOWN;
    added->name = copy(findings, finding->name);
    added->other = copy(findings, finding->other);
    added->settings = copy(findings, finding->settings);
    added->words = copy(findings, finding->words);
    added->format = copy(findings, finding->format);
    added->said = copy(findings, finding->said);
}

const struct pug_finding *pug_finding_at(const struct pug_findings *findings, size_t n)
{
    return findings && n < findings->count ? &findings->items[n] : NULL;
}
