import type { Hex } from '../../src/domain/ids.js'
import type { Chain } from './chain.js'
import type { Draw } from './random.js'
import type { SignedTransaction } from './signatures.js'

/** Of nobody here. */
const ELSEWHERE: Hex = '0x00000000000000000000000000000000000e15e0'
const HASH_CHARS = 64
/** What a reorg took back lands again in one block of so many, where its nonce is still free. */
const AGAIN = 0.5

/**
 * Calls of our accounts that the service did not make. They take the nonce that one of its own waits
 * for, and are known to blocks alone: no node has them in its pool.
 */
export class Outsiders {
  readonly #chain: Chain
  readonly #draw: Draw
  readonly #share: number
  readonly #all: SignedTransaction[] = []

  /** @param share of blocks that have one */
  constructor(chain: Chain, draw: Draw, share: number) {
    this.#chain = chain
    this.#draw = draw
    this.#share = share
  }

  /** What of theirs goes into the next block, ahead of what waits for the same nonces. */
  take(waiting: readonly SignedTransaction[], isCalm: boolean): SignedTransaction[] {
    if (this.#share === 0) return []
    const taken = this.#all.filter((tx) => this.#isNext(tx) && this.#draw.chance(AGAIN))
    const senders = waiting.filter((tx) => this.#isNext(tx))
    if (!isCalm && senders.length > 0 && this.#draw.chance(this.#share)) {
      const made = this.#make(this.#draw.pick(senders))
      this.#all.push(made)
      taken.push(made)
    }
    return taken
  }

  /** Whether one took that nonce on some branch. */
  tookEver(account: Hex, nonce: number): boolean {
    return this.#all.some((tx) => tx.from === account && tx.nonce === nonce)
  }

  countOf(account: Hex): number {
    return this.#all.filter(
      ({ from, hash }) => from === account && this.#chain.landing(hash) !== null,
    ).length
  }

  #isNext({ from, nonce }: SignedTransaction): boolean {
    return nonce === (this.#chain.head.state.nonces.get(from) ?? 0)
  }

  #make(instead: SignedTransaction): SignedTransaction {
    const { from, nonce, chainId, gasLimit, maxFeePerGas, maxPriorityFeePerGas } = instead
    const hash: Hex = `0x${(this.#all.length + 1).toString(16).padStart(HASH_CHARS, 'e')}`
    return {
      ...{
        type: 'transaction',
        chainId,
        from,
        nonce,
        gasLimit,
        maxFeePerGas,
        maxPriorityFeePerGas,
      },
      ...{ to: ELSEWHERE, value: 0n, data: '0x', raw: hash, hash },
    }
  }
}
