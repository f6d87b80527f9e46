# The documented catalogue, built into the program: it is there wherever the program is.
#
#   zm_documented(FOLDER dir OUTPUT file)
#     every *.yaml below dir becomes bytes in a table of struct zm_documented_file
#     (workloads/documented.h); its id is its path without the suffix.
function(zm_documented)
  cmake_parse_arguments(arg "" "FOLDER;OUTPUT" "" ${ARGN})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${arg_FOLDER}/*.yaml)
  list(SORT files)
  set(texts "")
  set(rows "")
  set(number 0)
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${arg_FOLDER} OUTPUT_VARIABLE id)
    string(REGEX REPLACE "\\.yaml$" "" id "${id}")
    file(READ ${file} bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND texts "static const unsigned char text_${number}[] = { ${bytes}0 };\n")
    string(APPEND rows "\t{ \"${id}\", text_${number}, sizeof(text_${number}) - 1 },\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${arg_OUTPUT} @ONLY CONTENT
"/* Written by the build from workloads/documented/. */
#include \"workloads/documented.h\"

@texts@
const struct zm_documented_file zm_documented_files[] = {
@rows@\t{ 0, 0, 0 },
};
")
endfunction()
