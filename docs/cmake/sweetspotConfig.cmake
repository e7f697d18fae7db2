# find_package(sweetspot): the program as the target sweetspot::sweetspot, its files as SWEETSPOT_TEMPLATES and
# SWEETSPOT_CONFIGS, and
#
#   sweetspot_add_header(<target> <job> [HEADER <file>] [STORE <file>] [ALLOW_STALE])
#
# which lets <target> include the header of a tuned job. Without HEADER it is written anew from the job's results, as
# <name of the job file>_best.h; with HEADER it is that file, as it was checked in with the sources. Every build then
# checks that the template is still the one that was measured, and stops where it is not (with ALLOW_STALE it warns).
# When the template or the header changes, the target's sources are compiled again. STORE is the job's database, if
# it is not where `sweetspot tune` puts it.
get_filename_component(_sweetspot_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(SWEETSPOT_TEMPLATES "${_sweetspot_prefix}/share/sweetspot/templates")
set(SWEETSPOT_CONFIGS "${_sweetspot_prefix}/share/sweetspot/configs")
set(_sweetspot_script "${CMAKE_CURRENT_LIST_DIR}/sweetspotHeader.cmake")

if(NOT TARGET sweetspot::sweetspot)
  add_executable(sweetspot::sweetspot IMPORTED)
  set_target_properties(sweetspot::sweetspot PROPERTIES IMPORTED_LOCATION "${_sweetspot_prefix}/bin/sweetspot")
endif()

function(sweetspot_add_header target job)
  cmake_parse_arguments(PARSE_ARGV 2 given "ALLOW_STALE" "HEADER;STORE" "")
  if(given_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sweetspot_add_header: unknown arguments '${given_UNPARSED_ARGUMENTS}' "
      "(known: HEADER, STORE, ALLOW_STALE)")
  endif()
  get_filename_component(name "${job}" NAME_WE)
  get_filename_component(job "${job}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT EXISTS "${job}")
    message(FATAL_ERROR "sweetspot_add_header: there is no job file '${job}'")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${target}_sweetspot")
  set(stamp "${folder}/${name}_hash.txt")
  if(given_HEADER)
    get_filename_component(header "${given_HEADER}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    set(made OFF)
    set(byproducts "${stamp}")
  else()
    set(header "${folder}/${name}_best.h")
    set(made ON)
    set(byproducts "${stamp}" "${header}")
  endif()
  if(given_STORE)
    get_filename_component(given_STORE "${given_STORE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  if(NOT EXISTS "${stamp}") # a dependency that no rule makes must be there
    file(WRITE "${stamp}" "")
  endif()
  add_custom_target(${target}_${name}_header
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:sweetspot::sweetspot>" "-DJOB=${job}" "-DHEADER=${header}"
      "-DMADE=${made}" "-DSTORE=${given_STORE}" "-DSTAMP=${stamp}" "-DALLOW_STALE=${given_ALLOW_STALE}"
      -P "${_sweetspot_script}"
    BYPRODUCTS ${byproducts} WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" VERBATIM
    COMMENT "sweetspot: the header of ${name}")
  add_dependencies(${target} ${target}_${name}_header)
  get_filename_component(folder "${header}" DIRECTORY)
  target_include_directories(${target} PRIVATE "${folder}")
  get_target_property(sources ${target} SOURCES)
  if(sources)
    set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${stamp}")
  endif()
endfunction()
