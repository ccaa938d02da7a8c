# SPDX-License-Identifier: MIT
include(CMakePackageConfigHelpers)
install(TARGETS pugmark pugmark_static EXPORT pugmark-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/pugmark DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT pugmark-targets NAMESPACE pugmark:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pugmark)
configure_package_config_file(cmake/pugmark-config.cmake.in pugmark-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pugmark)
write_basic_package_version_file(pugmark-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/pugmark-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/pugmark-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/pugmark)
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
