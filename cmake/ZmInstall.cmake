# What is installed, and the Debian package.
#
#     bin/zonemark  libexec/zonemark/kbuild-step  share/zonemark/profiles/*.json
#     share/zonemark/qualify/*.yaml
#     share/man/man1/zonemark.1.gz  share/bash-completion/completions/zonemark
#     share/doc/zonemark/{README.md,copyright,*.md,changelog.gz}  share/lintian/overrides/zonemark
#     share/doc/zonemark/examples/zonemark-nightly.cron
#     lib/systemd/system/zonemark-nightly.{service,timer}
#
# The man page and the completion are written by the program itself, from the rows that it runs by.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
find_program(ZM_GZIP gzip)

# A sanitized or foreign program does not write its pages: what is installed is a release.
set(zm_pages)
if(NOT CMAKE_CROSSCOMPILING AND NOT ZM_SANITIZE AND NOT ZM_COVERAGE)
  set(zm_man ${PROJECT_BINARY_DIR}/share/zonemark.1)
  set(zm_completion ${PROJECT_BINARY_DIR}/share/zonemark.bash)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
  add_custom_command(OUTPUT ${zm_man} ${zm_completion} DEPENDS zonemark VERBATIM
    COMMAND zonemark help --as man > ${zm_man}
    COMMAND zonemark help --as bash > ${zm_completion}
    COMMENT "Writing the man page and the completion")
  set(zm_pages ${zm_man} ${zm_completion})
  if(ZM_GZIP)
    add_custom_command(OUTPUT ${zm_man}.gz DEPENDS ${zm_man} VERBATIM
      COMMAND ${ZM_GZIP} -9nc ${zm_man} > ${zm_man}.gz COMMENT "Compressing the man page")
    list(APPEND zm_pages ${zm_man}.gz)
    set(zm_man ${zm_man}.gz)
  endif()
  add_custom_target(zm_pages ALL DEPENDS ${zm_pages})
  install(FILES ${zm_man} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${zm_completion} RENAME zonemark
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()

install(TARGETS zonemark DESTINATION ${CMAKE_INSTALL_BINDIR})
# They are in the program, too; as files they are there to be read and to begin one's own from.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/runner/qualify/profiles/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zonemark/qualify FILES_MATCHING PATTERN *.yaml)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(GLOB zm_docs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${zm_docs} DESTINATION ${CMAKE_INSTALL_DOCDIR})

# A Debian package has one, and compressed.
set(CPACK_PACKAGE_CONTACT "zonemark developers <developers@zonemark.invalid>")
if(ZM_GZIP)
  set(zm_changelog ${PROJECT_BINARY_DIR}/share/changelog)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/changelog.in ${zm_changelog} @ONLY)
  add_custom_command(OUTPUT ${zm_changelog}.gz DEPENDS ${zm_changelog} VERBATIM
    COMMAND ${ZM_GZIP} -9nc ${zm_changelog} > ${zm_changelog}.gz COMMENT "Compressing the changelog")
  add_custom_target(zm_changelog ALL DEPENDS ${zm_changelog}.gz)
  install(FILES ${zm_changelog}.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/lintian-overrides RENAME zonemark
          DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides)
endif()

set(zm_units ${PROJECT_SOURCE_DIR}/runner/nightly_units)
install(FILES ${zm_units}/zonemark-nightly.service ${zm_units}/zonemark-nightly.timer
        DESTINATION lib/systemd/system)
install(FILES ${zm_units}/zonemark-nightly.cron DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME zonemark)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DESCRIPTION
"Runs the workloads by which changes to the Linux page allocator are judged,
with the same system calls, sizes and counting as the field's own programs,
keeps all that it measured in one file, and shows it: throughput, where it
went, and the used-memory curve.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gnuplot-nox | gnuplot")
include(CPack)
