# How everything of ours is compiled: one interface target that every target of ours links privately.
add_library(gsa_flags INTERFACE)
target_compile_options(gsa_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
  # Same bits with every compiler and on every machine: no fused multiply-add behind our back.
  -ffp-contract=off)
target_compile_definitions(gsa_flags INTERFACE _POSIX_C_SOURCE=200809L _FILE_OFFSET_BITS=64)
target_include_directories(gsa_flags INTERFACE ${PROJECT_SOURCE_DIR}/include)

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
