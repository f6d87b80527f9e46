/* engine: which one the options mean. */
#include "netload/engine.h"

#include <errno.h>

const struct zm_net_engine *zm_net_engine_of(const struct zm_net_options *options)
{
	if (options->tls != ZM_NET_TLS_OFF)
		return &zm_net_engine_tls;
	switch ((enum zm_net_engine_kind)options->engine) {
	case ZM_NET_ENGINE_URING:
		return &zm_net_engine_uring;
	case ZM_NET_ENGINE_BATCH:
		return &zm_net_engine_batch;
	case ZM_NET_ENGINE_SYSCALL:
		break;
	}
	return &zm_net_engine_syscall;
}

unsigned int zm_net_engine_depth(const struct zm_net_options *options)
{
	if (options->tls != ZM_NET_TLS_OFF || options->engine == ZM_NET_ENGINE_SYSCALL)
		return 1;
	return options->depth ? (unsigned int)options->depth : 1;
}

bool zm_net_is_refusal(const struct zm_flow *flow, int error)
{
	return flow->family->may_lose &&
	       (error == ENOBUFS || error == ECONNREFUSED || error == ENOMEM || error == EAGAIN);
}
