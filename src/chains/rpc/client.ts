import type { Hex } from '../../domain/ids.js'
import { FaultError, fault } from '../../errors/fault.js'
import type { BroadcastOutcome } from './broadcast-outcome.js'
import { createEndpoint } from './endpoint.js'
import { createEndpointSet } from './endpoint-set.js'
import { PROCESS_TIMERS } from './process-timers.js'
import { unavailable } from './read-answers.js'
import { createReadRunner, type PendingRead } from './reads.js'
import { createRequestQueue, type RequestQueue } from './request-queue.js'
import {
  createSendRunner,
  createSpreadRunner,
  type PendingSend,
  type PendingSpread,
  pendingSend,
  pendingSpread,
  unspread,
} from './sends.js'
import { httpTransport } from './transport.js'
import {
  BATCH_MAX,
  NO_METRICS,
  type RpcCall,
  type RpcClient,
  type RpcClientOptions,
  type RpcEndpoint,
  type RpcResult,
} from './types.js'
import { createViewRunner, type PendingViews } from './views.js'
import { serialiseCall } from './wire.js'

/** Public nodes answer most reads in well under a second; a slower node is not healthy. */
const TIMEOUT_MS = 8_000
/** Characters per HTTP request; geth accepts 5 MB, some providers 1 MB. */
const BATCH_CHARS_MAX = 1_000_000
/** HTTP requests in flight, per kind, so that reads never starve broadcasts. */
const SLOTS_MAX = 8
/** One second of work for a slow endpoint: 8 slots × 100 calls × ~10 answers a second. */
const QUEUED_READS_MAX = 8_192
const QUEUED_SENDS_MAX = 8_192
/**
 * Methods whose answer a caller's calldata can make large or slow. They are sent singly, so that
 * they cannot spoil a batch, and wait in a queue of their own.
 */
const HEAVY_METHODS: ReadonlySet<string> = new Set(['eth_simulateV1', 'debug_traceCall'])
const HEAVY_SLOTS_MAX = 4
const QUEUED_HEAVY_READS_MAX = 512
/** Proofs are for rare disputes and each goes to all endpoints, so few run at a time. */
const VIEW_SLOTS_MAX = 2
/**
 * When a node lies about all lanes, this many may dispute at once; the others try again at the next
 * block.
 */
const QUEUED_VIEWS_MAX = 512
/** Twice 128 KiB of calldata as hex, and room for the envelope. */
const RAW_CHARS_MAX = 400_000

/** @throws TypeError when an endpoint is not a URL */
export function createRpcClient(options: RpcClientOptions): RpcClient {
  const { chainId } = options
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const metrics = options.metrics ?? NO_METRICS
  const timers = options.timers ?? PROCESS_TIMERS
  const transportTo = options.transportTo ?? ((url) => httpTransport(url, timeoutMs))
  const endpoints = options.endpoints.map((url, index) =>
    createEndpoint({ index, url, chainId, transport: transportTo(url), timers, metrics }),
  )
  const set = createEndpointSet(endpoints, timers)
  const runner = createReadRunner(chainId, set, timeoutMs, metrics, timers)
  const reads = createRequestQueue<PendingRead>({
    timers,
    slotsMax: SLOTS_MAX,
    queuedMax: options.queuedReadsMax ?? QUEUED_READS_MAX,
    batchMax: BATCH_MAX,
    batchCharsMax: BATCH_CHARS_MAX,
    size: (item) => item.text.length,
    run: runner.run,
  })
  const heavyReads = createRequestQueue<PendingRead>({
    timers,
    slotsMax: HEAVY_SLOTS_MAX,
    queuedMax: QUEUED_HEAVY_READS_MAX,
    batchMax: 1,
    batchCharsMax: BATCH_CHARS_MAX,
    size: (item) => item.text.length,
    run: runner.run,
  })
  const sends = createRequestQueue<PendingSend>({
    timers,
    slotsMax: SLOTS_MAX,
    queuedMax: options.queuedSendsMax ?? QUEUED_SENDS_MAX,
    batchMax: BATCH_MAX,
    batchCharsMax: BATCH_CHARS_MAX,
    size: (item) => item.text.length,
    run: createSendRunner(set, timeoutMs, metrics, timers).run,
  })
  const spreads = createRequestQueue<PendingSpread>({
    timers,
    slotsMax: VIEW_SLOTS_MAX,
    queuedMax: options.queuedSendsMax ?? QUEUED_SENDS_MAX,
    batchMax: BATCH_MAX,
    batchCharsMax: BATCH_CHARS_MAX,
    size: (item) => item.text.length,
    run: createSpreadRunner(set, metrics).run,
  })
  const views = createRequestQueue<PendingViews>({
    timers,
    slotsMax: VIEW_SLOTS_MAX,
    queuedMax: QUEUED_VIEWS_MAX,
    batchMax: 1,
    batchCharsMax: BATCH_CHARS_MAX,
    size: ({ texts }) => texts.length,
    run: createViewRunner(set).run,
  })
  for (const queue of [reads, heavyReads, views]) metrics.queue('read', queue.read)
  for (const queue of [sends, spreads]) metrics.queue('send', queue.read)
  let closed = false

  function read(call: RpcCall, resolve: (answer: RpcResult) => void): void {
    enqueue(HEAVY_METHODS.has(call.method) ? heavyReads : reads, {
      method: call.method,
      ...(call.hasCode === true ? { hasCode: call.hasCode } : {}),
      text: serialiseCall(call),
      resolve,
    })
  }

  function enqueue(queue: RequestQueue<PendingRead>, item: PendingRead): void {
    const { resolve } = item
    if (closed) {
      resolve(unavailable(chainId))
      return
    }
    if (queue.push(item)) return
    metrics.overflow('read')
    resolve({
      ok: false,
      error: new FaultError(fault('OVERLOADED', { chain_id: chainId })),
    })
  }

  return {
    chainId,
    request<T>(method: string, params: readonly unknown[]): Promise<T> {
      return new Promise((resolve, reject) => {
        read({ method, params }, (answer) => {
          if (answer.ok) resolve(answer.value as T)
          else reject(answer.error)
        })
      })
    },
    requestOf<T>(
      mayAsk: (endpoint: RpcEndpoint) => boolean,
      method: string,
      params: readonly unknown[],
    ): Promise<T> {
      return new Promise((resolve, reject) => {
        enqueue(heavyReads, {
          method,
          text: serialiseCall({ method, params }),
          mayAsk,
          resolve(answer) {
            if (answer.ok) resolve(answer.value as T)
            else reject(answer.error)
          },
        })
      })
    },
    batch(calls) {
      // One promise for all of them: a batch of receipts has hundreds.
      return new Promise((resolve) => {
        const answers = new Array<RpcResult>(calls.length)
        let missing = calls.length
        if (missing === 0) resolve(answers)
        for (const [index, call] of calls.entries()) {
          read(call, (answer) => {
            answers[index] = answer
            if (--missing === 0) resolve(answers)
          })
        }
      })
    },
    views(calls, isEnough) {
      return new Promise((resolve) => {
        if (closed || calls.length > BATCH_MAX) return resolve([])
        if (
          views.push({
            texts: calls.map((call) => ({
              text: serialiseCall(call),
              mayBePruned: call.mayBePruned === true,
            })),
            isEnough: isEnough ?? null,
            resolve,
          })
        )
          return
        metrics.overflow('read')
        resolve([])
      })
    },
    sendRawTransaction(raw: Hex) {
      if (raw.length > RAW_CHARS_MAX || !isWholeBytes(raw)) {
        const text = 'not the hex of a transaction'
        return Promise.resolve<BroadcastOutcome>({ kind: 'rejected', reason: 'unsendable', text })
      }
      return new Promise((resolve) => {
        if (closed) return resolve({ kind: 'retry', text: 'the client is closed' })
        if (sends.push(pendingSend(raw, resolve))) return
        metrics.overflow('send')
        resolve({ kind: 'retry', text: 'the broadcast queue is full' })
      })
    },
    sendEverywhere(raw) {
      return new Promise((resolve) => {
        if (closed) return resolve(unspread('the client is closed'))
        if (spreads.push(pendingSpread(raw, resolve))) return
        metrics.overflow('send')
        resolve(unspread('the broadcast queue is full'))
      })
    },
    endpoints: () => endpoints,
    healthyEndpoints: () => set.readyCount(),
    async close() {
      closed = true
      const waiting = [...reads.drain(), ...heavyReads.drain()]
      for (const item of waiting) item.resolve(unavailable(chainId))
      for (const item of views.drain()) item.resolve([])
      for (const item of spreads.drain()) item.resolve(unspread('the client is closed'))
      for (const item of sends.drain()) item.resolve(item.sum.result())
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  }
}

/** Does the work of a regular expression in a third of its time, because each send needs it. */
function isWholeBytes(raw: Hex): boolean {
  const digits = raw.slice(2)
  // The decoder stops at anything that is not a pair of digits.
  const bytes = Buffer.from(digits, 'hex').length
  return raw.startsWith('0x') && bytes > 0 && bytes * 2 === digits.length
}
