// SPDX-License-Identifier: MIT
#include "pugmark/advanced/tree.h" /* where it was until 0.3 */
