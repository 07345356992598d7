import { getAddress } from 'viem/utils'
import { LOGS_OF_MAX, type ReceiptLog } from '../chains/receipts.js'
import { createMovements } from '../chains/simulate/movements.js'
import type { Simulation } from '../chains/simulate/simulation.js'
import type { Address, Hex } from '../domain/ids.js'
import type { UsdMicros } from '../domain/money.js'
import { isKnown, type Price, type PriceSource } from '../pricing/price-source.js'
import { allPrices, type ChainView, type VaultShares } from './chain-view.js'
import { type HeldToken, readHoldings } from './holdings.js'
import { openedByOthers } from './outflow.js'
import { PriceBook } from './price-book.js'
import { withShares } from './simulated-quote.js'
import { spendFromLogs } from './spend-from-logs.js'
import { PERMIT2 } from './well-known.js'

/** The port that values a mined call by the rules by which its simulation was valued. */
export interface ReceiptValuer {
  /**
   * @returns null while the answering node does not have it in that block
   * @throws what reading chain and prices throws
   */
  shownBy(call: MinedCall): Promise<Shown | null>
}

export interface MinedCall {
  readonly chainId: number
  readonly from: Address
  readonly to: Address
  /** Wei. */
  readonly value: bigint
  readonly data: Hex
  readonly txHash: Hex
  readonly blockHash: Hex
}

export interface Shown {
  /** The value of everything with a price, even a stale one. */
  readonly shownMicros: UsdMicros
  /**
   * Why a part could not be counted because it never had a price here; null when all was counted.
   */
  readonly unvalued: string | null
}

export function createReceiptValuer(
  source: PriceSource,
  views: ReadonlyMap<number, ChainView>,
): ReceiptValuer {
  return {
    async shownBy({ chainId, txHash, blockHash, ...given }) {
      const view = views.get(chainId)
      if (view === undefined) throw new Error(`chain ${chainId} is not configured`)
      const call = { ...given, from: getAddress(given.from), to: getAddress(given.to) }
      const { chain, priced } = view
      const [vaults, prices] = await Promise.all([view.vaults(), allPrices(source, view)])
      const emitters = new Set([...priced.keys(), ...vaults.keys(), PERMIT2.toLowerCase()])
      const receipt = await chain.reads.receiptOf(txHash, emitters)
      if (receipt === null || receipt.blockHash !== blockHash) return null
      const seen = movementsOf(receipt.logs, chain.config.wrapped_native as Address)
      const opened = openedByOthers(call, seen).amounts
      const holdings = await readHoldings(
        chain,
        call.from,
        tokensToRead(view, vaults, seen, opened),
        [],
      )
      const book = new PriceBook(withShares(priced, vaults, holdings), orLast(view, prices))
      const shownMicros = spendFromLogs(view, call, seen, holdings.supplies, book)
      return { shownMicros, unvalued: book.gap }
    },
  }
}

function movementsOf(
  logs: readonly ReceiptLog[],
  wrappedNative: Address,
): Pick<Simulation, 'transfers' | 'approvals'> {
  const movements = createMovements(wrappedNative, LOGS_OF_MAX)
  for (const log of logs) movements.log(log)
  return movements.finish()
}

/** The supplies of tokens for which others gave allowances, and the value of shares that moved. */
function tokensToRead(
  { priced }: ChainView,
  vaults: ReadonlyMap<string, VaultShares>,
  { transfers }: Pick<Simulation, 'transfers'>,
  opened: ReadonlyMap<string, bigint>,
): readonly HeldToken[] {
  const named = new Set(opened.keys())
  for (const { token } of transfers) {
    const key = token?.toLowerCase()
    if (key !== undefined && vaults.has(key)) named.add(key)
  }
  const tokens: HeldToken[] = []
  for (const key of named) {
    const known = priced.get(key)
    const vault = vaults.get(key)
    if (known !== undefined) tokens.push({ ...known, isVault: false })
    else if (vault !== undefined) tokens.push({ ...vault, isVault: true })
  }
  return tokens
}

/** A mined movement cannot be refused: a stale price is better than none. */
function orLast(
  { lastPrices }: ChainView,
  prices: ReadonlyMap<string, Price>,
): ReadonlyMap<string, Price> {
  const filled = new Map(prices)
  for (const [key, price] of prices) {
    const last = lastPrices.get(key)
    if (!isKnown(price) && last !== undefined) filled.set(key, last)
  }
  return filled
}
