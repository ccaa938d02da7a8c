// SPDX-License-Identifier: MIT
#include "pugmark/advanced/index.h" /* where it was until 0.3 */
