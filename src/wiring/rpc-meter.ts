import type { ChainIdNews, RpcMetrics } from '../chains/rpc/types.js'
import type { Meter } from '../domain/meter.js'
import type { PathMeter, RpcCount } from '../domain/path-meter.js'

const COUNT_OF: Readonly<Record<ChainIdNews, RpcCount>> = {
  doubted: 'chain-id-doubted',
  wrong: 'wrong-chain-id',
  right: 'chain-id-right',
}
const LEVEL_OF = { doubted: 'warn', wrong: 'error', right: 'info' } as const
const WORDS_OF: Readonly<Record<ChainIdNews, string>> = {
  doubted: 'an endpoint named another chain id; it is not used until it names the right one',
  wrong: 'an endpoint serves another chain; it is not used, and is checked again once a minute',
  right: 'an endpoint names the right chain id again, and is used again',
}

/**
 * Counts the reports of the chains' clients, by chain, and their queues together per thread.
 * @returns the metrics of a chain's client
 */
export function meterRpc(
  meter: Meter,
  path: Pick<PathMeter, 'rpc'>,
  log: Record<'info' | 'warn' | 'error', (context: object, message: string) => void>,
): (chainId: number) => RpcMetrics {
  const dropped = { read: 0, send: 0 }
  const waiting = { read: [] as Waiting[], send: [] as Waiting[] }
  for (const kind of ['read', 'send'] as const) {
    meter.queue(`rpc_${kind}s`, () => {
      const lanes = waiting[kind].map((read) => read())
      return {
        length: lanes.reduce((sum, { length }) => sum + length, 0),
        waitMs: Math.max(0, ...lanes.map(({ waitMs }) => waitMs)),
        dropped: dropped[kind],
      }
    })
  }
  return (chainId) => ({
    httpRequest: (_label, outcome) => path.rpc(chainId, outcome),
    hedged: () => path.rpc(chainId, 'hedged'),
    breakerOpened: () => path.rpc(chainId, 'breaker-opened'),
    breakerClosed: () => path.rpc(chainId, 'breaker-closed'),
    chainId(endpoint, news, got) {
      path.rpc(chainId, COUNT_OF[news])
      log[LEVEL_OF[news]]({ chainId, endpoint, got }, WORDS_OF[news])
    },
    overflow(kind) {
      dropped[kind]++
    },
    broadcast() {},
    queue: (kind, read) => void waiting[kind].push(read),
  })
}

type Waiting = Parameters<RpcMetrics['queue']>[1]
