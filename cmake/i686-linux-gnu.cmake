# Cross-compiles for 32 bits on x86 (SSE2) with the libraries of scripts/sysroot, and runs tests under qemu-user:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/i686-linux-gnu.cmake -DGREEDYSTEP_SYSROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386 -L /usr/i686-linux-gnu)
set(greedystep_triplet i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
