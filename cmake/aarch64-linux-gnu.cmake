# Cross-compiles for arm64 with the libraries of scripts/sysroot, and runs tests under qemu-user:
# cmake -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64-linux-gnu.cmake -DGREEDYSTEP_SYSROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
set(greedystep_triplet aarch64-linux-gnu)
set(greedystep_loader ld-linux-aarch64.so.1)
include(${CMAKE_CURRENT_LIST_DIR}/sysroot.cmake)
