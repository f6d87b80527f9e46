# Adding a workload, a monitor or a command is one file: this finds the files, names the constant in
# each after its path, and writes the table.
#
#   zm_catalogue(FOLDER dir GLOB pattern TYPE zm_workload MACRO ZM_WORKLOAD PREFIX wl RESULT var
#                [EXCEPT name…])
#     for every file that defines `const struct TYPE MACRO`, sets MACRO and MACRO_NAME for that source
#     and appends "name<tab>symbol<tab>file" to var (which sorts by name). All names together are the
#     global property ZM_CATALOGUE_NAMES. A file whose name is in EXCEPT is compiled in the same way
#     and not listed (the skeleton).
#   zm_catalogue_table(OUTPUT file TYPE t ARRAY a COUNT c HEADER h ENTRIES …)

function(zm_catalogue)
  cmake_parse_arguments(arg "DASHES" "FOLDER;GLOB;TYPE;MACRO;PREFIX;STRIP;RESULT" "EXCEPT" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${arg_FOLDER}/${arg_GLOB})
  set(entries)
  foreach(source IN LISTS sources)
    file(STRINGS ${source} hit REGEX "^const struct ${arg_TYPE} ${arg_MACRO} =")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
    if(hit)
      cmake_path(GET source STEM stem)
      cmake_path(RELATIVE_PATH arg_FOLDER BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE room)
      string(MAKE_C_IDENTIFIER "${room}" room)
      if(arg_STRIP)
        string(REGEX REPLACE "^${arg_STRIP}" "" name ${stem})
      else()
        set(name ${stem})
      endif()
      set(symbol ${arg_PREFIX}_${room}_${name})
      if(arg_DASHES)
        string(REPLACE "_" "-" name ${name})
      endif()
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
                   "${arg_MACRO}=${symbol}" "${arg_MACRO}_NAME=\"${name}\"")
      if(NOT stem IN_LIST arg_EXCEPT)
        list(APPEND entries "${name}\t${symbol}\t${source}")
        set_property(GLOBAL APPEND PROPERTY ZM_CATALOGUE_NAMES ${name})
      endif()
    endif()
  endforeach()
  set(${arg_RESULT} ${entries} PARENT_SCOPE)
endfunction()

function(zm_catalogue_table)
  cmake_parse_arguments(arg "" "OUTPUT;TYPE;ARRAY;COUNT;HEADER" "ENTRIES" ${ARGN})
  list(SORT arg_ENTRIES)
  set(declarations "")
  set(rows "")
  foreach(entry IN LISTS arg_ENTRIES)
    string(REPLACE "\t" ";" fields "${entry}")
    list(GET fields 1 symbol)
    string(APPEND declarations "extern const struct ${arg_TYPE} ${symbol};\n")
    string(APPEND rows "\t&${symbol},\n")
  endforeach()
  list(LENGTH arg_ENTRIES count)
  file(CONFIGURE OUTPUT ${arg_OUTPUT} @ONLY CONTENT
"/* Written by the build from the files it found. */
#include \"@arg_HEADER@\"

@declarations@
const struct @arg_TYPE@ *const @arg_ARRAY@[] = {
@rows@\tNULL,
};
const unsigned int @arg_COUNT@ = @count@;
")
endfunction()
