# The libraries of src/ops/codecs/: libjpeg-turbo, libpng with zlib, and giflib. Native builds link those of the system, builds
# for WebAssembly compile the files that are needed.

# libjpeg and libpng report errors by longjmp. WebAssembly has it by its exceptions; only these objects use it.
set(TFCORE_LONGJMP 0 CACHE INTERNAL "")
set(TFCORE_CODEC_LIBRARIES "" CACHE INTERNAL "")

# tfcore_codecs(<sources of ops>): gives tfcore_ops the libraries, if the codecs are among the sources.
function(tfcore_codecs sources)
  list(FILTER sources INCLUDE REGEX "/ops/codecs/")
  if(NOT sources)
    return()
  endif()
  if(EMSCRIPTEN)
    tfcore_compile_codecs()
    set(TFCORE_LONGJMP wasm CACHE INTERNAL "")
    set_property(SOURCE ${sources} APPEND PROPERTY COMPILE_OPTIONS -sSUPPORT_LONGJMP=wasm)
    set(libraries tfcore_codec_libraries)
  else()
    set(libraries "")
    foreach(library jpeg png z gif)
      string(TOUPPER TFCORE_LIB${library} variable)
      find_library(${variable} ${library} REQUIRED)
      list(APPEND libraries ${${variable}})
    endforeach()
  endif()
  set(TFCORE_CODEC_LIBRARIES ${libraries} CACHE INTERNAL "")
  target_link_libraries(tfcore_ops PUBLIC ${libraries})
endfunction()

# tfcore_library_sources(<result> <variable> <folder below it> <name>...): paths of files <name>.c of a library.
function(tfcore_library_sources result variable folder)
  list(TRANSFORM ARGN PREPEND ${${variable}}/${folder})
  list(TRANSFORM ARGN APPEND .c)
  foreach(source IN LISTS ARGN)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "${variable} must name the library's unpacked sources, without ${source}; `node tools/setup.mjs` fetches them")
    endif()
  endforeach()
  set(${result} ${ARGN} PARENT_SCOPE)
endfunction()

# tfcore_codec_libraries: what of the four libraries is needed, compiled for size.
function(tfcore_compile_codecs)
  set(folder ${TFCORE_GENERATED}/codecs)
  tfcore_library_sources(jpeg TFCORE_LIBJPEG_TURBO_SOURCE ""
    jaricom jcapimin jcapistd jccoefct jccolor jcdctmgr jchuff jcinit jcmainct jcmarker jcmaster jcomapi jcparam jcphuff jcprepct
    jcsample jdapimin jdapistd jdarith jdcoefct jdcolor jddctmgr jdhuff jdinput jdmainct jdmarker jdmaster jdmerge jdphuff
    jdpostct jdsample jfdctflt jfdctfst jfdctint jidctflt jidctfst jidctint jidctred jmemmgr jmemnobs jquant1 jquant2 jsimd_none
    jutils)
  tfcore_library_sources(png TFCORE_LIBPNG_SOURCE ""
    png pngerror pngget pngmem pngread pngrio pngrtran pngrutil pngset pngtrans pngwio pngwrite pngwtran pngwutil)
  tfcore_library_sources(zlib TFCORE_ZLIB_SOURCE "" adler32 crc32 deflate inffast inflate inftrees trees zutil)
  tfcore_library_sources(gif TFCORE_GIFLIB_SOURCE "" dgif_lib gif_err gif_hash gifalloc openbsd-reallocarray)
  tfcore_configure_libjpeg(${folder})
  tfcore_configure_libpng(${folder})

  add_library(tfcore_codec_libraries STATIC ${jpeg} ${png} ${zlib} ${gif})
  # Their warnings are not ours. zlib wants to be told that there is unistd.h.
  target_compile_options(tfcore_codec_libraries PRIVATE -Os -w -sSUPPORT_LONGJMP=wasm)
  target_compile_definitions(tfcore_codec_libraries PRIVATE Z_HAVE_UNISTD_H PNG_ARM_NEON_OPT=0)
  target_include_directories(tfcore_codec_libraries SYSTEM PUBLIC
    ${folder} ${TFCORE_LIBJPEG_TURBO_SOURCE} ${TFCORE_LIBPNG_SOURCE} ${TFCORE_ZLIB_SOURCE} ${TFCORE_GIFLIB_SOURCE})
endfunction()

# libjpeg-turbo's headers jconfig.h and jconfigint.h: its own defaults, with the arithmetic decoder and without SIMD assembly.
function(tfcore_configure_libjpeg folder)
  set(JPEG_LIB_VERSION 62)
  set(VERSION 2.1)
  set(LIBJPEG_TURBO_VERSION_NUMBER 2001000)
  set(D_ARITH_CODING_SUPPORTED 1)
  set(BITS_IN_JSAMPLE 8)
  set(BUILD "")
  set(INLINE "inline __attribute__((always_inline))")
  set(THREAD_LOCAL _Thread_local)
  set(CMAKE_PROJECT_NAME libjpeg-turbo)
  set(SIZE_T 4)
  set(HAVE_BUILTIN_CTZL 1)
  foreach(header jconfig.h jconfigint.h)
    configure_file(${TFCORE_LIBJPEG_TURBO_SOURCE}/${header}.in ${folder}/${header})
  endforeach()
endfunction()

# libpng's pnglibconf.h: its prebuilt one without files, printing, and the interfaces that are not used.
function(tfcore_configure_libpng folder)
  file(READ ${TFCORE_LIBPNG_SOURCE}/scripts/pnglibconf.h.prebuilt config)
  foreach(feature STDIO CONSOLE_IO ERROR_TEXT WARNINGS PROGRESSIVE_READ SIMPLIFIED_READ SIMPLIFIED_READ_AFIRST
          SIMPLIFIED_READ_BGR SIMPLIFIED_WRITE SIMPLIFIED_WRITE_AFIRST SIMPLIFIED_WRITE_BGR SIMPLIFIED_WRITE_STDIO)
    string(REPLACE "#define PNG_${feature}_SUPPORTED\n" "" config "${config}")
  endforeach()
  file(CONFIGURE OUTPUT ${folder}/pnglibconf.h CONTENT "${config}" @ONLY)
endfunction()
