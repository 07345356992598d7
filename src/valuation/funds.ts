import { LRUCache } from 'lru-cache'
import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import { worstCaseFeeWei } from '../domain/transaction-fee.js'
import { type Fault, fault } from '../errors/fault.js'
import { insufficientFunds, type Shortfall } from '../errors/insufficient-funds.js'
import { ENVELOPE_BYTES } from './quote-parts.js'

/**
 * Finds early and cheaply that a wallet cannot pay, so that agents get an answer instead of a
 * failed transaction. It is a convenience and not a bound: caps never depend on it. A balance is
 * read once and reduced by what is quoted; only when that gives too little is the chain read again,
 * because funds may have arrived.
 */
export interface Funds {
  /**
   * Null when the owner has the amount, which then counts as taken.
   * @param token null for native currency
   */
  shortfall(
    chain: ChainAccess,
    owner: Address,
    token: Address | null,
    amount: bigint,
  ): Shortfall | null | Promise<Shortfall | null>
}

/** The most accounts and tokens that are remembered; about 100 bytes each. */
const REMEMBERED_MAX = 32_768
/** Spenders can also take tokens by allowances, so a reading must not be older than this. */
const MAX_AGE_MS = 30_000

export function createFunds(nowMs: () => number = () => performance.now()): Funds {
  const left = new LRUCache<string, { amount: bigint; atMs: number }>({ max: REMEMBERED_MAX })

  async function ask(
    chain: ChainAccess,
    owner: Address,
    token: Address | null,
    key: string,
  ): Promise<bigint> {
    const amount =
      token === null
        ? await chain.reads.nativeBalance(owner)
        : ((await chain.reads.tokenBalance(token, owner)) ?? 0n)
    left.set(key, { amount, atMs: nowMs() })
    return amount
  }

  return {
    shortfall(chain, owner, token, amount) {
      const key = `${chain.config.id}${owner}${token ?? ''}`
      const known = left.get(key)
      if (known !== undefined && nowMs() - known.atMs < MAX_AGE_MS && known.amount >= amount) {
        known.amount -= amount
        return null
      }
      return ask(chain, owner, token, key).then((balance) => {
        if (balance < amount) return { token, have: balance, need: amount }
        const fresh = left.get(key)
        if (fresh !== undefined) fresh.amount -= amount
        return null
      })
    },
  }
}

/** The least gas of any transaction (Yellow Paper, G_transaction). */
const TRANSACTION_GAS = 21_000n

/**
 * Why a node found the native currency too little, which it does before it knows how much gas the
 * call would use: `need` is then the least that suffices.
 */
export async function lackOfNative(
  funds: Funds,
  chain: ChainAccess,
  call: { readonly from: Address; readonly value: bigint },
  maxFeePerGas: bigint,
): Promise<Fault> {
  const sideFee = await chain.gas.sideFee(ENVELOPE_BYTES)
  const least = call.value + worstCaseFeeWei(TRANSACTION_GAS, maxFeePerGas, sideFee)
  const shortfall = await funds.shortfall(chain, call.from, null, least)
  return shortfall === null ? fault('INSUFFICIENT_FUNDS') : insufficientFunds(shortfall)
}
