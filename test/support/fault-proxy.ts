import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { keccak256 } from 'viem'
import { createPoolRules, type PoolRules } from './fault-proxy-pool.js'

/**
 * A JSON-RPC proxy in front of anvil. It is as strict as production pools are, and it fails on
 * demand: lost answers, time-outs, HTTP refusals, scripted errors, evicted transactions, lag.
 */
export type Fault =
  /** Forwards, then cuts the connection: the node has the request, but the sender does not know. */
  | { readonly kind: 'lose-answer' }
  /** Cuts the connection before anything is forwarded. */
  | { readonly kind: 'cut' }
  /** Never answers; forwards first when `forward` is true. */
  | { readonly kind: 'hang'; readonly forward: boolean }
  | { readonly kind: 'delay'; readonly delayMs: number }
  | { readonly kind: 'http'; readonly status: number; readonly retryAfterSeconds?: number }
  /**
   * With `forward`, behaves like a gateway that passed the call on and answers for another node.
   */
  | {
      readonly kind: 'error'
      readonly code: number
      readonly message: string
      readonly forward?: true
    }
  /** Answers a send with its hash and forgets it: a pool that evicts. */
  | { readonly kind: 'swallow' }
  /** Answers "latest" with the state of so many blocks ago. */
  | { readonly kind: 'lag'; readonly blocks: number }

interface FaultRule {
  /** The JSON-RPC method it applies to; every method when absent. */
  readonly method?: string
  /**
   * How many HTTP requests (or calls, for error, swallow and lag) it affects; Infinity by default.
   */
  readonly times?: number
  /** Applies only to calls with matching parameters. */
  readonly when?: (params: readonly unknown[]) => boolean
  readonly fault: Fault
}

/**
 * Draws in order from one seeded sequence: once per entry and HTTP request for faults that affect a
 * whole request, once per entry and call for error, swallow and lag.
 */
export interface RandomMix {
  readonly seed: number
  readonly entries: readonly {
    readonly chance: number
    readonly method?: string
    readonly fault: Fault
  }[]
}

export interface FaultProxy {
  readonly url: string
  /** Methods that were forwarded or answered, in order; bounded to the latest 10,000. */
  readonly seen: readonly string[]
  /** The number of HTTP requests that arrived. */
  requests(): number
  inject(rule: FaultRule): void
  setRandom(mix: RandomMix | null): void
  /** Removes all rules and the random mix. */
  clear(): void
  close(): Promise<void>
}

export interface FaultProxyOptions {
  readonly upstream: string
  /** Applies the pool rules of geth in front of less strict nodes; off by default. */
  readonly pool?: 'geth' | 'as-upstream'
}

interface Call {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

const SEEN_MAX = 10_000
const SEND = 'eth_sendRawTransaction'
const CALL_FAULTS: ReadonlySet<Fault['kind']> = new Set(['error', 'swallow', 'lag'])
const REQUEST_FAULTS: ReadonlySet<Fault['kind']> = new Set([
  'lose-answer',
  'cut',
  'hang',
  'delay',
  'http',
])

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { upstream } = options
  const pool: PoolRules | null =
    options.pool === 'geth'
      ? createPoolRules(async (calls) => {
          const answers = await forward(upstream, calls.map(withId))
          return answers.map((answer) => (answer as { result?: unknown }).result ?? null)
        })
      : null
  const seen: string[] = []
  let rules: { rule: FaultRule; left: number }[] = []
  let random: { mix: RandomMix; next: () => number } | null = null
  let requests = 0

  /**
   * Returns the first rule that applies to one of the calls, else a fault drawn from the random
   * mix.
   */
  function takeFault(calls: readonly Call[], kinds: ReadonlySet<Fault['kind']>): Fault | null {
    for (const { method, params } of calls) {
      for (const entry of rules) {
        const { rule } = entry
        if (entry.left <= 0 || !kinds.has(rule.fault.kind)) continue
        if (rule.method !== undefined && rule.method !== method) continue
        if (rule.when?.(params) === false) continue
        entry.left--
        return rule.fault
      }
    }
    for (const entry of random?.mix.entries ?? []) {
      if (!kinds.has(entry.fault.kind)) continue
      if (entry.method !== undefined && !calls.some(({ method }) => method === entry.method)) {
        continue
      }
      if ((random?.next() ?? 1) < entry.chance) return entry.fault
    }
    return null
  }

  /** The proxy's own answer to a call, or null when the node behind has to give it. */
  async function ownAnswer(call: Call): Promise<unknown> {
    const { id, method, params } = call
    if (seen.length < SEEN_MAX) seen.push(method)
    const fault = takeFault([call], CALL_FAULTS)
    if (fault?.kind === 'error') {
      if (fault.forward === true) await forward(upstream, [call])
      return rpcError(id, fault.code, fault.message)
    }
    if (fault?.kind === 'swallow') {
      return { jsonrpc: '2.0', id, result: keccak256(params[0] as `0x${string}`) }
    }
    if (fault?.kind === 'lag') return await lagged(upstream, call, fault.blocks)
    if (method !== SEND || pool === null) return null
    const refusal = await pool.admit(params[0] as `0x${string}`)
    if (refusal !== null) return rpcError(id, -32000, refusal)
    // The calls are made one after the other, as geth does: pool rules depend on the order.
    return (await forward(upstream, [call]))[0]
  }

  async function answersTo(calls: readonly Call[]): Promise<unknown[]> {
    const answers: unknown[] = []
    for (const call of calls) answers.push(await ownAnswer(call))
    const rest = calls.filter((_, i) => answers[i] === null)
    const forwarded = rest.length === 0 ? [] : await forward(upstream, rest)
    return answers.map((answer) => answer ?? forwarded.shift())
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    requests++
    const parsed: unknown = JSON.parse(await readBody(request))
    const calls = (Array.isArray(parsed) ? parsed : [parsed]) as Call[]
    const fault = takeFault(calls, REQUEST_FAULTS)
    if (fault?.kind === 'cut') return void request.socket.destroy()
    if (fault?.kind === 'http') {
      const { status, retryAfterSeconds } = fault
      if (retryAfterSeconds !== undefined) response.setHeader('retry-after', retryAfterSeconds)
      return void response.writeHead(status).end('refused')
    }
    if (fault?.kind === 'hang' && !fault.forward) return
    if (fault?.kind === 'delay') await new Promise((r) => setTimeout(r, fault.delayMs))
    const answers = await answersTo(calls)
    if (fault?.kind === 'hang') return
    if (fault?.kind === 'lose-answer') return void request.socket.destroy()
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(Array.isArray(parsed) ? answers : answers[0]))
  }

  const server = createServer((request, response) => {
    handle(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    requests: () => requests,
    inject(rule) {
      rules.push({ rule, left: rule.times ?? Number.POSITIVE_INFINITY })
    },
    setRandom(mix) {
      random = mix === null ? null : { mix, next: sequence(mix.seed) }
    },
    clear() {
      rules = []
      random = null
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function rpcError(id: unknown, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

/** Forwards the calls in one request; the answers are in the order of the calls. */
async function forward(upstream: string, calls: readonly Call[]): Promise<unknown[]> {
  const response = await fetch(upstream, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(calls.map((call, at) => ({ jsonrpc: '2.0', ...call, id: at }))),
  })
  const answers = (await response.json()) as { id: number }[]
  const byPlace = new Map(answers.map((answer) => [answer.id, answer]))
  return calls.map(({ id }, at) => ({ ...byPlace.get(at), id }))
}

function withId(call: Omit<Call, 'id'>, id: number): Call {
  return { id, ...call }
}

async function lagged(upstream: string, call: Call, blocks: number): Promise<unknown> {
  const [answer] = await forward(upstream, [{ id: 0, method: 'eth_blockNumber', params: [] }])
  const head = Number((answer as { result?: unknown }).result)
  const then = `0x${Math.max(0, head - blocks).toString(16)}`
  if (call.method === 'eth_blockNumber') return { jsonrpc: '2.0', id: call.id, result: then }
  const params = call.params.map((param) => (param === 'latest' ? then : param))
  return (await forward(upstream, [{ ...call, params }]))[0]
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

/** mulberry32: small, seeded, and good enough to mix faults. */
function sequence(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
