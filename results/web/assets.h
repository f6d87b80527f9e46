/* assets: the site's own files, built into the program. */
#ifndef ZM_RESULTS_WEB_ASSETS_H
#define ZM_RESULTS_WEB_ASSETS_H

#include <stddef.h>

struct zm_asset {
	const char *name; /* "site.css" */
	const unsigned char *bytes;
	size_t size;
};

/* Written by the build from assets/, and uPlot's script and style where npm could be asked for them. */
extern const struct zm_asset zm_assets[];
extern const size_t zm_nr_assets;
extern const char *const zm_assets_charts; /* "uPlot 1.6.32", or NULL */

#endif
