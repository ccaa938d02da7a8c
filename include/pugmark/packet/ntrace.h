// SPDX-License-Identifier: MIT
#include "pugmark/advanced/packet/ntrace.h" /* where it was until 0.3 */
