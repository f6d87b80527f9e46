# Tests stand beside what they test: FOLDER/tests/test_FILE.c becomes the CTest FOLDER/FILE.
#
#   zm_tests(FOLDER dir LIBRARIES …)
#     every test_*.c of FOLDER/tests, a cmocka program each. A first comment may hold lines
#       labels: known serial        (CTest labels; all but unit, replay, fuzz: it runs alone)
#       timeout: 900                (seconds; 300 otherwise, 600 for CLI tests)
#       links: -Wl,--wrap=malloc    (link options)
#     Exit status 77 is a skip.
#   zm_bats(FOLDER dir)
#     every *.bats of FOLDER/tests/cli, run against the built program; the CTest FOLDER/cli/FILE with
#     the label cli. The same comment lines hold. They find the program in $ZONEMARK, the sources in
#     $ZM_SOURCE_DIR and the build in $ZM_BINARY_DIR, and begin with `load helper`.
#   zm_test_properties(TEST SOURCE LABEL)
#     for tests that are neither.
#
# -DZM_VALGRIND=ON runs the cmocka programs under valgrind.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()
enable_testing()
pkg_check_modules(ZM_CMOCKA QUIET IMPORTED_TARGET cmocka)
find_program(ZM_BATS bats)
option(ZM_VALGRIND "Run the unit tests under valgrind" OFF)

set(zm_test_launcher)
if(ZM_VALGRIND)
  find_program(ZM_VALGRIND_PROGRAM valgrind REQUIRED)
  set(zm_test_launcher ${ZM_VALGRIND_PROGRAM} --quiet --error-exitcode=99 --leak-check=full
      --errors-for-leak-kinds=definite --trace-children=no)
endif()

function(zm_tests)
  cmake_parse_arguments(arg "" "FOLDER" "LIBRARIES" ${ARGN})
  if(NOT ZM_CMOCKA_FOUND)
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FOLDER}/tests/test_*.c)
  cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  foreach(source IN LISTS sources)
    cmake_path(GET source STEM stem)
    string(REGEX REPLACE "^test_" "" noun ${stem})
    string(MAKE_C_IDENTIFIER "test_${room}_${noun}" target)
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} zm::build PkgConfig::ZM_CMOCKA)
    # gcc 12 takes what open_memstream wrote for a part of the pointer that it was given.
    target_compile_options(${target} PRIVATE
      $<$<AND:$<C_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<C_COMPILER_VERSION>,12>>:-Wno-dangling-pointer>)
    file(STRINGS ${source} links_line REGEX "^[ #*]*links: " LIMIT_COUNT 1)
    if(links_line)
      string(REGEX REPLACE ".*links: *" "" links "${links_line}")
      separate_arguments(links UNIX_COMMAND "${links}")
      target_link_options(${target} PRIVATE ${links})
    endif()
    set_target_properties(${target} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
    target_compile_definitions(${target} PRIVATE
      ZM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" ZM_PROGRAM="${PROJECT_BINARY_DIR}/bin/zonemark")
    add_test(NAME ${room}/${noun} COMMAND ${zm_test_launcher} $<TARGET_FILE:${target}>)
    zm_test_properties(${room}/${noun} ${source} unit)
  endforeach()
endfunction()

function(zm_bats)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  if(NOT ZM_BATS)
    return()
  endif()
  file(GLOB scripts CONFIGURE_DEPENDS ${arg_FOLDER}/tests/cli/*.bats)
  cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
  foreach(script IN LISTS scripts)
    cmake_path(GET script STEM stem)
    set(test ${room}/cli/${stem})
    add_test(NAME ${test} COMMAND ${ZM_BATS} ${script})
    zm_test_properties(${test} ${script} cli)
    set_tests_properties(${test} PROPERTIES ENVIRONMENT
      "ZONEMARK=$<TARGET_FILE:zonemark>;ZM_SOURCE_DIR=${PROJECT_SOURCE_DIR};ZM_BINARY_DIR=${PROJECT_BINARY_DIR}")
  endforeach()
endfunction()

# Labels and time-out of a test from the lines `labels:` and `timeout:` of its file. A time-out is for
# what hangs; nothing is measured by it, and a machine may stand still for a minute in the midst of a test: none is
# shorter than the usual one. What is not known to bear company runs alone.
function(zm_test_properties test source default_label)
  file(STRINGS ${source} label_line REGEX "^[ #*]*labels: " LIMIT_COUNT 1)
  file(STRINGS ${source} timeout_line REGEX "^[ #*]*timeout: " LIMIT_COUNT 1)
  set(labels ${default_label})
  set(timeout 300)
  if(default_label STREQUAL "cli")
    set(timeout 600)
  endif()
  if(label_line)
    string(REGEX REPLACE ".*labels: *" "" labels "${label_line}")
    string(REGEX REPLACE " +" ";" labels "${labels}")
  endif()
  if(timeout_line)
    string(REGEX REPLACE ".*timeout: *" "" asked_for "${timeout_line}")
    if(asked_for GREATER timeout)
      set(timeout ${asked_for})
    endif()
  endif()
  if(ZM_SANITIZE)
    math(EXPR timeout "${timeout} * 4")
  elseif(ZM_VALGRIND)
    math(EXPR timeout "${timeout} * 20")
  endif()
  set_tests_properties(${test} PROPERTIES
    LABELS "${labels}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
  set(strange ${labels})
  list(REMOVE_ITEM strange unit replay fuzz)
  if(strange)
    set_tests_properties(${test} PROPERTIES RUN_SERIAL ON)
  endif()
endfunction()
