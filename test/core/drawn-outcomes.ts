import type { Outcome, ReplacePurpose } from '../../actors/account/core/messages.js'
import type { SignedBytes } from '../../actors/account/core/state.js'
import type { Command } from '../../actors/sub-wallet/core/messages.js'
import type { Hex, TxId } from '../../src/domain/ids.js'
import type { AccountTransaction, MinedIn } from '../../src/domain/transaction.js'
import { fault } from '../../src/errors/fault.js'
import { CHAIN_ID, START_MS, WEI_PER_MICRO } from '../actors/wallet-fixtures.js'
import { seededRandom } from '../faults/random.js'

type Of<T extends Command['type']> = Extract<Command, { type: T }>

const OUTCOMES: readonly Exclude<Outcome, { kind: 'nonce-lost' }>[] = [
  { kind: 'accepted' },
  { kind: 'accepted' },
  { kind: 'indeterminate', maybeBroadcast: true },
  { kind: 'indeterminate', maybeBroadcast: false },
  { kind: 'underpriced' },
  { kind: 'rejected', fault: fault('CHAIN_REJECTED') },
]

const BEYOND_MICROS_MAX = 40

/**
 * What a lane hears of quorum, nodes and chain, drawn by a seed: anything that may be said, in any
 * order, but for one thing no honest chain does: to mine what it said can never be mined.
 */
export class DrawnOutcomes {
  readonly random: ReturnType<typeof seededRandom>
  nowMs = START_MS
  height = 10
  /** All that receipts were said to show beyond what was valued: no cap bounds it. */
  beyondMicros = 0n
  readonly #outbid = new Set<Hex>()
  #hashes = 0
  /** The account's, as far as blocks have shown it. */
  #chainNonce = 0

  constructor(seed: number) {
    this.random = seededRandom(seed)
  }

  hash(): Hex {
    return `0x${(++this.#hashes).toString(16).padStart(64, '0')}`
  }

  signed(): SignedBytes {
    const { nowMs } = this
    return {
      txHash: this.hash(),
      rawTransaction: this.hash(),
      intentId: this.hash(),
      signedAtMs: nowMs,
    }
  }

  signing(txId: TxId, nonce: number): Of<'signed' | 'sign-failed' | 'nonce-taken'> {
    const { nowMs } = this
    const drawn = this.random.integer(10)
    if (drawn === 0) return { type: 'nonce-taken', txId, nonce, takenBy: this.hash(), nowMs }
    if (drawn > 1) return { type: 'signed', txId, nonce, signed: this.signed(), nowMs }
    return { type: 'sign-failed', txId, nonce, fault: fault('COSIGNER_UNAVAILABLE'), nowMs }
  }

  /** @param isMined whether it is known to be: then its nonce is nobody else's */
  broadcast(tx: AccountTransaction, isMined: boolean): Of<'broadcast-outcome'> {
    const { nowMs, height } = this
    const isLost = !isMined && this.random.integer(OUTCOMES.length + 1) === 0
    if (isLost) for (const { txHash } of tx.attempts) this.#outbid.add(txHash)
    const outcome: Outcome = isLost
      ? { kind: 'nonce-lost', chainNonce: tx.nonce + 1 + this.random.integer(3) }
      : this.random.pick(OUTCOMES)
    const txHash = newestOf(tx).txHash
    return {
      ...{ type: 'broadcast-outcome', txId: tx.txId, txHash, outcome },
      ...{ blockNumber: height, nowMs },
    }
  }

  replacing(
    { txId, nonce, attempts }: AccountTransaction,
    purpose: ReplacePurpose,
  ): Of<'replacement-signed' | 'replacement-failed'> {
    if (this.random.chance(0.3)) return { type: 'replacement-failed', txId }
    const wei = (attempts.at(-1)?.maxFeePerGas ?? 0n) + BigInt(1 + this.random.integer(3))
    const fees = { maxFeePerGas: wei, maxPriorityFeePerGas: wei }
    const signed = this.signed()
    return { type: 'replacement-signed', txId, nonce, purpose, fees, signed, nowMs: this.nowMs }
  }

  /** A block takes one of its attempts; null when none can be. */
  mining(tx: AccountTransaction): Of<'mined' | 'confirmed'> | null {
    const landed = tx.mined ?? this.#landing(tx)
    if (landed === null) return null
    this.#chainNonce = Math.max(this.#chainNonce, tx.nonce + 1)
    const type = this.random.chance(0.5) ? 'mined' : 'confirmed'
    return { type, txId: tx.txId, mined: landed, nowMs: this.nowMs }
  }

  #landing({ attempts }: AccountTransaction): MinedIn | null {
    const alive = attempts.filter(({ txHash }) => !this.#outbid.has(txHash))
    if (alive.length === 0) return null
    return this.block(this.random.pick(alive).txHash, this.random.chance(0.8))
  }

  block(txHash: Hex, succeeds: boolean): MinedIn {
    return {
      txHash,
      blockNumber: this.height,
      blockHash: this.hash(),
      outcome: succeeds ? 'success' : 'reverted',
      feeWei: WEI_PER_MICRO,
    }
  }

  /** Now and then a call did more than the run had shown, up to this much. */
  receipt({ txId }: AccountTransaction, { blockHash }: MinedIn): Of<'receipt-valued'> {
    const shown = this.random.chance(0.2) ? this.random.integer(BEYOND_MICROS_MAX) : 0
    this.beyondMicros += BigInt(shown)
    const unvalued = this.random.chance(0.1) ? 'no-feed' : null
    const { nowMs } = this
    return {
      ...{ type: 'receipt-valued', txId, blockHash, unvalued },
      ...{ shownMicros: BigInt(shown), nowMs },
    }
  }

  head(): Of<'head'> {
    this.height++
    return {
      type: 'head',
      chainId: CHAIN_ID,
      blockNumber: this.height,
      fees: { maxFeePerGas: 1n, maxPriorityFeePerGas: 1n },
      gasPriceWei: this.random.chance(0.3) ? 5n : 1n,
      chainNonce: this.random.chance(0.5) ? this.#chainNonce : null,
      finalBlock: null,
      nowMs: this.nowMs,
    }
  }
}

function newestOf({ attempts, txId }: AccountTransaction) {
  const newest = attempts.at(-1)
  if (newest === undefined) throw new Error(`${txId} has no bytes`)
  return newest
}
