# SPDX-License-Identifier: MIT
# Man pages, and Markdown for the book, that the command makes of its own tables. Where the target's programs do not run
# here (no CMAKE_CROSSCOMPILING_EMULATOR) they are left out.
if(NOT TARGET pugmark_tool OR (CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR))
  message(STATUS "man pages: left out, since no program of the target runs here")
  return()
endif()
set(PUG_REFERENCE ${PROJECT_BINARY_DIR}/reference)
file(MAKE_DIRECTORY ${PUG_REFERENCE})
# The date of the pages: SOURCE_DATE_EPOCH, or that of the newest release; before the first one the day of the build.
file(STRINGS ${PROJECT_SOURCE_DIR}/CHANGELOG.md PUG_RELEASES REGEX "^## \\[.*\\] - [0-9]+-[0-9]+-[0-9]+")
if(DEFINED ENV{SOURCE_DATE_EPOCH} OR NOT PUG_RELEASES)
  string(TIMESTAMP PUG_PAGE_DATE "%Y-%m-%d" UTC)
else()
  list(GET PUG_RELEASES 0 PUG_PAGE_DATE)
  string(REGEX REPLACE ".* - " "" PUG_PAGE_DATE "${PUG_PAGE_DATE}")
endif()
file(GLOB PUG_PROSE CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.in ${PROJECT_SOURCE_DIR}/docs/man/commands/*.md)
add_custom_command(OUTPUT ${PUG_REFERENCE}/pugmark.1
  COMMAND pugmark_tool reference --prose ${PROJECT_SOURCE_DIR}/docs/man --date ${PUG_PAGE_DATE} --output ${PUG_REFERENCE}
  DEPENDS pugmark_tool ${PUG_PROSE} VERBATIM)
set(PUG_PAGES ${PUG_REFERENCE}/pugmark.1)
find_program(PUG_PERL perl)
if(PUG_PERL)
  file(GLOB PUG_EVERYDAY CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/pugmark/*.h)
  add_custom_command(OUTPUT ${PUG_REFERENCE}/libpugmark.3
    COMMAND ${PUG_PERL} ${PROJECT_SOURCE_DIR}/docs/man/headers.pl ${PUG_PAGE_DATE} ${PROJECT_VERSION}
      ${PROJECT_SOURCE_DIR}/docs/man/libpugmark.3.in ${PUG_REFERENCE} ${PUG_EVERYDAY}
    DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/headers.pl ${PROJECT_SOURCE_DIR}/docs/man/libpugmark.3.in ${PUG_EVERYDAY} VERBATIM)
  list(APPEND PUG_PAGES ${PUG_REFERENCE}/libpugmark.3)
endif()
add_custom_target(pug_reference ALL DEPENDS ${PUG_PAGES})
install(DIRECTORY ${PUG_REFERENCE}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1"
  PATTERN pugmark-perf.1 EXCLUDE) # which goes with the drop-in
install(DIRECTORY ${PUG_REFERENCE}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 FILES_MATCHING PATTERN "*.3")
