# The reference of the C library, by Doxygen if it is there: cmake --build BUILD --target api makes BUILD/api/index.html.
find_program(GREEDYSTEP_DOXYGEN doxygen)
find_program(GREEDYSTEP_AWK awk)
if(NOT GREEDYSTEP_DOXYGEN OR NOT GREEDYSTEP_AWK)
  message(STATUS "API reference: no (doxygen)")
  return()
endif()
configure_file(${PROJECT_SOURCE_DIR}/docs/api/Doxyfile.in ${PROJECT_BINARY_DIR}/cmake/Doxyfile @ONLY)
add_custom_target(api COMMAND ${GREEDYSTEP_DOXYGEN} ${PROJECT_BINARY_DIR}/cmake/Doxyfile VERBATIM
  COMMENT "API reference: ${PROJECT_BINARY_DIR}/api/index.html")
