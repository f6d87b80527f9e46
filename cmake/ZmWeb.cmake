# The site's own files, built into the program.
#
#   zm_web_fetch(FOLDER dir)
#     asks npm, when the build is configured, for what FOLDER/package-lock.json names: uPlot, and in a release
#     build that is tested, the browser's driver. Without npm or network the pages draw by themselves; the
#     summary says so. It is asked once per lock file: cmake -U ZM_WEB_ASKED asks again.
#   zm_web_assets(FOLDER dir OUTPUT file)
#     every file of FOLDER/assets, and uPlot where it is there, as bytes in a table (results/web/assets.h)
#   zm_web_test(SCRIPT file)
#     the pages in a real browser, where node, chromium and its driver are
set(ZM_WEB_FOLDER ${PROJECT_BINARY_DIR}/web)
set(ZM_UPLOT_FOLDER ${ZM_WEB_FOLDER}/node_modules/uplot)

function(zm_web_fetch)
  cmake_parse_arguments(arg "" "FOLDER" "" ${ARGN})
  find_program(ZM_NPM npm)
  find_program(ZM_NODE NAMES node nodejs)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${arg_FOLDER}/package-lock.json)
  file(SHA256 ${arg_FOLDER}/package-lock.json lock)
  set(what --omit=dev)
  if(PROJECT_IS_TOP_LEVEL AND CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT ZM_SANITIZE)
    set(what --include=dev)
  endif()
  if(ZM_OPTIONAL AND ZM_NPM AND ZM_NODE AND NOT "${ZM_WEB_ASKED}" STREQUAL "${lock}")
    message(STATUS "Asking npm for uPlot")
    file(COPY ${arg_FOLDER}/package.json ${arg_FOLDER}/package-lock.json DESTINATION ${ZM_WEB_FOLDER})
    execute_process(
      COMMAND ${ZM_NPM} ci ${what} --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error
              --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=20000
      WORKING_DIRECTORY ${ZM_WEB_FOLDER} TIMEOUT 90
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_VARIABLE said)
    if(NOT status EQUAL 0)
      string(REGEX REPLACE "\n.*" "" said "${said}")
      message(STATUS "npm could not (${status}): ${said}")
    endif()
    set(ZM_WEB_ASKED ${lock} CACHE INTERNAL "The lock file that npm was asked for")
  endif()
endfunction()

# NAME and bytes of a file, appended to the caller's texts and rows.
macro(zm_web_asset name file)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  list(LENGTH names number)
  list(APPEND names ${name})
  string(APPEND texts "static const unsigned char bytes_${number}[] = { ${bytes}0 };\n")
  string(APPEND rows "\t{ \"${name}\", bytes_${number}, sizeof(bytes_${number}) - 1 },\n")
endmacro()

function(zm_web_assets)
  cmake_parse_arguments(arg "" "FOLDER;OUTPUT" "" ${ARGN})
  set(names)
  set(texts "")
  set(rows "")
  file(GLOB files CONFIGURE_DEPENDS ${arg_FOLDER}/assets/*)
  list(SORT files)
  foreach(file IN LISTS files)
    cmake_path(GET file FILENAME name)
    zm_web_asset(${name} ${file})
  endforeach()
  set(charts "0")
  set(has_uplot OFF)
  if(ZM_OPTIONAL AND EXISTS ${ZM_UPLOT_FOLDER}/dist/uPlot.iife.min.js)
    zm_web_asset(uplot.js ${ZM_UPLOT_FOLDER}/dist/uPlot.iife.min.js)
    zm_web_asset(uplot.css ${ZM_UPLOT_FOLDER}/dist/uPlot.min.css)
    zm_web_asset(uplot-license.txt ${ZM_UPLOT_FOLDER}/LICENSE)
    file(READ ${ZM_UPLOT_FOLDER}/package.json about)
    string(JSON version GET "${about}" version)
    set(charts "\"uPlot ${version}\"")
    set(has_uplot ON)
  endif()
  add_feature_info(uplot ${has_uplot} "charts of the dashboard; without it the pages draw by themselves")
  file(CONFIGURE OUTPUT ${arg_OUTPUT} @ONLY CONTENT
"/* Written by the build from results/web/assets/. */
#include \"results/web/assets.h\"

@texts@
const struct zm_asset zm_assets[] = {
@rows@};
const size_t zm_nr_assets = sizeof(zm_assets) / sizeof(zm_assets[0]);
const char *const zm_assets_charts = @charts@;
")
endfunction()

function(zm_web_test)
  cmake_parse_arguments(arg "" "SCRIPT" "" ${ARGN})
  if(NOT PROJECT_IS_TOP_LEVEL OR NOT ZM_NODE OR ZM_SANITIZE)
    return()
  endif()
  add_test(NAME results/web/browser COMMAND ${ZM_NODE} ${arg_SCRIPT})
  set_tests_properties(results/web/browser PROPERTIES
    LABELS "browser" TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT
    "ZONEMARK=$<TARGET_FILE:zonemark>;ZM_BINARY_DIR=${PROJECT_BINARY_DIR};NODE_PATH=${ZM_WEB_FOLDER}/node_modules")
endfunction()
