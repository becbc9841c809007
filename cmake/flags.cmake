# How everything of ours is compiled: one interface target that every target of ours links privately.
add_library(gsa_flags INTERFACE)
target_compile_options(gsa_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  # Same bits with every compiler and on every machine: no fused multiply-add behind our back.
  -ffp-contract=off)
target_compile_definitions(gsa_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
if(APPLE)
  target_compile_definitions(gsa_flags INTERFACE _DARWIN_C_SOURCE) # what POSIX does not have, such as the number of processors
endif()
if(WIN32)
  # The rest of POSIX (windows/posix.h). The headers of the system hide what they have of it in a strict C17.
  set(CMAKE_C_EXTENSIONS ON)
  target_include_directories(gsa_flags BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/windows)
  target_compile_definitions(gsa_flags INTERFACE GSAI_EXPORTS)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "WASI")
  # The rest of POSIX (wasi/posix.h), and what the system's libc has by request.
  target_include_directories(gsa_flags BEFORE INTERFACE ${PROJECT_SOURCE_DIR}/wasi)
  target_compile_definitions(gsa_flags INTERFACE _WASI_EMULATED_SIGNAL _WASI_EMULATED_MMAN _WASI_EMULATED_GETPID)
  target_link_libraries(gsa_flags INTERFACE wasi-emulated-signal wasi-emulated-mman wasi-emulated-getpid)
endif()
target_include_directories(gsa_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)

# A sum of floats must be a float: some processors and compilers compute it wider (x87; gcc for s390x by old custom).
include(CheckCSourceCompiles)
foreach(name_and_options IN ITEMS "PLAIN" "SSE2;-msse2;-mfpmath=sse" "FAST;-fexcess-precision=fast")
  list(POP_FRONT name_and_options name)
  if(name STREQUAL "FAST" AND NOT CMAKE_SYSTEM_PROCESSOR MATCHES "s390")
    continue() # elsewhere it would only hide what is computed
  endif()
  list(JOIN name_and_options " " CMAKE_REQUIRED_FLAGS)
  string(PREPEND CMAKE_REQUIRED_FLAGS "-std=c17 ")
  check_c_source_compiles("#include <float.h>\n_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16, \"wider\");\nint main(void) { return 0; }"
    GREEDYSTEP_FLOATS_ARE_FLOATS_${name})
  if(GREEDYSTEP_FLOATS_ARE_FLOATS_${name})
    target_compile_options(gsa_flags INTERFACE ${name_and_options})
    break()
  endif()
endforeach()
unset(CMAKE_REQUIRED_FLAGS)
if(NOT GREEDYSTEP_FLOATS_ARE_FLOATS_${name})
  message(FATAL_ERROR "This compiler computes floats in a wider type (FLT_EVAL_METHOD is not 0), and models would differ "
    "from those of other machines; on x86 it needs a processor with SSE2")
endif()

# Where a build took place is not in what it made (scripts/reproducible); debuggers of a debug build look for the sources.
target_compile_options(gsa_flags INTERFACE $<$<NOT:$<CONFIG:Debug>>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.>)

if(GREEDYSTEP_WERROR)
  target_compile_options(gsa_flags INTERFACE -Werror)
endif()
if(GREEDYSTEP_SANITIZE)
  target_compile_options(gsa_flags INTERFACE
    -fsanitize=${GREEDYSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gsa_flags INTERFACE -fsanitize=${GREEDYSTEP_SANITIZE})
endif()
if(GREEDYSTEP_COVERAGE)
  target_compile_options(gsa_flags INTERFACE --coverage -fprofile-update=atomic) # tests have threads
  target_link_options(gsa_flags INTERFACE --coverage)
endif()
if(GREEDYSTEP_FUZZ)
  # Everything tells a fuzzer where it goes; only the fuzz targets have one linked in.
  target_compile_options(gsa_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(gsa_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What makes a mistake of ours harder to use for an attacker; tests/policy/hardening.sh looks at the result. Sanitizers bring
# checks of their own, and _FORTIFY_SOURCE needs an optimiser.
set(GREEDYSTEP_IS_HARDENED OFF)
if(GREEDYSTEP_HARDEN AND NOT GREEDYSTEP_SANITIZE AND NOT GREEDYSTEP_COVERAGE)
  include(CheckCCompilerFlag)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C) # CMAKE_POSITION_INDEPENDENT_CODE then also links programs with -pie
  set(GREEDYSTEP_IS_HARDENED ON)
  foreach(option IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "GREEDYSTEP_HAVE${option}" known)
    check_c_compiler_flag("-Werror ${option}" ${known})
    if(${known})
      target_compile_options(gsa_flags INTERFACE ${option})
    endif()
  endforeach()
  # Level 3 where compiler and libc know it (gcc 12, clang 9; glibc 2.34): glibc takes it as 2 with compilers that do not.
  target_compile_options(gsa_flags INTERFACE
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=3>)
  if(NOT APPLE AND NOT WIN32)
    target_link_options(gsa_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  endif()
endif()
