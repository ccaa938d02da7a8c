// SPDX-License-Identifier: MIT
/** @file With whom inputs are decoded: pugmark is alone, pugmark-mpi is many (cluster/). */
#include "input.h"

static struct pug_peers *others;

void input_among(struct pug_peers *peers)
{
    others = peers;
}

struct pug_peers *input_peers(void)
{
    return others;
}
