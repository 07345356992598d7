import type { Timers } from '../../clock/timers.js'
import { FaultError, fault } from '../../errors/fault.js'
import { isEndpointFault } from './classify.js'
import { type Endpoint, isTooLarge } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import { RpcCallError } from './errors.js'
import type { RpcEndpoint, RpcMetrics, RpcResult } from './types.js'
import { requestBody } from './wire.js'

/** Reads over several endpoints: failover, hedging within a budget, short waits for rate limits. */

export interface PendingRead {
  /** `serialiseCall` of the call. */
  readonly text: string
  /** Endpoints that may be asked, all by default. Only for items that travel alone. */
  readonly mayAsk?: (endpoint: RpcEndpoint) => boolean
  resolve(answer: RpcResult): void
}

/** A second pass gives lost keep-alive sockets and a single endpoint their second chance. */
const PASSES_MAX = 2
const PASS_PAUSE_MS = 60
/** Below this an answer is never late; hedging would only double the load. */
const HEDGE_DELAY_MS_MIN = 25
/** A hedge per ten reads on average, so that a slow chain is not made slower. */
const HEDGE_TOKENS_PER_READ = 0.1
const HEDGE_TOKENS_MAX = 10

export interface ReadRunner {
  run(items: PendingRead[]): Promise<void>
}

export function createReadRunner(
  chainId: number,
  set: EndpointSet,
  timeoutMs: number,
  metrics: RpcMetrics,
  timers: Pick<Timers, 'now' | 'at' | 'random'>,
): ReadRunner {
  let hedgeTokens = HEDGE_TOKENS_MAX

  function ask(
    primary: Endpoint,
    items: readonly PendingRead[],
    tried: Set<Endpoint>,
  ): Promise<RpcResult[] | null> {
    const body = requestBody(items)
    hedgeTokens = Math.min(HEDGE_TOKENS_MAX, hedgeTokens + HEDGE_TOKENS_PER_READ)
    const first = primary.post(body, items.length)
    if (hedgeTokens < 1 || set.pickReady(tried) === null) return first.catch(() => null)
    const delayMs = Math.min(Math.max(primary.unusualAfterMs(), HEDGE_DELAY_MS_MIN), timeoutMs / 2)
    return new Promise((resolve) => {
      let open = 1
      const lose = () => {
        open--
        if (open > 0) return
        late.cancel()
        resolve(null)
      }
      const win = (answers: RpcResult[]) => {
        late.cancel()
        resolve(answers)
      }
      const late = timers.at(timers.now() + delayMs, () => {
        const second = set.pickReady(tried)
        if (second === null || hedgeTokens < 1) return
        hedgeTokens--
        open++
        tried.add(second)
        metrics.hedged(second.label)
        second.post(body, items.length).then(win, lose)
      })
      first.then(win, lose)
    })
  }

  async function run(items: PendingRead[]): Promise<void> {
    const giveUpAtMs = timers.now() + 2 * timeoutMs
    let remaining = items
    let lastAnswers: RpcResult[] = []
    for (let pass = 0; pass < PASSES_MAX && remaining.length > 0; pass++) {
      if (pass > 0) {
        const waitMs = set.restMs() ?? PASS_PAUSE_MS
        if (timers.now() + waitMs > giveUpAtMs) break
        const pauseMs = waitMs + timers.random.fraction() * PASS_PAUSE_MS
        await new Promise<void>((resolve) => timers.at(timers.now() + pauseMs, resolve))
      }
      const tried = new Set(set.all.filter((endpoint) => !mayAskOf(items, endpoint)))
      while (remaining.length > 0 && timers.now() < giveUpAtMs) {
        const endpoint = await set.pick(tried)
        if (endpoint === null) break
        tried.add(endpoint)
        const answers = await ask(endpoint, remaining, tried)
        if (answers === null) continue
        if (remaining.length > 1 && isTooLarge(answers[0])) {
          await runInHalves(remaining)
          return
        }
        const unanswered: PendingRead[] = []
        lastAnswers = []
        remaining.forEach((item, i) => {
          const answer = answers[i]
          if (answer === undefined || faultOfEndpoint(answer)) {
            unanswered.push(item)
            if (answer !== undefined) lastAnswers.push(answer)
          } else item.resolve(answer)
        })
        remaining = unanswered
      }
      // A node's own words are better than "unavailable", and asking again seldom changes them.
      if (lastAnswers.length === remaining.length && lastAnswers.length > 0) break
    }
    remaining.forEach((item, i) => {
      item.resolve(
        (lastAnswers.length === remaining.length ? lastAnswers[i] : undefined) ??
          unavailable(chainId),
      )
    })
  }

  /**
   * A receipt may have megabytes of logs, and whoever has it made need not be who is asked for
   * besides it: only what is too large alone goes without an answer. One half after the other, so
   * that the slot of the batch is still one request.
   */
  async function runInHalves(items: PendingRead[]): Promise<void> {
    const half = Math.ceil(items.length / 2)
    await run(items.slice(0, half))
    await run(items.slice(half))
  }

  return { run }
}

function mayAskOf(items: readonly PendingRead[], endpoint: Endpoint): boolean {
  return items.every(({ mayAsk }) => mayAsk === undefined || mayAsk(endpoint))
}

function faultOfEndpoint(answer: RpcResult): boolean {
  if (answer.ok) return false
  const { error } = answer
  return error instanceof RpcCallError ? isEndpointFault(error.code, error.message) : true
}

export function unavailable(chainId: number): RpcResult {
  return {
    ok: false,
    error: new FaultError(fault('CHAIN_UNAVAILABLE', { chain_id: chainId })),
  }
}
