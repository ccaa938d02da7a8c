// SPDX-License-Identifier: MIT
#include "start.h"

enum state { IDLE, RUNNING, DONE };
static enum state step(enum state state, int input)
{
    if (state == IDLE && input == 1)
        return RUNNING;
    if (state == RUNNING && (input == 0 || input == 9))
        return DONE;
    return state;
}
int run(void)
{
    static const int inputs[] = {0, 1, 1, 9, 1};
    enum state state = IDLE;
    for (int i = 0; i < 5; i++)
        state = step(state, inputs[i]);
    return (int)state;
}
