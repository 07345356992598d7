import { RpcTransportError } from '../../src/chains/rpc/errors.js'
import type { HttpAnswer } from '../../src/chains/rpc/exchange.js'
import type { Transport } from '../../src/chains/rpc/transport.js'
import type { Way } from './links.js'
import { type Node, NodeError } from './node.js'
import type { Draw } from './random.js'
import { arrive, type Life, type Scheduler } from './scheduler.js'

/** Shares of requests, all that remain are answered. */
export interface NetworkFaults {
  readonly latencyMsMax: number
  /** Never reached the node. */
  readonly unsent: number
  /** The node did it, and its answer is lost. */
  readonly unanswered: number
  /** Turned away: 429, or 503 and 500, which a gateway may say that asked another node as well. */
  readonly refused: number
  /** The node did it, and what comes back is no answer to it. */
  readonly garbled: number
}

/** The client's own patience. */
const TIMEOUT_MS = 8_000

/** Of requests turned away by a gateway, how many a node behind it did. */
const REFUSED_AND_DONE = 0.3

interface Asked {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** The way to a node: each request and each answer takes its time, or is lost. */
export class Network {
  faults: NetworkFaults = { latencyMsMax: 40, unsent: 0, unanswered: 0, refused: 0, garbled: 0 }
  readonly #scheduler: Scheduler
  readonly #draw: Draw
  readonly #note: (line: string) => void

  constructor(scheduler: Scheduler, draw: Draw, note: (line: string) => void) {
    this.#scheduler = scheduler
    this.#draw = draw
    this.#note = note
  }

  /** @param label for the trace @param way null: nothing is ever cut off from nodes */
  transportTo(node: Node, label: string, life: Life, way: Way | null): Transport {
    return {
      close: async () => undefined,
      post: (body) =>
        new Promise((resolve, reject) => {
          const whileAlive = (then: () => void) => arrive(this.#scheduler, life, then)
          const asker = {
            resolve: (answer: HttpAnswer) => whileAlive(() => resolve(answer)),
            reject: (error: Error) => whileAlive(() => reject(error)),
          }
          if (way === null) this.#post(node, label, body, asker)
          else this.#postAcross(way, node, label, body, asker)
        }),
    }
  }

  /** What was sent and is cut off arrives once the way is open again, be its asker patient or not. */
  #postAcross(way: Way, node: Node, label: string, body: string, asker: Asker): void {
    const scheduler = this.#scheduler
    const { nowMs } = scheduler
    const giveUp = (kind: 'unsent' | 'unanswered') => {
      const error = new RpcTransportError(kind, kind === 'unsent' ? 'ETIMEDOUT' : 'timeout')
      scheduler.at(nowMs + TIMEOUT_MS, () => asker.reject(error))
    }
    const opensAtMs = way.opensAtMs('there')
    if (opensAtMs > nowMs) {
      const isConnected = this.#draw.chance(0.5)
      giveUp(isConnected ? 'unanswered' : 'unsent')
      if (isConnected) scheduler.at(opensAtMs, () => void this.#answered(node, label, body))
      return
    }
    this.#post(node, label, body, {
      reject: asker.reject,
      resolve: (answer) => {
        const backMs = way.opensAtMs('back')
        if (backMs <= scheduler.nowMs) asker.resolve(answer)
        else if (backMs < nowMs + TIMEOUT_MS) scheduler.at(backMs, () => asker.resolve(answer))
        else giveUp('unanswered')
      },
    })
  }

  #post(node: Node, label: string, body: string, asker: Asker): void {
    const { unsent, unanswered, refused, garbled } = this.faults
    const there = this.#latency()
    const back = this.#latency()
    const drawn = this.#draw.fraction()
    if (drawn < unsent) {
      const error = new RpcTransportError('unsent', 'ECONNREFUSED')
      this.#scheduler.after(there, () => asker.reject(error))
      return
    }
    if (drawn < unsent + refused) {
      const status = this.#draw.pick([429, 503, 500])
      const isDone = status !== 429 && this.#draw.chance(REFUSED_AND_DONE)
      this.#scheduler.after(there, () => {
        if (isDone) this.#answered(node, label, body)
        this.#scheduler.after(back, () =>
          asker.resolve({ status, retryAfter: undefined, text: '' }),
        )
      })
      return
    }
    const isLost = drawn < unsent + refused + unanswered
    this.#scheduler.after(there, () => {
      const text = this.#answered(node, label, body)
      if (isLost) {
        const error = new RpcTransportError('unanswered', 'timeout')
        this.#scheduler.after(TIMEOUT_MS - there, () => asker.reject(error))
      } else {
        const said = this.#draw.chance(garbled) ? this.#garbled(text) : text
        this.#scheduler.after(back, () =>
          asker.resolve({ status: 200, retryAfter: undefined, text: said }),
        )
      }
    })
  }

  /** What gateways make of answers. */
  #garbled(text: string): string {
    return this.#draw.pick([
      ...['', '<html>502 Bad Gateway</html>', text.slice(0, text.length / 2), 'null', '[]'],
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"Internal error"}}',
    ])
  }

  #latency(): number {
    return 1 + this.#draw.integer(this.faults.latencyMsMax)
  }

  #answered(node: Node, label: string, body: string): string {
    const parsed = JSON.parse(body) as Asked | Asked[]
    const asked = Array.isArray(parsed) ? parsed : [parsed]
    this.#note(`${label} ${asked.map(({ method, params }) => shown(method, params)).join(' ')}`)
    const answers = asked.map(({ id, method, params }) => {
      try {
        return { jsonrpc: '2.0', id, result: node.answer(method, params) }
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
      }
    })
    return JSON.stringify(Array.isArray(parsed) ? answers : answers[0])
  }
}

interface Asker {
  resolve(answer: HttpAnswer): void
  reject(error: Error): void
}

function shown(method: string, [first]: readonly unknown[]): string {
  const name = method.slice('eth_'.length)
  return method === 'eth_sendRawTransaction' ? `${name}:${String(first).slice(0, 40)}` : name
}
