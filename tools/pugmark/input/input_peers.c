// SPDX-License-Identifier: MIT
/** @file With whom inputs are decoded: pugmark is alone, pugmark-mpi is many (cluster/). */
#include "input.h"

static struct pug_peers *others;

void input_among(struct pug_peers *peers)
{
    others = peers;
}

static const struct input_spread *spread;

void input_spread_over(const struct input_spread *wanted)
{
    spread = wanted;
}

const struct input_spread *input_spread(void)
{
    return spread;
}

struct pug_peers *input_peers(void)
{
    return others;
}
