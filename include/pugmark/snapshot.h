// SPDX-License-Identifier: MIT
#include "pugmark/advanced/snapshot.h" /* where it was until 0.3 */
