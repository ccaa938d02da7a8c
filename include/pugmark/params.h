// SPDX-License-Identifier: MIT
#include "pugmark/advanced/params.h" /* where it was until 0.3 */
