import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TransactionView } from '../../src/api/transaction.js'
import type { ChainsFile } from '../../src/config/chains.js'
import type { ChainView } from '../e2e/chain.js'
import type { MinedTransaction } from './chain-history.js'

/**
 * What a transaction was worth in micro-USD by the chain's own price feeds and by what it moved
 * there, reckoned with nothing of the service's. Feeds of development chains do not move.
 */
export interface ChainWorth {
  /** @param mined what of it the chain has, if anything; @returns the least and the most it may count */
  of(tx: TransactionView, mined: MinedTransaction | undefined): Bounds
}

export interface Bounds {
  readonly least: bigint
  readonly most: bigint
}

interface Quote {
  readonly answer: bigint
  readonly decimals: number
}

const LATEST_ROUND_DATA = '0xfeaf968c'
const DECIMALS = '0x313ce567'
const NATIVE_DECIMALS = 18
const NOTHING: Bounds = { least: 0n, most: 0n }
/** Value and gas are rounded up each. */
const ROUNDED_MICROS = 1n
/**
 * A withdrawal is valued when it is planned, at the price that a share has then; with the yield of
 * the blocks until it is mined it brings a little more. Parts per 10,000.
 */
const YIELD_TOLERANCE = 5n

/** @param vault of the market that is used */
export async function chainWorth(
  home: string,
  view: ChainView,
  vault: string,
): Promise<ChainWorth> {
  const file = JSON.parse(readFileSync(join(home, 'chains.json'), 'utf8')) as ChainsFile
  const config = file.chains.find(({ id }) => id === view.chainId)
  const usdcFeed = config?.tokens.find(({ address }) => same(address, view.usdc))?.feed
  if (config === undefined || usdcFeed == null) throw new Error(`no feeds of ${view.chainId}`)
  const native = await quoteOf(view, config.native_feed.address)
  const usdc = await quoteOf(view, usdcFeed.address)
  const wei = (amount: bigint) => micros(amount, NATIVE_DECIMALS, native)
  const units = (amount: bigint) => micros(amount, view.usdcDecimals, usdc)

  return {
    of(tx, mined) {
      if (mined === undefined) return NOTHING
      if (tx.kind === 'send') {
        const gas = wei(mined.feeWei)
        // A send that was given up pays for the gas of what took its nonce.
        const value = tx.status === 'confirmed' ? wei(mined.value) : 0n
        return { least: value + gas - ROUNDED_MICROS, most: value + gas }
      }
      if (!mined.succeeded) return NOTHING
      if (tx.kind !== 'defi_withdraw') {
        const worth = units(sentBy(tx.from, view.usdc, mined))
        return { least: worth, most: worth }
      }
      const shares = sentBy(tx.from, vault, mined)
      const redeemed = mined.redemptions.find((it) => same(it.vault, vault))
      if (redeemed === undefined) return NOTHING
      const worth = units((redeemed.assets * shares) / redeemed.shares)
      const slack = (worth * YIELD_TOLERANCE) / 10_000n + ROUNDED_MICROS
      return { least: worth - slack, most: worth + slack }
    },
  }
}

/** What left an account in a transaction. */
export function sentBy(account: string, token: string, { transfers }: MinedTransaction): bigint {
  return transfers
    .filter((it) => same(it.from, account) && same(it.token, token))
    .reduce((sum, { amount }) => sum + amount, 0n)
}

async function quoteOf(view: ChainView, feed: string): Promise<Quote> {
  const ask = (data: string) => view.call('eth_call', [{ to: feed, data }, 'latest'])
  const round = String(await ask(LATEST_ROUND_DATA))
  return {
    answer: BigInt(`0x${round.slice(2 + 64, 2 + 128)}`),
    decimals: Number(await ask(DECIMALS)),
  }
}

/** Rounded up. */
function micros(amount: bigint, decimals: number, { answer, decimals: scale }: Quote): bigint {
  const divisor = 10n ** BigInt(decimals + scale)
  return (amount * answer * 1_000_000n + divisor - 1n) / divisor
}

export function same(a: string | null, b: string | null): boolean {
  return a?.toLowerCase() === b?.toLowerCase()
}
