import type { Timers } from '../../clock/timers.js'
import { type Asked, askInBatches, type CallText, isOfBatch } from './ask-in-batches.js'
import { createBatchSize } from './batch-size.js'
import { createBreaker } from './breaker.js'
import { createChainIdCheck } from './chain-id-check.js'
import { RpcTransportError } from './errors.js'
import type { Transport } from './transport.js'
import {
  BATCH_MAX,
  type HttpOutcome,
  type RpcEndpoint,
  type RpcMetrics,
  type RpcResult,
} from './types.js'
import { parseAnswers, parseRetryAfterMs, tooLarge } from './wire.js'

/**
 * One RPC endpoint: its circuit breaker, its rate-limit pause and the check of its chain id. It
 * does not know other endpoints.
 */

/** The pause of a rate-limited endpoint that sends no Retry-After. */
const RATE_LIMIT_PAUSE_MS = 1_000
const RATE_LIMIT_PAUSE_MS_MAX = 60_000
export interface Endpoint extends RpcEndpoint {
  /**
   * `ready`: use it; `probe`: it may be back, `verify` first; `resting`: rate-limited; `out`: not
   * now.
   */
  state(nowMs: number): 'ready' | 'probe' | 'resting' | 'out'
  /** When a rate-limited endpoint may be used again; 0 when it is not rate-limited. */
  restingUntilMs(): number
  /** Reads the chain id; true when it is ours. Never rejects. */
  verify(): Promise<boolean>
  /** Sends serialised calls, in as many requests as needed. Never rejects. */
  ask(calls: readonly CallText[]): Promise<Asked>
  /** Does the same with one request after the other. */
  askInOrder(calls: readonly CallText[]): Promise<Asked>
  /** The typical answer time plus four deviations, milliseconds: a later answer is unusual. */
  unusualAfterMs(): number
  close(): Promise<void>
}

export interface EndpointOptions {
  readonly index: number
  readonly url: string
  readonly chainId: number
  readonly transport: Transport
  readonly timers: Pick<Timers, 'now' | 'elapsed'>
  readonly metrics: RpcMetrics
}

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { chainId, transport, timers, metrics } = options
  const label = `${options.index}:${new URL(options.url).hostname}`
  const breaker = createBreaker()
  const latency = createLatency()
  const batchSize = createBatchSize(BATCH_MAX)
  const chainIdCheck = createChainIdCheck(chainId)
  let incarnation = 0
  let verified = false
  let restingUntil = 0
  let verifying: Promise<boolean> | null = null

  /**
   * Posts serialised JSON-RPC calls with ids 0 to count − 1.
   * @returns answers in the order of the ids
   * @throws RpcTransportError
   */
  async function post(body: string, count: number): Promise<RpcResult[]> {
    const startedMs = timers.elapsed()
    let outcome: HttpOutcome = 'unanswered'
    try {
      const { status, text, retryAfter } = await transport.post(body)
      if (status === 429 || status === 503) {
        const retryAfterMs = parseRetryAfterMs(retryAfter, timers.now())
        outcome = status === 429 ? 'rate-limited' : 'refused'
        throw new RpcTransportError('refused', `HTTP ${status}`, { status, retryAfterMs })
      }
      if (status >= 500) {
        // A gateway may have passed the request on before it gave up waiting for the answer.
        throw new RpcTransportError('unanswered', `HTTP ${status}`, { status })
      }
      const answers = parseAnswers(text, count)
      if (answers === null) {
        const phase = status >= 400 ? 'refused' : 'unanswered'
        outcome = phase
        throw new RpcTransportError(phase, `HTTP ${status} without a JSON-RPC answer`, { status })
      }
      outcome = 'ok'
      latency.record(timers.elapsed() - startedMs)
      if (breaker.succeed()) metrics.breakerClosed(label)
      return answers
    } catch (cause) {
      if (codeOf(cause) === TOO_LARGE_CODE) {
        // The caller's request was too large; the endpoint is healthy and must not be blamed.
        outcome = 'ok'
        return tooLarge(count)
      }
      const error = asTransportError(cause)
      if (error.status === 429) {
        const pauseMs = Math.min(error.retryAfterMs ?? RATE_LIMIT_PAUSE_MS, RATE_LIMIT_PAUSE_MS_MAX)
        restingUntil = Math.max(restingUntil, timers.now() + pauseMs)
      } else {
        if (error.phase === 'unsent') outcome = 'unsent'
        // A batch may be too long for a healthy endpoint; its single calls will show that.
        const isCounted = count === 1 || !isOfBatch(error)
        if (isCounted && breaker.fail(timers.now())) {
          verified = false
          incarnation++
          metrics.breakerOpened(label)
        }
      }
      throw error
    } finally {
      metrics.httpRequest(label, outcome, timers.elapsed() - startedMs, count)
    }
  }

  async function askChainId(): Promise<boolean> {
    try {
      const [answer] = await post('{"jsonrpc":"2.0","id":0,"method":"eth_chainId","params":[]}', 1)
      // An endpoint that gives no id, as a gateway may while its node starts, is not on another
      // chain.
      if (answer === undefined || !answer.ok || answer.value == null) return false
      const said = chainIdCheck.hear(answer.value, timers.now())
      if (said !== 'same') metrics.chainId(label, said, String(answer.value).slice(0, 32))
      verified = said === 'same' || said === 'right'
      return verified
    } catch {
      return false
    }
  }

  return {
    label,
    get incarnation() {
      return incarnation
    },
    state(nowMs) {
      if (chainIdCheck.isResting(nowMs)) return 'out'
      if (nowMs < restingUntil) return 'resting'
      const circuit = breaker.state(nowMs)
      if (circuit === 'open') return 'out'
      return circuit === 'half-open' || !verified ? 'probe' : 'ready'
    },
    restingUntilMs: () => (restingUntil > timers.now() ? restingUntil : 0),
    verify() {
      verifying ??= askChainId().finally(() => {
        verifying = null
      })
      return verifying
    },
    ask: (calls) => askInBatches(calls, batchSize, post),
    askInOrder: (calls) => askInBatches(calls, batchSize, post, 1),
    unusualAfterMs: () => latency.unusualAfterMs(),
    close: () => transport.close(),
  }
}

/** Mean and mean deviation as in TCP's retransmission timer (RFC 6298). */
function createLatency() {
  let meanMs = 0
  let deviationMs = 0
  let seen = false
  return {
    record(ms: number) {
      if (!seen) {
        seen = true
        meanMs = ms
        deviationMs = ms / 2
        return
      }
      deviationMs += (Math.abs(ms - meanMs) - deviationMs) / 4
      meanMs += (ms - meanMs) / 8
    },
    unusualAfterMs: () => (seen ? meanMs + 4 * deviationMs : Number.POSITIVE_INFINITY),
  }
}

/** undici's code for an answer above `maxResponseSize`. */
const TOO_LARGE_CODE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE'

/** The codes that Node and undici give when no byte of the request has been written. */
const UNSENT_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_DESTROYED',
  'UND_ERR_CLOSED',
])

function asTransportError(cause: unknown): RpcTransportError {
  if (cause instanceof RpcTransportError) return cause
  const code = codeOf(cause)
  return new RpcTransportError(UNSENT_CODES.has(code) ? 'unsent' : 'unanswered', code, { cause })
}

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown'
  const code = 'code' in cause ? cause.code : undefined
  if (typeof code === 'string') return code
  // Happy-eyeballs failures arrive as one aggregate without a code of its own.
  if (cause instanceof AggregateError) return codeOf(cause.errors[0])
  return cause.name
}
