# Conventions that can be executed, as tests with the label lint; each is a script in cmake/checks.
#
#   zm_lint()
#     after all rooms are there. Sanitized builds have none of these: the release build has them all.
#   zm_verify_headers(LIBRARIES …)
#     the target zm_headers compiles every header alone, twice, so that it needs nothing before it and
#     guards itself; the test lint/headers builds it.
function(zm_verify_headers)
  cmake_parse_arguments(arg "" "" "LIBRARIES" ${ARGN})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/workloads/*.h ${PROJECT_SOURCE_DIR}/faultload/*.h
       ${PROJECT_SOURCE_DIR}/netload/*.h ${PROJECT_SOURCE_DIR}/buildload/*.h
       ${PROJECT_SOURCE_DIR}/results/*.h ${PROJECT_SOURCE_DIR}/runner/*.h)
  list(FILTER headers EXCLUDE REGEX "\\.bpf\\.h$|/bpf/|/tests/")
  set(sources)
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER ${header} name)
    set(source ${PROJECT_BINARY_DIR}/headers/${name}.c)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND sources ${source})
  endforeach()
  add_library(zm_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(zm_headers PRIVATE zm::build ${arg_LIBRARIES})
  add_test(NAME lint/headers
           COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --target zm_headers)
  set_tests_properties(lint/headers PROPERTIES LABELS lint TIMEOUT 3000 RESOURCE_LOCK build)
endfunction()

function(zm_check name)
  add_test(NAME lint/${name}
           COMMAND sh ${PROJECT_SOURCE_DIR}/cmake/checks/${name}.sh ${PROJECT_SOURCE_DIR} ${ARGN})
  set_tests_properties(lint/${name} PROPERTIES LABELS lint TIMEOUT 300 SKIP_RETURN_CODE 77)
endfunction()

function(zm_lint)
  if(NOT PROJECT_IS_TOP_LEVEL OR ZM_SANITIZE OR ZM_VALGRIND)
    return()
  endif()
  get_property(names GLOBAL PROPERTY ZM_CATALOGUE_NAMES)
  set(libraries)
  foreach(room IN ITEMS workloads faultload netload buildload results runner)
    if(TARGET zm_${room})
      list(APPEND libraries $<TARGET_FILE:zm_${room}>)
    endif()
  endforeach()
  zm_verify_headers(LIBRARIES zm_runner)
  foreach(check IN ITEMS layers guards format banned words shape shell self)
    zm_check(${check})
  endforeach()
  zm_check(symbols ${libraries})
  zm_check(documented ${names})
endfunction()
