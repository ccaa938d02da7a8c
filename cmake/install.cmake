# SPDX-License-Identifier: MIT
# What `cmake --install`, CPack and the Debian packages (debian/) install. find_package(pugmark) has the components shared, static
# and opencsd, each in a file of its own, so that a package may have one without the others.
include(CMakePackageConfigHelpers)
set(PUG_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/pugmark)
install(TARGETS pugmark EXPORT pugmark-shared-targets
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS pugmark_static EXPORT pugmark-static-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pugmark DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set(PUG_COMPONENTS shared static)
if(TARGET opencsd_c_api)
  list(APPEND PUG_COMPONENTS opencsd)
endif()
foreach(component ${PUG_COMPONENTS})
  install(EXPORT pugmark-${component}-targets NAMESPACE pugmark:: DESTINATION ${PUG_CMAKE_DIR})
endforeach()
configure_package_config_file(cmake/pugmark-config.cmake.in pugmark-config.cmake INSTALL_DESTINATION ${PUG_CMAKE_DIR})
write_basic_package_version_file(pugmark-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pugmark-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/pugmark-config-version.cmake DESTINATION ${PUG_CMAKE_DIR})
# The file finds its prefix from where it lies, so that an installation can be moved.
file(RELATIVE_PATH PUG_PC_TO_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/pugmark.pc.in pugmark.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pugmark.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY share/rtos DESTINATION ${CMAKE_INSTALL_DATADIR}/pugmark)
include(cmake/reference.cmake)
if(NOT WIN32)
  install(FILES completions/pugmark.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME pugmark)
  install(FILES completions/_pugmark DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES completions/pugmark.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# A project's examples, to be read and decoded: the programs in C, and two captures.
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples PATTERN CMakeLists.txt EXCLUDE)

# ---- archives: `cpack --config build/release/CPackConfig.cmake` has what cmake --install has ----
set(CPACK_PACKAGE_NAME pugmark)
set(CPACK_PACKAGE_VENDOR Pugmark)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Decoder of processor trace: CoreSight, RISC-V and Open SoC Debug")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_RESOURCE_FILE_README ${PROJECT_SOURCE_DIR}/README.md)
set(CPACK_GENERATOR TGZ)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
include(CPack)
