# What we stand on; docs/packaging.md gives the reason for each. Required: jansson, xxHash (header only).
# Optional: one codec a library. A codec that is asked for (ON) and not found stops the configuration.
find_package(PkgConfig REQUIRED)

pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson>=2.10)

find_path(XXHASH_INCLUDE_DIR xxhash.h)
if(NOT XXHASH_INCLUDE_DIR)
  message(FATAL_ERROR "xxhash.h not found (Debian: libxxhash-dev)")
endif()

# greedystep_codec(ZLIB zlib) sets GREEDYSTEP_HAVE_ZLIB and makes the target PkgConfig::ZLIB.
function(greedystep_codec name module)
  set(GREEDYSTEP_HAVE_${name} FALSE PARENT_SCOPE)
  if(GREEDYSTEP_${name} STREQUAL "OFF")
    return()
  endif()
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  if(NOT ${name}_FOUND AND "${ARGN}" STREQUAL "header")
    # Debian's libbz2 has no pkg-config file.
    find_package(BZip2 QUIET)
    if(BZIP2_FOUND)
      add_library(PkgConfig::${name} ALIAS BZip2::BZip2)
      set(${name}_FOUND TRUE)
    endif()
  endif()
  if(${name}_FOUND)
    set(GREEDYSTEP_HAVE_${name} TRUE PARENT_SCOPE)
    message(STATUS "codec ${module}: yes")
  elseif(GREEDYSTEP_${name} STREQUAL "ON")
    message(FATAL_ERROR "GREEDYSTEP_${name}=ON, but ${module} was not found")
  else()
    message(STATUS "codec ${module}: no")
  endif()
endfunction()

greedystep_codec(ZLIB zlib)
greedystep_codec(ZSTD libzstd)
greedystep_codec(LZMA liblzma)
greedystep_codec(BZIP2 bzip2 header)
