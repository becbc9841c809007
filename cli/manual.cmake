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

add_executable(greedystep_manual
  manual.c manual_about.c manual_bash.c manual_fish.c manual_markdown.c manual_scdoc.c manual_zsh.c)
target_link_libraries(greedystep_manual PRIVATE
  gsa_flags greedystep_verbs gsa_baseline greedystep::static PkgConfig::JANSSON
  ${CMAKE_DL_LIBS})

set(folder ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${folder}/man1 ${folder}/commands)
set(manual_files)
set(pages)

# greedystep_write(FILE COMMAND...): a file of the manual, made again when the tables have changed.
function(greedystep_write file)
  add_custom_command(OUTPUT ${folder}/${file} DEPENDS greedystep_manual VERBATIM
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
greedystep_write(greedystep.bash greedystep_manual bash)
greedystep_write(_greedystep greedystep_manual zsh)
greedystep_write(greedystep.fish greedystep_manual fish)
add_custom_target(manual ALL DEPENDS ${manual_files})

install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${folder}/greedystep.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME greedystep COMPONENT command)
install(FILES ${folder}/_greedystep DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT command)
install(FILES ${folder}/greedystep.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
