/*
 * pdf: a page as PDF, by a browser or an office without a window: chromium, or LibreOffice.
 */
#ifndef ZM_RUNNER_QUALIFY_PDF_H
#define ZM_RUNNER_QUALIFY_PDF_H

#include "workloads/base/why.h"

/* Both paths absolute; the PDF's folder is this process's own, and the tool works in it. -ENOENT: none of the
 * programs is here; -EIO: the one that is here failed. */
int zm_pdf_make(const char *html, const char *pdf, struct zm_why *why);

#endif
