import type { Timers } from '../../clock/timers.js'
import type { Endpoint } from './endpoint.js'
import type { EndpointSet } from './endpoint-set.js'
import { RpcTransportError } from './errors.js'
import { isAnswer, type ReadCall, withoutAnswer } from './read-answers.js'
import type { RpcEndpoint, RpcMetrics, RpcResult } from './types.js'

/**
 * Reads over several endpoints, with failover, a budget for hedging and short waits for rate
 * limits.
 */

export interface PendingRead extends ReadCall {
  /** The call as `serialiseCall` returns it. */
  readonly text: string
  /** The endpoints that may be used, all by default. Only for calls that are sent singly. */
  readonly mayAsk?: (endpoint: RpcEndpoint) => boolean
  resolve(answer: RpcResult): void
}

/** A second pass gives lost keep-alive sockets and a single endpoint a second chance. */
const PASSES_MAX = 2
const PASS_PAUSE_MS = 60
/** No answer is late before this; hedging earlier would only double the load. */
const HEDGE_DELAY_MS_MIN = 25
/** One hedge per ten reads on average, so that hedging cannot slow down a slow chain. */
const HEDGE_TOKENS_PER_READ = 0.1
const HEDGE_TOKENS_MAX = 10

interface ReadRunner {
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
  ): Promise<readonly RpcResult[] | null> {
    hedgeTokens = Math.min(HEDGE_TOKENS_MAX, hedgeTokens + HEDGE_TOKENS_PER_READ)
    const first = answersOf(primary, items)
    if (hedgeTokens < 1 || set.pickReady(tried) === null) return first
    const delayMs = Math.min(Math.max(primary.unusualAfterMs(), HEDGE_DELAY_MS_MIN), timeoutMs / 2)
    return new Promise((resolve) => {
      let open = 1
      const hear = (answers: readonly RpcResult[] | null) => {
        open--
        if (answers === null && open > 0) return
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
        void answersOf(second, items).then(hear)
      })
      void first.then(hear)
    })
  }

  async function run(items: PendingRead[]): Promise<void> {
    const giveUpAtMs = timers.now() + 2 * timeoutMs
    let remaining = items
    /** The refusals of each read that has no answer yet. */
    const refusals = new Map<PendingRead, RpcResult>()
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
        const unanswered: PendingRead[] = []
        remaining.forEach((item, i) => {
          const answer = answers[i]
          if (answer !== undefined && isAnswer(item, answer)) {
            item.resolve(answer)
            return
          }
          unanswered.push(item)
          // A result with an unexpected shape may still be usable; an error is not.
          if (answer === undefined || isUnheard(answer)) return
          if (refusals.get(item)?.ok !== true) refusals.set(item, answer)
        })
        remaining = unanswered
      }
      // A node that refuses once seldom answers the same read later.
      if (remaining.every((item) => refusals.has(item))) break
    }
    for (const item of remaining) item.resolve(withoutAnswer(chainId, item, refusals.get(item)))
  }

  return { run }
}

/** Returns null when the endpoint answered none of them. */
async function answersOf(
  endpoint: Endpoint,
  items: readonly PendingRead[],
): Promise<readonly RpcResult[] | null> {
  const { answers } = await endpoint.ask(items)
  return answers.every(isUnheard) ? null : answers
}

function isUnheard(answer: RpcResult): boolean {
  return !answer.ok && answer.error instanceof RpcTransportError
}

function mayAskOf(items: readonly PendingRead[], endpoint: Endpoint): boolean {
  return items.every(({ mayAsk }) => mayAsk === undefined || mayAsk(endpoint))
}
