/*
 * dist: the distributions that tests are made of.
 *
 *     normal     quantile by Wichura's AS 241 (1988), cdf by erfc
 *     t          cdf by the regularised incomplete beta function (continued fraction, Lentz), any
 *                positive degrees of freedom, not only whole ones; quantile by bisection and Newton
 *     U          Mann and Whitney's (1947): how often, over all orders of n1 + n2 values, so many pairs
 *                stand the other way; exact, by multiplying out its generating function
 *     W          Wilcoxon's signed ranks (1945): over all signs of n ranks, the sum of the positive ones;
 *                exact, by adding one rank after the other
 *     Fisher     the two-sided exact test of a 2 x 2 table: the sum of all tables that are no more
 *                likely
 *
 * Probabilities are right to 1e-10 or better where doubles allow.
 */
#ifndef ZM_RESULTS_DIST_H
#define ZM_RESULTS_DIST_H

#include <stddef.h>
#include <stdint.h>

double zm_normal_cdf(double z);
double zm_normal_quantile(double p);

double zm_t_cdf(double t, double freedom);
double zm_t_quantile(double p, double freedom);

/* P(U <= u) for two samples of these sizes, u = 0 … n1 * n2. */
struct zm_u {
	size_t n1, n2;
	double *cdf; /* n1 * n2 + 1 of them */
};

/* -ENOMEM; -EOVERFLOW above ZM_U_MAX values in one sample. */
#define ZM_U_MAX 200
int zm_u_make(struct zm_u *u, size_t n1, size_t n2);
void zm_u_release(struct zm_u *u);

/* P(W <= w) for n values, w = 0 … n (n + 1) / 2. */
struct zm_w {
	size_t n;
	double *cdf; /* n (n + 1) / 2 + 1 of them */
};

/* -ENOMEM; -EOVERFLOW above ZM_W_MAX values. */
#define ZM_W_MAX 200
int zm_w_make(struct zm_w *w, size_t n);
void zm_w_release(struct zm_w *w);

/* a of n fail here, b of m there. 1 when one side is empty. */
double zm_fisher(uint64_t a, uint64_t n, uint64_t b, uint64_t m);

#endif
