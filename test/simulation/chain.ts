import type { Hex } from '../../src/domain/ids.js'
import type { Draw } from './random.js'
import { lower, type Signatures, type SignedTransaction } from './signatures.js'

/** What blocks leave behind. */
interface State {
  readonly nonces: ReadonlyMap<Hex, number>
  /** Delegates, by account. */
  readonly delegates: ReadonlyMap<Hex, Hex>
  /** `account nonce` of intents that were executed or cancelled. */
  readonly usedIntents: ReadonlySet<string>
}

export interface Landed {
  readonly tx: SignedTransaction
  readonly block: Block
  readonly isSuccess: boolean
  readonly gasUsed: bigint
  readonly gasPriceWei: bigint
  /** Besides gas, on chains of the OP stack. */
  readonly l1FeeWei: bigint
  /** Of the Router: the intent that it executed. */
  readonly executed: string | null
}

export interface Block {
  readonly number: number
  readonly hash: Hex
  readonly parent: Block | null
  readonly timestampMs: number
  readonly baseFeeWei: bigint
  readonly landed: Landed[]
  state: State
}

const EMPTY: State = { nonces: new Map(), delegates: new Map(), usedIntents: new Set() }
export const TRANSFER_GAS = 21_000n
export const ROUTER_GAS = 180_000n
const GENESIS = 1_000_000
/** More than the deepest reorg leaves. */
const HISTORY_BLOCKS = 320
const BLOCK_MS_MIN = 1_000
/** Of what gas costs in quiet times: below, it comes back. */
const LOWEST_PART = 10n
const HIGHEST_TIMES = 40n
const DEAR_TIMES = 8n
/** Of the OP stack: besides gas, for each transaction, at most. */
export const L1_FEE_WEI_MAX = 10n ** 12n
/** `execute` and `cancel` of the Router are told apart by their arguments' length. */
const CANCEL_CHARS = 2 + 8 + 2 * 64

export interface ChainOptions {
  readonly chainId: number
  readonly router: Hex
  readonly delegate: Hex
  readonly signatures: Signatures
  readonly draw: Draw
  readonly startMs: number
  /** From which fees of blocks start, and to which they come back. */
  readonly baseFeeWei: bigint
  readonly hasL1Fees: boolean
  /** Blocks, its own with them, after which what is in one is taken for final. */
  readonly confirmations: number
}

/** A chain as it is, with the branches that it left. What nodes know of it is theirs. */
export class Chain {
  readonly options: ChainOptions
  head: Block
  /** Of executions that would succeed, how many the venue reverts. */
  reverts = 0
  #blocks = 0
  /** By hash, on every branch. */
  readonly #landings = new Map<Hex, Landed[]>()
  /** By hash: what a reorg took back that was final before. */
  readonly #takenBack = new Map<Hex, Landed[]>()
  /**
   * What gas costs from now on, wei; null: it moves. At its lowest nothing is left behind that cannot
   * pay more.
   */
  settledFeeWei: bigint | null = null

  constructor(options: ChainOptions) {
    this.options = options
    this.head = {
      number: GENESIS,
      hash: this.#hash(),
      parent: null,
      timestampMs: options.startMs - HISTORY_BLOCKS * BLOCK_MS_MIN,
      baseFeeWei: options.baseFeeWei,
      landed: [],
      state: EMPTY,
    }
    // A watcher that looks for a fork reads down past where the run began.
    for (let i = 0; i < HISTORY_BLOCKS; i++) this.extend(options.startMs, [])
  }

  /** Makes the next block of what can go into it. @param offered in the order of nonces */
  extend(timestampMs: number, offered: readonly SignedTransaction[]): Block {
    const { draw, baseFeeWei } = this.options
    const parent = this.head
    const risen = (parent.baseFeeWei * BigInt(draw.between(7, 9))) / 8n
    const isFarOff = risen < this.lowestFeeWei || risen > this.#highestFeeWei
    const block: Block = {
      number: parent.number + 1,
      hash: this.#hash(),
      parent,
      timestampMs: Math.max(
        parent.number < GENESIS + HISTORY_BLOCKS ? 0 : timestampMs,
        parent.timestampMs + BLOCK_MS_MIN,
      ),
      baseFeeWei: this.settledFeeWei ?? (isFarOff ? baseFeeWei : risen),
      landed: [],
      state: parent.state,
    }
    for (const tx of offered) this.#include(block, tx)
    this.head = block
    return block
  }

  get lowestFeeWei(): bigint {
    return this.options.baseFeeWei / LOWEST_PART
  }

  /** More than anybody offered by now. */
  get dearFeeWei(): bigint {
    const dear = this.head.baseFeeWei * DEAR_TIMES
    return dear < this.#highestFeeWei ? dear : this.#highestFeeWei
  }

  get #highestFeeWei(): bigint {
    return this.options.baseFeeWei * HIGHEST_TIMES
  }

  /** Leaves the last blocks. @returns what was in them */
  fork(depth: number): SignedTransaction[] {
    const orphaned: SignedTransaction[] = []
    const finalBefore = this.head.number - this.options.confirmations + 1
    for (let i = 0; i < depth && this.head.parent !== null; i++) {
      const { number, landed } = this.head
      orphaned.push(...landed.map(({ tx }) => tx))
      if (number <= finalBefore) for (const one of landed) this.#noteTakenBack(one)
      this.head = this.head.parent
    }
    return orphaned
  }

  /** Where a transaction was that was final there, and is not any more. */
  takenBack(hash: Hex): readonly Landed[] {
    return this.#takenBack.get(hash) ?? []
  }

  #noteTakenBack(landed: Landed): void {
    const { hash } = landed.tx
    this.#takenBack.set(hash, [...this.takenBack(hash), landed])
  }

  /** Where the branch of a block has a transaction. */
  landing(hash: Hex, seenFrom: Block = this.head): Landed | null {
    const all = this.#landings.get(hash)
    return all?.find(({ block }) => ancestor(seenFrom, block.number) === block) ?? null
  }

  /** How many of an account's landed. */
  authorizationsOf(account: Hex): number {
    let count = 0
    for (let at: Block | null = this.head; at !== null; at = at.parent) {
      for (const { tx } of at.landed) {
        for (const authorization of tx.authorizationList ?? []) {
          if (this.options.signatures.authorityOf(authorization) === account) count++
        }
      }
    }
    return count
  }

  /** Why an intent could not be executed on top of a block; null: it could. */
  whyNotExecuted(block: Block, data: Hex): string | null {
    const { account, nonce, deadline, r } = intentIn(data)
    const { delegates, usedIntents } = block.state
    const { chainId, signatures } = this.options
    if (!signatures.isIntent(r, { chainId, account, nonce, deadline })) return 'bad signature'
    if (delegates.get(account) !== this.options.delegate) return 'not delegated'
    if (usedIntents.has(`${account} ${nonce}`)) return 'nonce used'
    return block.timestampMs > deadline * 1_000 ? 'too late' : null
  }

  #include(block: Block, tx: SignedTransaction): void {
    const { state } = block
    if (tx.nonce !== (state.nonces.get(tx.from) ?? 0) || tx.maxFeePerGas < block.baseFeeWei) return
    const nonces = new Map(state.nonces).set(tx.from, tx.nonce + 1)
    const delegates = new Map(state.delegates)
    for (const authorization of tx.authorizationList ?? []) {
      const { chainId, address, nonce } = authorization
      const authority = this.options.signatures.authorityOf(authorization)
      if (authority === undefined || chainId !== this.options.chainId) continue
      if (nonce !== (nonces.get(authority) ?? 0)) continue
      nonces.set(authority, nonce + 1)
      delegates.set(authority, lower(address))
    }
    block.state = { ...state, nonces, delegates }
    const { isSuccess, used, executed, gasUsed } = this.#run(block, tx)
    if (used !== null) {
      block.state = { ...block.state, usedIntents: new Set(state.usedIntents).add(used) }
    }
    const offeredWei = block.baseFeeWei + tx.maxPriorityFeePerGas
    const isCapped = offeredWei > tx.maxFeePerGas
    const gasPriceWei = isCapped ? tx.maxFeePerGas : offeredWei
    const { hasL1Fees, draw } = this.options
    const l1FeeWei = hasL1Fees ? BigInt(draw.integer(Number(L1_FEE_WEI_MAX))) : 0n
    const landed = { tx, block, isSuccess, gasUsed, gasPriceWei, l1FeeWei, executed }
    block.landed.push(landed)
    this.#landings.set(tx.hash, [...(this.#landings.get(tx.hash) ?? []), landed])
  }

  #run(block: Block, { to, data }: SignedTransaction) {
    const plain = { isSuccess: true, used: null, executed: null, gasUsed: TRANSFER_GAS }
    if (to !== this.options.router || data === '0x') return plain
    const gasUsed = ROUTER_GAS
    if (data.length === CANCEL_CHARS) {
      const used = `${addressIn(data, 0)} ${wordIn(data, 1)}`
      return { isSuccess: true, used, executed: null, gasUsed }
    }
    const fails = this.whyNotExecuted(block, data) !== null
    if (fails || this.options.draw.chance(this.reverts)) {
      return { isSuccess: false, used: null, executed: null, gasUsed }
    }
    const { account, nonce } = intentIn(data)
    const used = `${account} ${nonce}`
    return { isSuccess: true, used, executed: used, gasUsed }
  }

  #hash(): Hex {
    const tag = this.options.chainId.toString(16).padStart(8, '0')
    return `0xb${tag}${(++this.#blocks).toString(16).padStart(55, '0')}`
  }
}

/** The block of a height on the branch of another. */
export function ancestor(from: Block, number: number): Block | null {
  let at: Block | null = from
  while (at !== null && at.number > number) at = at.parent
  return at?.number === number ? at : null
}

/** Arguments of `execute`: ten words of the intent, the place of its data, `r` and `vs`. */
function intentIn(data: Hex) {
  return {
    account: addressIn(data, 0),
    nonce: wordIn(data, 7),
    deadline: Number(wordIn(data, 8)),
    r: `0x${digitsIn(data, 11)}` as Hex,
  }
}

function digitsIn(data: Hex, word: number): string {
  return data.slice(10 + 64 * word, 74 + 64 * word)
}

function wordIn(data: Hex, word: number): bigint {
  return BigInt(`0x${digitsIn(data, word)}`)
}

function addressIn(data: Hex, word: number): Hex {
  return `0x${digitsIn(data, word).slice(24)}`
}
