// SPDX-License-Identifier: MIT
#include "start.h"

struct node {
    int value;
    struct node *next;
};
static int sum_until(const struct node *node, int stop)
{
    int sum = 0;
    while (node && node->value != stop) {
        sum += node->value;
        node = node->next;
    }
    return sum;
}
int run(void)
{
    struct node c = {3, 0}, b = {2, &c}, a = {1, &b};
    return sum_until(&a, 2) + sum_until(&a, 7) + sum_until(0, 1);
}
