/* engine: which one the options mean. */
#include "netload/engine.h"

const struct zm_net_engine *zm_net_engine_of(const struct zm_net_options *options)
{
	(void)options;
	return &zm_net_engine_syscall;
}

unsigned int zm_net_engine_depth(const struct zm_net_options *options)
{
	if (options->tls != ZM_NET_TLS_OFF || options->engine == ZM_NET_ENGINE_SYSCALL)
		return 1;
	return options->depth ? (unsigned int)options->depth : 1;
}
