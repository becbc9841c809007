# What `cmake --install` puts where, in components (docs/packaging.md): library, what a program needs to run; development,
# what it needs to be built; command, which installs itself in cli/; mpi, in src/mpi/; python.
include(CMakePackageConfigHelpers)

set(headers_left_out)
if(NOT GREEDYSTEP_MPIS)
  set(headers_left_out PATTERN "mpi.h" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/greedystep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" ${headers_left_out})
install(TARGETS greedystep_shared greedystep_static EXPORT greedystepTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
# Either of the two holds all of our code, and goes with its licences.
foreach(component IN ITEMS library command)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR}
    COMPONENT ${component})
endforeach()

# What a program that links the static library must link too. Debian's libbz2 has no pkg-config file, so it goes by its
# plain name.
set(static_modules jansson)
set(static_libraries pthread m)
foreach(pair IN ITEMS ZLIB:zlib ZSTD:libzstd LZMA:liblzma)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 codec)
  list(GET pair 1 module)
  if(GREEDYSTEP_HAVE_${codec})
    list(APPEND static_modules ${module})
  endif()
endforeach()
if(GREEDYSTEP_HAVE_BZIP2)
  list(PREPEND static_libraries bz2)
endif()

# The prefix is written relative to the file's own place, so that the tree can be moved.
file(RELATIVE_PATH pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
list(JOIN static_modules " " pc_requires_private)
list(TRANSFORM static_libraries PREPEND -l OUTPUT_VARIABLE pc_libs_private)
list(JOIN pc_libs_private " " pc_libs_private)
configure_file(${PROJECT_SOURCE_DIR}/cmake/greedystep.pc.in ${PROJECT_BINARY_DIR}/cmake/greedystep.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/greedystep.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/greedystep)
install(EXPORT greedystepTargets NAMESPACE greedystep:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/greedystepConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/greedystepConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
else()
  set(compatibility SameMajorVersion)
endif()
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/greedystepConfigVersion.cmake
  COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/cmake/greedystepConfig.cmake
  ${PROJECT_BINARY_DIR}/cmake/greedystepConfigVersion.cmake DESTINATION ${package_dir} COMPONENT development)

# The Python package (pyproject.toml) takes one copy of the library, beside its modules, and the command with the program that it runs.
if(SKBUILD)
  install(FILES $<TARGET_FILE:greedystep_shared> DESTINATION greedystep RENAME libgreedystep${CMAKE_SHARED_LIBRARY_SUFFIX}
    COMPONENT python)
  install(PROGRAMS $<TARGET_FILE:greedystep_cli> $<TARGET_FILE:greedystep_compare> DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
  if(IS_DIRECTORY "${GREEDYSTEP_SYSROOT}/licences") # of the libraries that cmake/foreign.cmake links
    install(DIRECTORY ${GREEDYSTEP_SYSROOT}/licences DESTINATION greedystep COMPONENT python)
  endif()
endif()
