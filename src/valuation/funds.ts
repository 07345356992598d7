import { LRUCache } from 'lru-cache'
import type { ChainAccess } from '../chains/access.js'
import type { Address } from '../domain/ids.js'
import { type Fault, fault } from '../errors/fault.js'
import { insufficientFunds, type Shortfall } from '../errors/insufficient-funds.js'

/**
 * Tells early and cheaply that a wallet cannot pay, so that agents get an answer instead of a
 * failed transaction. A convenience, not a bound: caps never rest on it. A balance is read once
 * and counted down by what is quoted; only when that says "too little" is the chain asked again,
 * because money may have come in.
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

/** Accounts and tokens remembered; 100 bytes or so each. */
const REMEMBERED_MAX = 32_768
/** Others can take money too, by allowances; then a reading should not be older than this. */
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
        : await chain.reads.tokenBalance(token, owner)
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

/** What any transaction takes at least (yellow paper, G_transaction). */
const TRANSACTION_GAS = 21_000n

/**
 * Why a node found the native currency too little, which it does before it knows how much gas the
 * call would use: `need` is then the least that can do.
 */
export async function lackOfNative(
  funds: Funds,
  chain: ChainAccess,
  call: { readonly from: Address; readonly value: bigint },
  maxFeePerGas: bigint,
): Promise<Fault> {
  const least = call.value + TRANSACTION_GAS * maxFeePerGas
  const shortfall = await funds.shortfall(chain, call.from, null, least)
  return shortfall === null ? fault('INSUFFICIENT_FUNDS') : insufficientFunds(shortfall)
}
