# Kills, full disks, damaged files, cut links, Slurm. Long ones have the label slow too.
function(gsa_mpi_fault name seconds labels)
  add_test(NAME mpi.${name} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/${ARGN})
  set_tests_properties(mpi.${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS "${labels}" TIMEOUT ${seconds} RUN_SERIAL TRUE)
endfunction()

set(command $<TARGET_FILE:greedystep_cli>)
foreach(mpi IN LISTS GREEDYSTEP_MPIS)
  gsa_mpi_fault(faults_${mpi} 300 mpi faults.sh ${mpi} ${command})
  gsa_mpi_fault(killed_20_times_${mpi} 900 "mpi;slow" killed.sh ${mpi} ${command} 20)
endforeach()
if(openmpi IN_LIST GREEDYSTEP_MPIS)
  gsa_mpi_fault(killed_5_times 300 mpi killed.sh openmpi ${command} 5)
endif()
