# For vcpkg: never published. scripts/packages fills in what stands between @.
vcpkg_download_distfile(ARCHIVE
  URLS "@download@"
  FILENAME "greedystep-${VERSION}-source.tar.gz"
  SHA512 @sha512@)
vcpkg_extract_source_archive(SOURCE_PATH ARCHIVE "${ARCHIVE}")

set(codecs)
foreach(codec IN ITEMS zlib zstd lzma bzip2)
  string(TOUPPER "${codec}" name)
  if(codec IN_LIST FEATURES)
    list(APPEND codecs "-DGREEDYSTEP_${name}=ON")
  else()
    list(APPEND codecs "-DGREEDYSTEP_${name}=OFF")
  endif()
endforeach()
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DGREEDYSTEP_MPI=OFF "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}" ${codecs})
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/greedystep)
vcpkg_fixup_pkgconfig()
vcpkg_copy_tools(TOOL_NAMES greedystep greedystep-compare AUTO_CLEAN)
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
