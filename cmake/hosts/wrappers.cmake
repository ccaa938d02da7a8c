# SPDX-License-Identifier: MIT
# Programs for another host are in foreign/; under their names in bin/ are scripts that run them in the emulator,
# for the tests that are scripts.
list(JOIN CMAKE_CROSSCOMPILING_EMULATOR " " emulator)
foreach(room ${PUG_ROOMS})
  get_property(targets DIRECTORY ${PROJECT_SOURCE_DIR}/${room} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(NOT type STREQUAL EXECUTABLE)
      continue()
    endif()
    get_target_property(name ${target} OUTPUT_NAME)
    if(NOT name)
      set(name ${target})
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/foreign)
    file(WRITE ${CMAKE_BINARY_DIR}/bin/${name}
      "#!/bin/sh\nexec ${emulator} ${CMAKE_BINARY_DIR}/foreign/${name}${CMAKE_EXECUTABLE_SUFFIX} \"$@\"\n")
    file(CHMOD ${CMAKE_BINARY_DIR}/bin/${name} PERMISSIONS
      OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
endforeach()
