# What toolchain files share: libraries, headers and pkg-config files come from GREEDYSTEP_SYSROOT alone.
set(GREEDYSTEP_SYSROOT "" CACHE PATH "A folder that scripts/sysroot made")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GREEDYSTEP_SYSROOT)
if(NOT EXISTS "${GREEDYSTEP_SYSROOT}/complete")
  message(FATAL_ERROR "GREEDYSTEP_SYSROOT is not a folder that scripts/sysroot made")
endif()
set(CMAKE_LIBRARY_ARCHITECTURE ${greedystep_triplet})
set(CMAKE_FIND_ROOT_PATH ${GREEDYSTEP_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(ENV{PKG_CONFIG_LIBDIR} ${GREEDYSTEP_SYSROOT}/usr/lib/${greedystep_triplet}/pkgconfig)

# Programs name loader and libc where Debian's cross compiler has them, since with qemu's -L children of a fork hang (arm64,
# qemu 7.2).
if(greedystep_loader)
  set(CMAKE_EXE_LINKER_FLAGS_INIT
    "-Wl,--dynamic-linker=/usr/${greedystep_triplet}/lib/${greedystep_loader} -Wl,-rpath,/usr/${greedystep_triplet}/lib")
endif()
