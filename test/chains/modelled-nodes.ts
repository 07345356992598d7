import { createHash } from 'node:crypto'
import { RpcTransportError } from '../../src/chains/rpc/errors.js'
import type { HttpAnswer } from '../../src/chains/rpc/exchange.js'
import type { Hex } from '../../src/domain/ids.js'
import type { BlockRef } from '../../src/domain/transaction.js'
import type { Draw } from '../simulation/random.js'
import { NodeError } from '../support/scripted-node.js'
import { TEXTS } from './node-texts.js'

/** Signed bytes of the one account of a modelled chain. */
interface SignedBytes {
  readonly hash: Hex
  readonly nonce: number
  readonly fee: bigint
  /** What lands with them. */
  readonly name: string
}

interface Block {
  readonly hash: Hex
  readonly hashes: readonly Hex[]
}

export function hexOf(bytes: Omit<SignedBytes, 'hash'>): Hex {
  const text = `${bytes.nonce}|${bytes.fee}|${bytes.name}`
  return `0x${Buffer.from(text).toString('hex')}`
}

export function hashOf(raw: Hex): Hex {
  return `0x${createHash('sha256').update(raw).digest('hex')}`
}

export function bytesIn(raw: Hex): SignedBytes {
  const [nonce, fee, name] = Buffer.from(raw.slice(2), 'hex').toString().split('|')
  return { hash: hashOf(raw), nonce: Number(nonce), fee: BigInt(fee ?? 0), name: name ?? '' }
}

/** A chain and the pool that its nodes share. Whatever any node took may be mined. */
export class ModelledChain {
  readonly blocks: Block[] = []
  readonly landed = new Map<Hex, { readonly bytes: SignedBytes; readonly height: number }>()
  /** By nonce; several where nodes disagree on which of them to keep. */
  readonly #pool = new Map<number, SignedBytes[]>()
  nonce = 0

  get height(): number {
    return this.blocks.length - 1
  }

  nonceAt(height: number): number {
    let nonce = 0
    for (const { bytes, height: at } of this.landed.values())
      if (at <= height) nonce = Math.max(nonce, bytes.nonce + 1)
    return nonce
  }

  /** @throws NodeError in the words of a pool that does not take it */
  admit(raw: Hex): Hex {
    const bytes = bytesIn(raw)
    if (bytes.nonce < this.nonce) throw new NodeError(-32000, 'nonce too low')
    const there = this.#pool.get(bytes.nonce) ?? []
    if (there.some(({ hash }) => hash === bytes.hash)) throw new NodeError(-32000, 'already known')
    if (there.some(({ fee }) => fee >= bytes.fee)) {
      throw new NodeError(-32000, 'replacement transaction underpriced')
    }
    this.#pool.set(bytes.nonce, [...there, bytes])
    return bytes.hash
  }

  /** One of those at each nonce, from the next one on. */
  mine(draw: Draw): void {
    const hashes: Hex[] = []
    const height = this.blocks.length
    for (
      let there = this.#pool.get(this.nonce);
      there !== undefined;
      there = this.#pool.get(this.nonce)
    ) {
      const bytes = draw.pick(there)
      this.#pool.delete(this.nonce)
      this.landed.set(bytes.hash, { bytes, height })
      hashes.push(bytes.hash)
      this.nonce++
      if (draw.chance(0.3)) break
    }
    this.blocks.push({ hash: hashOf(`0x${height}`), hashes })
  }

  blockAt(height: number): BlockRef | null {
    const block = this.blocks[height]
    return block === undefined ? null : { blockNumber: height, blockHash: block.hash }
  }
}

/** What an endpoint does with a request that has bytes in it. */
const MOODS = [
  'takes',
  'takes and loses the answer',
  'loses the request',
  'refuses',
  'hands on and refuses',
  'hands on and refuses',
  'turns away over HTTP',
  'hands on and turns away over HTTP',
  'is not reached',
  'takes one at a time',
] as const
type Mood = (typeof MOODS)[number]

const WORDS = TEXTS.map(([text]) => text)
/** Statuses with which gateways turn requests away, whether or not they passed them on. */
const STATUSES = [400, 403, 413, 500, 502, 503] as const

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** An endpoint of the chain, which may be a gateway in front of nodes that lag. */
export class ModelledEndpoint {
  /** `well`: honest and up to date; `dead`: never reached; `odd`: anything goes. */
  state: 'odd' | 'well' | 'dead' = 'odd'
  readonly #chain: ModelledChain
  readonly #draw: Draw
  readonly #lagMax: number
  readonly #oddness: number

  constructor(chain: ModelledChain, draw: Draw) {
    this.#chain = chain
    this.#draw = draw
    this.#lagMax = draw.pick([0, 1, 3, 8])
    this.#oddness = draw.pick([0.2, 0.6, 1])
  }

  post(body: string): Promise<HttpAnswer> {
    try {
      return Promise.resolve(this.#answer(JSON.parse(body)))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #answer(asked: Call | readonly Call[]): HttpAnswer {
    if (this.state === 'dead') throw new RpcTransportError('unsent', 'ECONNREFUSED')
    const calls = 'method' in asked ? [asked] : asked
    const isSend = calls.some(({ method }) => method === 'eth_sendRawTransaction')
    const isOdd = this.state === 'odd' && isSend && this.#draw.chance(this.#oddness)
    const mood: Mood = isOdd ? this.#draw.pick(MOODS) : 'takes'
    if (mood === 'is not reached') throw new RpcTransportError('unsent', 'ECONNREFUSED')
    if (mood === 'loses the request') throw new RpcTransportError('unanswered', 'timeout')
    if (mood === 'turns away over HTTP') return this.#turnedAway()
    const answers = calls.map((call) => this.#answerTo(call, mood))
    if (mood === 'takes and loses the answer') throw new RpcTransportError('unanswered', 'reset')
    if (mood === 'hands on and turns away over HTTP') return this.#turnedAway()
    if (mood === 'takes one at a time' && calls.length > 1) return this.#turnedAway()
    return textual(200, JSON.stringify('method' in asked ? answers[0] : answers))
  }

  #turnedAway(): HttpAnswer {
    if (this.#draw.chance(0.3)) {
      const error = { code: -32600, message: 'batch of more than 1 requests are not allowed' }
      return textual(200, JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    }
    return textual(this.#draw.pick(STATUSES), 'refused')
  }

  #answerTo({ id, method, params }: Call, mood: Mood): object {
    try {
      return { jsonrpc: '2.0', id, result: this.#resultOf(method, params, mood) }
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      return { jsonrpc: '2.0', id, error: { code: error.code, message: error.message } }
    }
  }

  #resultOf(method: string, [first, second]: readonly unknown[], mood: Mood): unknown {
    const { landed, blocks } = this.#chain
    const lag = this.state === 'odd' ? this.#draw.integer(this.#lagMax + 1) : 0
    const head = this.#chain.height - lag
    const seen = landed.get(first as Hex)
    switch (method) {
      case 'eth_chainId':
        return '0x2105'
      case 'eth_sendRawTransaction':
        return this.#send(first as Hex, mood)
      case 'eth_getBlockByNumber': {
        const block = Number(first) <= head ? blocks[Number(first)] : undefined
        return block === undefined ? null : { hash: block.hash, transactions: block.hashes }
      }
      case 'eth_getTransactionCount':
        if (Number(second) > head) throw new NodeError(-32000, 'header not found')
        return `0x${this.#chain.nonceAt(Number(second)).toString(16)}`
      case 'eth_getTransactionReceipt':
      case 'eth_getTransactionByHash':
        return seen === undefined || seen.height > head ? null : { hash: first }
      default:
        throw new NodeError(-32601, `${method} is not available`)
    }
  }

  #send(raw: Hex, mood: Mood): Hex {
    if (mood === 'refuses') throw new NodeError(-32000, this.#draw.pick(WORDS))
    if (mood !== 'hands on and refuses') return this.#chain.admit(raw)
    try {
      this.#chain.admit(raw)
    } catch {
      // What its node says is not what a gateway says.
    }
    throw new NodeError(-32000, this.#draw.pick(WORDS))
  }
}

function textual(status: number, text: string): HttpAnswer {
  return { status, retryAfter: undefined, text }
}
