import type { Timers } from '../../clock/timers.js'
import type { Hex } from '../../domain/ids.js'
import type { BroadcastOutcome } from './broadcast-outcome.js'
import { classifyNodeError } from './classify.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import { RpcCallError, RpcTransportError } from './errors.js'
import type { RpcMetrics, RpcResult, SpreadOutcome } from './types.js'
import { createVerdictSum, type VerdictSum } from './verdict-sum.js'

/**
 * Broadcasts: one endpoint first, then the others, for bytes on which it gave no clear answer.
 * Sending the same bytes twice is harmless, which makes failover of a write sound here.
 */

export interface PendingSend {
  /** The serialised call, as `serialiseCall` returns it. */
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

interface SendRunner {
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
    // Timeouts of many endpoints must not add up: the sender rebroadcasts anyway.
    while (remaining.length > 0 && timers.now() < giveUpAtMs) {
      const endpoint = await endpoints.pick(tried)
      if (endpoint === null) break
      tried.add(endpoint)
      const verdicts = await verdictsOf(endpoint, remaining)
      const indeterminate: PendingSend[] = []
      remaining.forEach((item, i) => {
        const verdict = verdicts(i)
        metrics.broadcast(endpoint.label, verdict.kind)
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

/** The outcome for bytes that were sent to no endpoint. */
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
        own.forEach(({ kind }, at) => {
          metrics.broadcast(usable[at]?.label ?? '', kind)
        })
        item.resolve(spreadOf(own))
      })
    },
  }
}

function spreadOf(verdicts: readonly BroadcastOutcome[]): SpreadOutcome {
  const sum = createVerdictSum()
  let isTaken = false
  let isNonceTooLow = false
  let final: BroadcastOutcome | null = null
  for (const verdict of verdicts) {
    const { kind } = verdict
    if (kind === 'accepted' || kind === 'known') isTaken = true
    else if (kind === 'nonce-too-low') isNonceTooLow = true
    else final ??= sum.add(verdict)
  }
  return { isTaken, isNonceTooLow, otherwise: final ?? sum.result() }
}

async function verdictsOf(
  endpoint: Endpoint,
  items: readonly { readonly text: string }[],
): Promise<(index: number) => BroadcastOutcome> {
  const { answers, retried } = await endpoint.ask(items)
  return (index) => {
    const verdict = verdictOf(answers[index])
    return retried?.has(index) === true ? inDoubt(verdict) : verdict
  }
}

/**
 * The verdict on bytes that were sent before without an answer: a refusal now does not settle it.
 */
function inDoubt(verdict: BroadcastOutcome): BroadcastOutcome {
  switch (verdict.kind) {
    case 'rejected':
    case 'retry':
    case 'underpriced':
      return { kind: 'indeterminate', text: verdict.text }
    default:
      return verdict
  }
}

/**
 * Whether no node behind the endpoint can hold the bytes. Of HTTP refusals only a rate limit shows
 * that: a gateway that answers 403, 413 or 503 may do so for one of several nodes that it tried.
 */
function surelyNotTaken(cause: RpcTransportError): boolean {
  return cause.phase === 'unsent' || cause.status === 429
}

const ACCEPTED: BroadcastOutcome = { kind: 'accepted' }
const TX_HASH = /^0x[0-9a-f]{64}$/i

function verdictOf(answer: RpcResult | undefined): BroadcastOutcome {
  if (answer?.ok && typeof answer.value === 'string' && TX_HASH.test(answer.value)) return ACCEPTED
  const error = answer?.ok === false ? answer.error : null
  if (error instanceof RpcCallError) return classifyNodeError(error.code, error.message)
  if (error instanceof RpcTransportError) {
    return { kind: surelyNotTaken(error) ? 'retry' : 'indeterminate', text: error.message }
  }
  return { kind: 'indeterminate', text: 'the answer is missing or is not a transaction hash' }
}
