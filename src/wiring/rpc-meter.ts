import type { HttpOutcome, RpcMetrics } from '../chains/rpc/types.js'
import type { Meter, MeteredCount } from '../domain/meter.js'

const COUNT_OF: Readonly<Record<HttpOutcome, MeteredCount>> = {
  ok: 'rpc_ok',
  'rate-limited': 'rpc_rate_limited',
  refused: 'rpc_refused',
  unsent: 'rpc_unsent',
  unanswered: 'rpc_unanswered',
}

/** Counts what the chains' clients say, over all chains of a thread. */
export function meterRpc(meter: Meter): RpcMetrics {
  const counts = new Map<MeteredCount, number>()
  const counted = (name: MeteredCount): (() => void) => {
    counts.set(name, 0)
    meter.count(name, () => counts.get(name) ?? 0)
    return () => void counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  const outcomes = Object.fromEntries(
    Object.entries(COUNT_OF).map(([outcome, name]) => [outcome, counted(name)]),
  ) as Record<HttpOutcome, () => void>
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
  return {
    httpRequest: (_label, outcome) => outcomes[outcome](),
    hedged: counted('rpc_hedged'),
    breakerOpened: counted('rpc_breakers_opened'),
    breakerClosed: counted('rpc_breakers_closed'),
    wrongChainId: counted('rpc_wrong_chain_ids'),
    overflow(kind) {
      dropped[kind]++
    },
    broadcast() {},
    queue: (kind, read) => void waiting[kind].push(read),
  }
}

type Waiting = Parameters<RpcMetrics['queue']>[1]
