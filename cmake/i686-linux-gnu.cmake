# Cross-compiles for 32 bits on x86 (SSE2) with the libraries of scripts/sysroot. x86-64 runs it (Debian: libc6-i386), other
# machines do so under qemu-user:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/i686-linux-gnu.cmake -DGREEDYSTEP_SYSROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(CMAKE_C_COMPILER i686-linux-gnu-gcc)
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-i386 -L /usr/i686-linux-gnu)
endif()
set(greedystep_triplet i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
