# SPDX-License-Identifier: MIT
# Builds for another Linux host and runs its programs under QEMU: PUG_HOST says for which. PUG_HOST_ROOT has
# its libraries (root.sh).
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PUG_HOST PUG_HOST_ROOT)
set(host_i386 i686-linux-gnu i386-linux-gnu i386)
set(host_armhf arm-linux-gnueabihf arm-linux-gnueabihf arm)
set(host_arm64 aarch64-linux-gnu aarch64-linux-gnu aarch64)
set(host_s390x s390x-linux-gnu s390x-linux-gnu s390x)
list(GET host_${PUG_HOST} 0 compiler)
list(GET host_${PUG_HOST} 1 folder)
list(GET host_${PUG_HOST} 2 qemu)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${PUG_HOST})
set(CMAKE_C_COMPILER ${compiler}-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE ${folder})
set(CMAKE_SYSROOT ${PUG_HOST_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${qemu} -L ${PUG_HOST_ROOT})
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${PUG_HOST_ROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${PUG_HOST_ROOT}/usr/lib/${folder}/pkgconfig:${PUG_HOST_ROOT}/usr/share/pkgconfig)
