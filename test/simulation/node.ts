import type { Hex } from '../../src/domain/ids.js'
import {
  ancestor,
  type Block,
  type Chain,
  L1_FEE_WEI_MAX,
  type Landed,
  ROUTER_GAS,
  TRANSFER_GAS,
} from './chain.js'
import { GETH_RULES, type PoolRules } from './node-rules.js'
import type { Draw } from './random.js'
import type { Scheduler } from './scheduler.js'
import { lower, type SignedTransaction } from './signatures.js'

/** Why a node does not do what it was asked, in its own words. */
export class NodeError extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

export interface NodeFaults {
  /** Blocks come so much later, at most. */
  readonly lagMsMax: number
  /** Of reads, how many are answered by a back end that is a block behind. */
  readonly splits: number
  /** Of transactions, how many are forgotten at a new block. */
  readonly evictions: number
  /** Of transactions, how many do not reach another node. */
  readonly ungossiped: number
  /** Of transactions, how many a back end turns away that has seen no money of their account. */
  readonly unpaid: number
  /** Of receipts that are gone, how many an index still has that has yet to hear of the last reorg. */
  readonly strays: number
  /** The index of receipts knows of a block's transactions so much later, at most. */
  readonly indexLagMsMax: number
}

export const CALM: NodeFaults = {
  ...{ lagMsMax: 0, splits: 0, evictions: 0, ungossiped: 0, unpaid: 0 },
  ...{ strays: 0, indexLagMsMax: 0 },
}
/** No index is behind for longer. */
const STRAY_MS_MAX = 30_000

const WEALTH_WEI = 10n ** 24n
const GOSSIP_MS_MAX = 1_500

/** Predeploy of the OP stack, which says what a transaction costs on Ethereum at most. */
const GAS_PRICE_ORACLE = '0x420000000000000000000000000000000000000f'

/** What one node of a chain has seen, and its pool. */
export class Node {
  readonly chain: Chain
  rules: PoolRules = GETH_RULES
  faults: NodeFaults = CALM
  peers: readonly Node[] = []
  #head: Block
  /** Of the branch that it left last. */
  #left: { readonly head: Block; readonly untilMs: number } | null = null
  readonly #pool = new Map<Hex, Map<number, SignedTransaction>>()
  readonly #indexedAtMs = new Map<Block, number>()
  readonly #scheduler: Scheduler
  readonly #draw: Draw

  constructor(chain: Chain, scheduler: Scheduler, draw: Draw) {
    this.chain = chain
    this.#head = chain.head
    this.#scheduler = scheduler
    this.#draw = draw
  }

  /** The chain has another head, which the node sees when it sees it. */
  announce(orphaned: readonly SignedTransaction[]): void {
    this.#scheduler.after(this.#draw.integer(this.faults.lagMsMax + 1), () => {
      this.#follow(this.chain.head)
      for (const tx of orphaned) if (this.#draw.chance(0.8)) this.#admit(tx)
      for (const [from, pooled] of this.#pool) {
        for (const nonce of pooled.keys()) {
          const isMined = nonce < this.#nonceOf(from)
          if (isMined || this.#draw.chance(this.faults.evictions)) pooled.delete(nonce)
        }
      }
    })
  }

  #follow(head: Block): void {
    const before = this.#head
    this.#head = head
    if (ancestor(head, before.number) === before) return
    this.#left = { head: before, untilMs: this.#scheduler.nowMs + STRAY_MS_MAX }
  }

  /** What it would put into the next block of the chain, senders in turn. */
  offered(): SignedTransaction[] {
    const offered: SignedTransaction[] = []
    for (const [from, pooled] of this.#pool) {
      let nonce = this.chain.head.state.nonces.get(from) ?? 0
      for (let tx = pooled.get(nonce); tx !== undefined; tx = pooled.get(++nonce)) offered.push(tx)
    }
    return offered
  }

  /** @throws NodeError */
  answer(method: string, params: readonly unknown[]): unknown {
    const isBehind = this.#draw.chance(this.faults.splits)
    const head = isBehind ? (this.#head.parent ?? this.#head) : this.#head
    const [first, second] = params as [Hex, unknown]
    switch (method) {
      case 'eth_chainId':
        return hexOf(this.chain.options.chainId)
      case 'eth_blockNumber':
        return hexOf(BigInt(head.number))
      case 'eth_getBlockByNumber':
        return blockOf(blockAt(head, first))
      case 'eth_getTransactionCount': {
        const at = blockAt(head, second)
        if (at === null) throw new NodeError(-32000, 'header not found')
        return hexOf(at.state.nonces.get(lower(first)) ?? 0)
      }
      case 'eth_getTransactionReceipt': {
        const landed = this.#landing(first, head)
        return landed === null ? null : receiptOf(landed)
      }
      case 'eth_getCode': {
        if (this.chain.options.hasL1Fees && lower(first) === GAS_PRICE_ORACLE) return '0x60'
        const delegate = head.state.delegates.get(lower(first))
        return delegate === undefined ? '0x' : `0xef0100${delegate.slice(2)}`
      }
      case 'eth_getBalance':
        return hexOf(WEALTH_WEI)
      case 'eth_feeHistory':
        return {
          baseFeePerGas: [hexOf(head.baseFeeWei), hexOf(head.baseFeeWei)],
          gasUsedRatio: [0.5],
          reward: [[hexOf(10n ** 8n)]],
        }
      case 'eth_call':
        return `0x${L1_FEE_WEI_MAX.toString(16).padStart(64, '0')}`
      case 'eth_estimateGas':
        return this.#estimate(head, params)
      case 'eth_sendRawTransaction':
        return this.#send(first)
      default:
        throw new NodeError(-32601, `the method ${method} does not exist`)
    }
  }

  /** Where it says that a transaction landed. */
  #landing(hash: Hex, head: Block): Landed | null {
    const { strays } = this.faults
    const left = this.#left
    const landed = this.chain.landing(hash, head)
    if (landed !== null && !this.#isIndexed(landed.block)) return null
    if (strays === 0 || landed !== null || left === null) return landed
    const isStray = this.#scheduler.nowMs <= left.untilMs && this.#draw.chance(strays)
    return isStray ? this.chain.landing(hash, left.head) : null
  }

  #isIndexed(block: Block): boolean {
    const { indexLagMsMax } = this.faults
    if (indexLagMsMax === 0) return true
    const atMs =
      this.#indexedAtMs.get(block) ?? block.timestampMs + this.#draw.integer(indexLagMsMax)
    this.#indexedAtMs.set(block, atMs)
    return this.#scheduler.nowMs >= atMs
  }

  #estimate(head: Block, [call, , overrides]: readonly unknown[]): Hex {
    const { to, data } = call as { to: Hex; data: Hex }
    if (lower(to) !== this.chain.options.router) return hexOf(TRANSFER_GAS)
    const said = { ...head, timestampMs: this.#scheduler.nowMs }
    for (const [account, { code }] of Object.entries(
      (overrides ?? {}) as Record<Hex, { readonly code: Hex }>,
    )) {
      const delegates = new Map(said.state.delegates)
      delegates.set(lower(account as Hex), lower(`0x${code.slice(8)}`))
      said.state = { ...said.state, delegates }
    }
    if (data.length > 2 + 8 + 2 * 64) {
      const why = this.chain.whyNotExecuted(said, data)
      if (why !== null) throw new NodeError(3, `execution reverted: ${why}`)
    }
    return hexOf(ROUTER_GAS)
  }

  #send(raw: Hex): Hex {
    const tx = this.chain.options.signatures.decode(raw)
    if (tx === undefined) throw new NodeError(-32000, 'rlp: expected List')
    const { unpaid } = this.faults
    // Another back end, or another node, may have it all the same.
    const isUnpaid = unpaid > 0 && this.#draw.chance(unpaid)
    const refusal = isUnpaid ? this.rules.words.unpaid : this.#admit(tx)
    if (refusal !== null) throw new NodeError(-32000, refusal)
    for (const peer of this.peers) {
      if (peer === this || this.#draw.chance(this.faults.ungossiped)) continue
      this.#scheduler.after(this.#draw.integer(GOSSIP_MS_MAX), () => void peer.#admit(tx))
    }
    return tx.hash
  }

  /** @returns what it says of one that it does not take */
  #admit(tx: SignedTransaction): string | null {
    const { words, bumpPercent, refusesGaps, wantsBaseFee, refusesSelfSends } = this.rules
    if (refusesSelfSends && tx.to === tx.from) return words.gasTooLow
    const next = this.#nonceOf(tx.from)
    if (tx.nonce < next) return words.nonceTooLow(next, tx.nonce)
    const pooled = this.#pool.get(tx.from) ?? new Map<number, SignedTransaction>()
    const there = pooled.get(tx.nonce)
    if (there?.hash === tx.hash) return words.known
    if (wantsBaseFee && tx.maxFeePerGas < this.#head.baseFeeWei) return words.feeTooLow
    if (there !== undefined && !outbids(tx, there, bumpPercent)) return words.replacement
    if (there === undefined && this.#head.state.delegates.has(tx.from)) {
      // What waits for an earlier nonce does not count.
      if (pooled.has(next)) return words.inFlight
      if (tx.nonce > next) return 'gapped-nonce tx from delegated accounts'
    }
    if (refusesGaps && !follows(pooled, next, tx.nonce)) return words.gap
    pooled.set(tx.nonce, tx)
    this.#pool.set(tx.from, pooled)
    return null
  }

  #nonceOf(from: Hex): number {
    return this.#head.state.nonces.get(from) ?? 0
  }
}

function outbids(tx: SignedTransaction, there: SignedTransaction, percent: bigint): boolean {
  const isHigher = (a: bigint, b: bigint) => a * 100n >= b * (100n + percent)
  return (
    isHigher(tx.maxFeePerGas, there.maxFeePerGas) &&
    isHigher(tx.maxPriorityFeePerGas, there.maxPriorityFeePerGas)
  )
}

/** Whether all nonces below are there. */
function follows(pooled: ReadonlyMap<number, unknown>, next: number, nonce: number): boolean {
  for (let at = next; at < nonce; at++) if (!pooled.has(at)) return false
  return true
}

function blockAt(head: Block, at: unknown): Block | null {
  if (typeof at === 'string' && at.startsWith('0x')) return ancestor(head, Number(at))
  return head
}

/** A block is asked for more often than anything else, and never changes once it is there. */
const SHOWN = new WeakMap<Block, object>()

function blockOf(block: Block | null) {
  if (block === null) return null
  const shown = SHOWN.get(block) ?? shownOf(block)
  SHOWN.set(block, shown)
  return shown
}

function shownOf(block: Block) {
  return {
    number: hexOf(block.number),
    hash: block.hash,
    parentHash: block.parent?.hash ?? `0x${'0'.repeat(64)}`,
    timestamp: hexOf(Math.floor(block.timestampMs / 1_000)),
    baseFeePerGas: hexOf(block.baseFeeWei),
    gasLimit: hexOf(30_000_000),
    transactions: block.landed.map(({ tx }) => tx.hash),
  }
}

function receiptOf(landed: Landed) {
  const { tx, block, isSuccess, gasUsed, gasPriceWei, l1FeeWei } = landed
  return {
    transactionHash: tx.hash,
    blockNumber: hexOf(block.number),
    blockHash: block.hash,
    status: isSuccess ? '0x1' : '0x0',
    gasUsed: hexOf(gasUsed),
    effectiveGasPrice: hexOf(gasPriceWei),
    ...(l1FeeWei > 0n ? { l1Fee: hexOf(l1FeeWei) } : {}),
    logs: [],
  }
}

function hexOf(value: number | bigint): Hex {
  return `0x${value.toString(16)}`
}
