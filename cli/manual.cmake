# The manual, from the tables of the command (docs/decisions/0020): man pages (by scdoc, if it is there), completions for
# bash, zsh and fish, and the command reference of the documentation (BUILD/manual/commands/*.md). Part of `all`.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
  message(STATUS "manual: no, since what is built here does not run here")
  return()
endif()
find_program(GREEDYSTEP_SCDOC scdoc)
if(GREEDYSTEP_SCDOC)
  message(STATUS "manual: yes")
else()
  message(STATUS "manual: without man pages (no scdoc)")
endif()

add_executable(greedystep_manual manual.c)
target_link_libraries(greedystep_manual PRIVATE
  gsa_flags greedystep_frame greedystep_verbs greedystep_comparison gsa_baseline greedystep::static PkgConfig::JANSSON
  ${CMAKE_DL_LIBS})

set(folder ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${folder}/man1 ${folder}/commands)
set(manual_files)
file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/completion/*)
set(pages)

# greedystep_write(FILE COMMAND...): a file of the manual, made again when the tables have changed.
function(greedystep_write file)
  add_custom_command(OUTPUT ${folder}/${file} DEPENDS greedystep_manual ${scripts} VERBATIM
    COMMAND ${ARGN} > ${folder}/${file})
  set(manual_files ${manual_files} ${folder}/${file} PARENT_SCOPE)
endfunction()

# The pages of the command as a whole, then those of its verbs. tests/manual/complete.sh compares this list with the table.
set(dash)
set(page index)
foreach(verb IN ITEMS "" train predict evaluate inspect merge convert export generate compare)
  if(verb)
    set(dash "-")
    set(page ${verb})
  endif()
  greedystep_write(commands/${page}.md greedystep_manual markdown ${verb})
  if(GREEDYSTEP_SCDOC)
    greedystep_write(man1/greedystep${dash}${verb}.1 greedystep_manual scdoc ${verb} | ${GREEDYSTEP_SCDOC})
    list(APPEND pages ${folder}/man1/greedystep${dash}${verb}.1)
  endif()
endforeach()
foreach(script IN ITEMS greedystep.bash _greedystep.zsh greedystep.fish)
  string(REPLACE ".zsh" "" file ${script})
  greedystep_write(${file} greedystep_manual complete ${CMAKE_CURRENT_SOURCE_DIR}/completion/${script})
endforeach()
add_custom_target(manual ALL DEPENDS ${manual_files})

install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${folder}/greedystep.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME greedystep COMPONENT command)
install(FILES ${folder}/_greedystep DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${folder}/greedystep.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
