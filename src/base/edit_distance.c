// SPDX-License-Identifier: MIT
#include "base/edit_distance.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 40u /* names that are longer are no slips of each other */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/** The same but for digits? */
static bool differs_in_digits(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isdigit((unsigned char)*a))
            a++;
        while (isdigit((unsigned char)*b))
            b++;
        if (!same(*a, *b))
            return false;
        if (*a == 0)
            return true;
    }
}

/** Optimal string alignment. */
static unsigned distance(const char *a, unsigned rows, const char *b, unsigned columns)
{
    unsigned cost[LONGEST + 1][LONGEST + 1];
    for (unsigned i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (unsigned k = 0; k <= columns; k++)
        cost[0][k] = k;
    for (unsigned i = 1; i <= rows; i++) {
        for (unsigned k = 1; k <= columns; k++) {
            const unsigned change = same(a[i - 1], b[k - 1]) ? 0 : 1;
            cost[i][k] =
                least(least(cost[i - 1][k], cost[i][k - 1]) + 1, cost[i - 1][k - 1] + change);
            if (i > 1 && k > 1 && same(a[i - 1], b[k - 2]) && same(a[i - 2], b[k - 1]))
                cost[i][k] = least(cost[i][k], cost[i - 2][k - 2] + 1);
        }
    }
    return cost[rows][columns];
}

unsigned pug_name_distance(const char *a, const char *b)
{
    const size_t first = strlen(a), second = strlen(b);
    if (first > LONGEST || second > LONGEST)
        return PUG_NAME_FAR;
    const unsigned slips = distance(a, (unsigned)first, b, (unsigned)second);
    const unsigned most = first < 4 ? 0 : first < 8 ? 1 : 2;
    return slips > most || (slips > 0 && differs_in_digits(a, b)) ? PUG_NAME_FAR : slips;
}
