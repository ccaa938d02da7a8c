// SPDX-License-Identifier: MIT
#include "recorder/unit.h"

#include <string.h>

static const struct rec_unit_class *const classes[] = {
    &rec_unit_etmv4,  &rec_unit_ete,    &rec_unit_etmv3, &rec_unit_ptm,
    &rec_unit_etrace, &rec_unit_ntrace, &rec_unit_mtb,   &rec_unit_itm};

const struct rec_unit_class *rec_unit_at(unsigned n)
{
    return n < sizeof(classes) / sizeof(classes[0]) ? classes[n] : NULL;
}

const struct rec_unit_class *rec_unit_find(const char *name)
{
    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strcmp(classes[i]->name, name) == 0)
            return classes[i];
    return NULL;
}

int rec_unit_option(const struct rec_unit_class *unit_class, const char *name)
{
    for (unsigned i = 0; i < unit_class->option_count; i++)
        if (strcmp(unit_class->options[i].name, name) == 0)
            return (int)i;
    return -1;
}

void rec_unit_values(const struct rec_unit_class *unit_class, uint8_t family, const bool *given,
                     uint64_t seed, uint64_t *values)
{
    struct rec_random random = {seed};
    for (unsigned i = 0; i < unit_class->option_count; i++) {
        const struct rec_option *option = &unit_class->options[i];
        if (given[i])
            continue;
        values[i] = option->otherwise;
        if (seed && option->random)
            values[i] = rec_random_below(&random, (uint32_t)option->random + 1);
    }
    unit_class->settle(values, family);
}
