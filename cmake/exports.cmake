# SPDX-License-Identifier: MIT
# pug_export_map(FILE HEADER...): write a version script that exports what these headers declare, and
# nothing else. Names in comments do not count; inline functions have no symbol, and do no harm.
function(pug_export_map file)
  set(names "")
  foreach(header ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*[^*]*\\*+([^/*][^*]*\\*+)*/" "" text "${text}")
    string(REGEX REPLACE "//[^\n]*" "" text "${text}")
    string(REGEX MATCHALL "pug_[a-z0-9_]+ *\\(" found "${text}")
    list(APPEND names ${found})
  endforeach()
  list(TRANSFORM names REPLACE " *\\($" "")
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  list(JOIN names ";\n    " lines)
  file(CONFIGURE OUTPUT ${file} CONTENT "{\n  global:\n    @lines@;\n  local: *;\n};\n" @ONLY)
endfunction()
