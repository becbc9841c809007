# Cross-compiles for s390x (64 bits, big-endian) with the libraries of scripts/sysroot, and runs tests under qemu-user:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/s390x-linux-gnu.cmake -DGREEDYSTEP_SYSROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR s390x)
set(CMAKE_C_COMPILER s390x-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x)
set(greedystep_triplet s390x-linux-gnu)
set(greedystep_loader ld64.so.1)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
