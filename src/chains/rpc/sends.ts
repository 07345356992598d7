import type { Timers } from '../../clock/timers.js'
import type { Hex } from '../../domain/ids.js'
import type { BroadcastOutcome } from './broadcast-outcome.js'
import { classifyNodeError, type NodeVerdict } from './classify.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import { RpcCallError, RpcTransportError } from './errors.js'
import type { RpcMetrics, RpcResult, SpreadOutcome } from './types.js'
import { createVerdictSum, type VerdictSum } from './verdict-sum.js'
import { requestBody } from './wire.js'

/**
 * Broadcasts: one endpoint first, the others only for those it gave no clear answer on. Sending
 * the same bytes twice is harmless, which is what makes failover of a write sound here.
 */

export interface PendingSend {
  /** Serialised call, as `serialiseCall` gives it. */
  readonly text: string
  readonly sum: VerdictSum
  resolve(outcome: BroadcastOutcome): void
}

export function pendingSend(raw: Hex, resolve: (outcome: BroadcastOutcome) => void): PendingSend {
  return {
    text: textOf(raw),
    sum: createVerdictSum(),
    resolve,
  }
}

function textOf(raw: Hex): string {
  return `"method":"eth_sendRawTransaction","params":["${raw}"]}`
}

export interface SendRunner {
  run(items: PendingSend[]): Promise<void>
}

export function createSendRunner(
  endpoints: EndpointSet,
  timeoutMs: number,
  metrics: RpcMetrics,
  timers: Pick<Timers, 'now'>,
): SendRunner {
  async function run(items: PendingSend[]): Promise<void> {
    const giveUpAtMs = timers.now() + 2 * timeoutMs
    const tried = new Set<Endpoint>()
    let remaining = items
    // Time-outs of many endpoints must not add up: the sender rebroadcasts anyway.
    while (remaining.length > 0 && timers.now() < giveUpAtMs) {
      const endpoint = await endpoints.pick(tried)
      if (endpoint === null) break
      tried.add(endpoint)
      const verdicts = await verdictsOf(endpoint, remaining)
      const indeterminate: PendingSend[] = []
      remaining.forEach((item, i) => {
        const verdict = verdicts(i)
        metrics.broadcast(endpoint.label, verdict.outcome.kind)
        const final = item.sum.add(verdict)
        if (final === null) indeterminate.push(item)
        else item.resolve(final)
      })
      remaining = indeterminate
    }
    for (const item of remaining) item.resolve(item.sum.result())
  }

  return { run }
}

/** Bytes that go to every endpoint. */
export interface PendingSpread {
  readonly text: string
  resolve(outcome: SpreadOutcome): void
}

export function pendingSpread(raw: Hex, resolve: PendingSpread['resolve']): PendingSpread {
  return { text: textOf(raw), resolve }
}

/** Of bytes that went to nobody. */
export function unspread(text: string): SpreadOutcome {
  return { isTaken: false, isNonceTooLow: false, otherwise: { kind: 'retry', text } }
}

export function createSpreadRunner(endpoints: EndpointSet, metrics: RpcMetrics) {
  return {
    async run(items: PendingSpread[]): Promise<void> {
      const usable = await endpoints.usable()
      const verdicts = await Promise.all(usable.map((endpoint) => verdictsOf(endpoint, items)))
      items.forEach((item, i) => {
        const own = verdicts.map((verdictAt) => verdictAt(i))
        own.forEach(({ outcome }, at) => {
          metrics.broadcast(usable[at]?.label ?? '', outcome.kind)
        })
        item.resolve(spreadOf(own))
      })
    },
  }
}

function spreadOf(verdicts: readonly NodeVerdict[]): SpreadOutcome {
  const sum = createVerdictSum()
  let isTaken = false
  let isNonceTooLow = false
  let final: BroadcastOutcome | null = null
  for (const verdict of verdicts) {
    const { kind } = verdict.outcome
    if (kind === 'accepted' || kind === 'known') isTaken = true
    else if (kind === 'nonce-too-low') isNonceTooLow = true
    else final ??= sum.add(verdict)
  }
  return { isTaken, isNonceTooLow, otherwise: final ?? sum.result() }
}

async function verdictsOf(
  endpoint: Endpoint,
  items: readonly { readonly text: string }[],
): Promise<(index: number) => NodeVerdict> {
  try {
    const answers = await endpoint.post(requestBody(items), items.length)
    return (index) => verdictOf(answers[index])
  } catch (cause) {
    const kind = surelyNotTaken(cause) ? 'retry' : 'indeterminate'
    const text = cause instanceof Error ? cause.message : 'no answer'
    const verdict: NodeVerdict = { outcome: { kind, text }, certainty: 'state' }
    return () => verdict
  }
}

/**
 * Whether nothing behind the endpoint can hold the bytes. Of refusals over HTTP only a rate limit
 * says so: a gateway that answers 403, 413 or 503 may do that for one of several nodes it asked.
 */
function surelyNotTaken(cause: unknown): boolean {
  if (!(cause instanceof RpcTransportError)) return false
  return cause.phase === 'unsent' || cause.status === 429
}

const ACCEPTED: NodeVerdict = { outcome: { kind: 'accepted' }, certainty: 'bytes' }
const TX_HASH = /^0x[0-9a-f]{64}$/i

function verdictOf(answer: RpcResult | undefined): NodeVerdict {
  if (answer?.ok && typeof answer.value === 'string' && TX_HASH.test(answer.value)) return ACCEPTED
  if (answer !== undefined && !answer.ok && answer.error instanceof RpcCallError) {
    return classifyNodeError(answer.error.code, answer.error.message)
  }
  const text = 'the answer is missing or is no transaction hash'
  return { outcome: { kind: 'indeterminate', text }, certainty: 'state' }
}
