// SPDX-License-Identifier: MIT
#include "pugmark/advanced/state.h" /* where it was until 0.3 */
