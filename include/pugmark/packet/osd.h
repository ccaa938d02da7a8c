// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/osd.h" /* where it was until 0.3 */
