# How everything of ours is compiled: one interface target that every target of ours links privately.
add_library(gsa_flags INTERFACE)
target_compile_options(gsa_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  # Same bits with every compiler and on every machine: no fused multiply-add behind our back.
  -ffp-contract=off)
target_compile_definitions(gsa_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
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
  check_c_source_compiles("#include <float.h>\n_Static_assert(FLT_EVAL_METHOD == 0, \"wider\");\nint main(void) { return 0; }"
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

if(GREEDYSTEP_WERROR)
  target_compile_options(gsa_flags INTERFACE -Werror)
endif()
if(GREEDYSTEP_SANITIZE)
  target_compile_options(gsa_flags INTERFACE
    -fsanitize=${GREEDYSTEP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(gsa_flags INTERFACE -fsanitize=${GREEDYSTEP_SANITIZE})
endif()
if(GREEDYSTEP_COVERAGE)
  target_compile_options(gsa_flags INTERFACE --coverage)
  target_link_options(gsa_flags INTERFACE --coverage)
endif()
if(GREEDYSTEP_FUZZ)
  # Everything tells a fuzzer where it goes; only the fuzz targets have one linked in.
  target_compile_options(gsa_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(gsa_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
