// SPDX-License-Identifier: MIT
/**
 * @file libopencsd.so: builds of OpenCSD's clients link it beside the C API library. Nothing is in
 * it; the C++ API that it has elsewhere is not offered.
 */
extern const int opencsd_has_no_cpp_api;
const int opencsd_has_no_cpp_api = 1;
