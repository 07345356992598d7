/**
 * Implements Chainalysis' free sanctions API: `GET /api/v1/address/{address}` with an `X-API-Key`;
 * an empty `identifications` is clean. Other providers with the same API are used by their base
 * URL.
 */
import { LRUCache } from 'lru-cache'
import { type Dispatcher, EnvHttpProxyAgent, request } from 'undici'
import { z } from 'zod'
import type { Address } from '../../domain/ids.js'
import { CircuitBreaker } from './circuit-breaker.js'
import type { RiskAnswer, RiskProvider } from './risk-provider.js'

/** Cached answers; an address and its answer take about 300 bytes. */
const CACHE_ENTRIES_MAX = 50_000
/** This layer finds a designation at worst an hour late; the lists already have it. */
const CLEAN_TTL_MS = 60 * 60_000
const FLAGGED_TTL_MS = 24 * 60 * 60_000
/** Short, because a caller waits for the screening. */
const DEFAULT_TIMEOUT_MS = 2_000
const CONNECT_MS_MAX = 1_500
const ANSWER_BYTES_MAX = 64 * 1024
const BREAKER_FAILURES_MAX = 5
const BREAKER_OPEN_MS = 30_000
/** Requests under way at once; further ones count as unavailable instead of queueing. */
const IN_FLIGHT_MAX = 256
const CATEGORY_CHARS_MAX = 64

const answerBody = z.object({
  identifications: z.array(z.object({ category: z.string().optional() })).max(1_000),
})

export interface ChainalysisOptions {
  readonly name: string
  /** The base URL, for example `https://public.chainalysis.com`. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly kind: RiskProvider['kind']
  readonly whenUnavailable: RiskProvider['whenUnavailable']
  readonly timeoutMs?: number
  readonly nowMs?: () => number
}

export interface HttpRiskProvider extends RiskProvider {
  close(): Promise<void>
}

/** @throws TypeError when the base URL is not a URL */
export function createChainalysisProvider(options: ChainalysisOptions): HttpRiskProvider {
  return new ChainalysisProvider(options)
}

class ChainalysisProvider implements HttpRiskProvider {
  readonly name: string
  readonly kind: RiskProvider['kind']
  readonly whenUnavailable: RiskProvider['whenUnavailable']
  readonly #baseUrl: URL
  readonly #apiKey: string
  readonly #timeoutMs: number
  readonly #nowMs: () => number
  readonly #dispatcher: Dispatcher = new EnvHttpProxyAgent({ connect: { timeout: CONNECT_MS_MAX } })
  readonly #breaker = new CircuitBreaker(BREAKER_FAILURES_MAX, BREAKER_OPEN_MS)
  readonly #cache = new LRUCache<string, RiskAnswer>({ max: CACHE_ENTRIES_MAX, ttl: CLEAN_TTL_MS })
  readonly #inFlight = new Map<string, Promise<RiskAnswer>>()

  constructor(options: ChainalysisOptions) {
    this.name = options.name
    this.kind = options.kind
    this.whenUnavailable = options.whenUnavailable
    this.#baseUrl = new URL(options.baseUrl)
    this.#apiKey = options.apiKey
    this.#timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    this.#nowMs = options.nowMs ?? Date.now
  }

  check(address: Address): RiskAnswer | Promise<RiskAnswer> {
    const key = address.toLowerCase()
    const known = this.#cache.get(key)
    if (known !== undefined) return known
    const asked = this.#inFlight.get(key)
    if (asked !== undefined) return asked
    if (this.#inFlight.size >= IN_FLIGHT_MAX) return unavailable('too many requests under way')
    if (!this.#breaker.allows(this.#nowMs())) return unavailable('it failed lately')
    const asking = this.#ask(key).finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, asking)
    return asking
  }

  async close(): Promise<void> {
    await this.#dispatcher.close()
  }

  async #ask(key: string): Promise<RiskAnswer> {
    try {
      const answer = await this.#request(key)
      this.#breaker.succeeded()
      const ttl = answer.outcome === 'flagged' ? FLAGGED_TTL_MS : CLEAN_TTL_MS
      this.#cache.set(key, answer, { ttl })
      return answer
    } catch (error) {
      this.#breaker.failed(this.#nowMs())
      return unavailable(reasonOf(error))
    }
  }

  async #request(key: string): Promise<RiskAnswer> {
    const url = new URL(`/api/v1/address/${key}`, this.#baseUrl)
    const { statusCode, body } = await request(url, {
      dispatcher: this.#dispatcher,
      headers: { accept: 'application/json', 'x-api-key': this.#apiKey },
      signal: AbortSignal.timeout(this.#timeoutMs),
    })
    if (statusCode !== 200) {
      await body.dump({ limit: ANSWER_BYTES_MAX })
      throw new ProviderAnswerError(`it answered ${statusCode}`)
    }
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) throw new ProviderAnswerError('its answer is too long')
      chunks.push(chunk)
    }
    const parsed = answerBody.safeParse(JSON.parse(Buffer.concat(chunks).toString('utf8')))
    if (!parsed.success) throw new ProviderAnswerError('its answer has another shape')
    const [first] = parsed.data.identifications
    if (first === undefined) return { outcome: 'clean' }
    const category = (first.category ?? 'identified').slice(0, CATEGORY_CHARS_MAX)
    return { outcome: 'flagged', category, version: new Date(this.#nowMs()).toISOString() }
  }
}

/** Has our own text, so that no part of a request or of its headers reaches a log. */
class ProviderAnswerError extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof ProviderAnswerError) return error.message
  if (error instanceof SyntaxError) return 'its answer is not JSON'
  const { name, code } = error as NodeJS.ErrnoException
  if (name === 'TimeoutError' || name === 'AbortError') return 'it did not answer in time'
  return `it cannot be reached (${code ?? name})`
}

function unavailable(reason: string): RiskAnswer {
  return { outcome: 'unavailable', reason }
}
