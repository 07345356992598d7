import type { RpcMetrics } from '../chains/rpc/types.js'
import type { Meter } from '../domain/meter.js'
import type { PathMeter } from '../domain/path-meter.js'

/**
 * Counts what the clients of the chains say, by chain; their queues together, for a thread.
 * @returns the metrics of a chain's client
 */
export function meterRpc(
  meter: Meter,
  path: Pick<PathMeter, 'rpc'>,
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
    wrongChainId: () => path.rpc(chainId, 'wrong-chain-id'),
    overflow(kind) {
      dropped[kind]++
    },
    broadcast() {},
    queue: (kind, read) => void waiting[kind].push(read),
  })
}

type Waiting = Parameters<RpcMetrics['queue']>[1]
