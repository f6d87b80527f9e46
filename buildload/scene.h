/*
 * scene: the files of emulated builds, made before they start and bounded in size.
 *
 *     FOLDER/bin/NAME     a link to the helper for each program of the profile
 *     FOLDER/image        what the programs map
 *     FOLDER/0/h/N        the files that instance 0 reads; each instance has its own copy
 *     FOLDER/0/o/N        what its build writes: removed when the build has ended
 */
#ifndef ZM_BUILDLOAD_SCENE_H
#define ZM_BUILDLOAD_SCENE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "buildload/profile.h"
#include "workloads/base/why.h"

/* The program that all processes of an emulated build are. */
#define ZM_SCENE_HELPER "libexec/zonemark/kbuild-step"

/* The folder of the profiles that come with zonemark. */
#define ZM_SCENE_PROFILES "share/zonemark/profiles"

/* A file that is installed beside this program: "libexec/zonemark/kbuild-step". -ENOENT: the sentence
 * says where it was looked for. */
int zm_scene_find(const char *name, char ret_path[PATH_MAX], struct zm_why *why);

/* The profile of that name: a file when there is a '/' or a '.' in it, else one that comes with
 * zonemark; NULL or "": tinyconfig. -EINVAL: there is none. */
int zm_scene_read_profile(const char *name, struct zm_profile **ret_profile, struct zm_why *why);

/* Makes all of it in a folder that is there and empty. -ENOSPC: the sentence names the folder. */
int zm_scene_make(const char *folder, const struct zm_profile *profile, unsigned int nr_instances,
		  uint64_t seed, struct zm_why *why);

/* Removes what a build has written. */
int zm_scene_clean(const char *folder, unsigned int instance, struct zm_why *why);

/* Bytes: of what is made once, of what is made per instance, and of what a build writes. */
uint64_t zm_scene_shared_bytes(const struct zm_profile *profile);
uint64_t zm_scene_instance_bytes(const struct zm_profile *profile);
uint64_t zm_scene_output_bytes(const struct zm_profile *profile);

#endif
