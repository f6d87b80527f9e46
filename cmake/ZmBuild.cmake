# Build policy: one INTERFACE target, zm::build, that every target of ours links PRIVATE.
include(CheckCCompilerFlag)
include(CMakePushCheckState)
include(FeatureSummary)
include(GNUInstallDirs)

if(PROJECT_SOURCE_DIR STREQUAL PROJECT_BINARY_DIR)
  message(FATAL_ERROR "zonemark: build outside the source tree: cmake --preset release")
endif()
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

set(ZM_SANITIZE "" CACHE STRING "Sanitizers: address;undefined or thread")
option(ZM_OPTIONAL "Look for optional libraries" ON)
option(ZM_COVERAGE "Count which lines are reached" OFF)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

add_library(zm_build INTERFACE)
add_library(zm::build ALIAS zm_build)
target_compile_definitions(zm_build INTERFACE _GNU_SOURCE ZM_VERSION="${PROJECT_VERSION}")
target_include_directories(zm_build INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(zm_build INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wformat=2 -Wundef -Wpointer-arith -Wwrite-strings -fno-common -fno-omit-frame-pointer
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=
  $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>) # snprintf is what cuts here, on purpose

if(ZM_SANITIZE)
  list(JOIN ZM_SANITIZE "," zm_sanitizers)
  set(zm_flags -fsanitize=${zm_sanitizers} -fno-sanitize-recover=all)
  cmake_push_check_state(RESET)
  set(CMAKE_REQUIRED_FLAGS "-fsanitize=${zm_sanitizers}")
  set(CMAKE_REQUIRED_LINK_OPTIONS ${zm_flags})
  check_c_compiler_flag("-fsanitize=${zm_sanitizers}" ZM_HAVE_SANITIZER_${zm_sanitizers})
  cmake_pop_check_state()
  if(NOT ZM_HAVE_SANITIZER_${zm_sanitizers})
    message(FATAL_ERROR "zonemark: this compiler cannot build with -fsanitize=${zm_sanitizers}")
  endif()
  target_compile_options(zm_build INTERFACE ${zm_flags})
  target_link_options(zm_build INTERFACE ${zm_flags})
  target_compile_definitions(zm_build INTERFACE ZM_SANITIZED=1)
endif()

if(ZM_COVERAGE)
  target_compile_options(zm_build INTERFACE --coverage)
  target_link_options(zm_build INTERFACE --coverage)
  find_program(ZM_GCOVR gcovr)
  # A test that fails has reached lines, too.
  if(ZM_GCOVR)
    add_custom_target(coverage WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM USES_TERMINAL
      COMMAND sh -c "\"$0\" --output-on-failure -L '^(unit|replay|fuzz|cli)$'; exec \"$@\"" ${CMAKE_CTEST_COMMAND}
              ${ZM_GCOVR} --root ${PROJECT_SOURCE_DIR} --exclude ".*/tests/.*" --sort-percentage
              --txt coverage.txt --html-details coverage.html --print-summary .
      COMMENT "Running the tests and counting the lines they reach: coverage.txt, coverage.html")
  else()
    add_custom_target(coverage VERBATIM
      COMMAND ${CMAKE_COMMAND} -E echo "coverage: the program gcovr is not here; apt-get install gcovr, and configure again"
      COMMAND ${CMAKE_COMMAND} -E false)
  endif()
endif()
