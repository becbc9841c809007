# CMake does not know WASI: static libraries only, and folders as on Unix.
include(Platform/UnixPaths)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
