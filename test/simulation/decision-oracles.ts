import type { GasWalletState } from '../../actors/gas-wallet/core/state.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { TxId } from '../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../src/domain/transaction.js'
import type { Reader } from '../../src/store/reader.js'
import type { ChainWorlds } from './chain-world.js'
import type { KnownKeys } from './known-keys.js'
import { isFiller } from './landed.js'

/** What an actor decided, as far as these oracles look at it. */
export interface Decided {
  readonly kind: string
  readonly state: unknown
  readonly nowMs: number
  readonly events: readonly unknown[]
}

/** What is known of a wallet's transaction before a decision, which may end it. */
export type MinedBefore = ReadonlyMap<TxId, { readonly chainId: number; readonly mined: MinedIn }>

interface Told {
  readonly type: string
  readonly txId?: TxId
  readonly status?: string
  readonly mined?: MinedIn
  readonly tx?: Transaction
  readonly draft?: Pick<Transaction, 'lineageId' | 'reservation'> & {
    readonly approval?: unknown
    readonly call?: Transaction['call']
  }
}

/**
 * A call is let through under the cap of every key on its path, as people know who made which: the
 * caller's own, and all above it. What closes a gap, or was let through before it waited, is no new one.
 */
export function passesCapOnPath(
  { kind, state, nowMs, events }: Decided,
  known: KnownKeys,
): string[] {
  if (kind !== 'sub-wallet') return []
  const wallet = state as SubWalletState
  return (events as readonly Told[]).flatMap(({ type, draft }) => {
    if ((type !== 'reserved' && type !== 'sponsored-reserved') || draft === undefined) return []
    const { lineageId, reservation, approval, call } = draft
    const from = wallet.wallet?.address
    const isOwn = call !== undefined && from !== undefined && isFiller({ call, from })
    if (approval !== undefined || isOwn || reservation.micros === 0n) return []
    return known.pathOf(lineageId).flatMap((above) => {
      const { dayMicros, monthMicros } = countersOf(wallet, above.lineageId, nowMs)
      // It may have less by now than it ever was to have.
      const head = wallet.heads.get(above.lineageId)
      const isOver =
        dayMicros > above.capMicros ||
        isAbove(dayMicros, head?.dailyLimitMicros) ||
        isAbove(monthMicros, head?.monthlyLimitMicros)
      if (!isOver) return []
      const words = `${dayMicros} of the day, ${monthMicros} of the month is used of ${above.lineageId}`
      return [`a call of ${lineageId} was let through past a cap: ${words}`]
    })
  })
}

function isAbove(usedMicros: bigint, limit: bigint | null | undefined): boolean {
  return limit !== null && limit !== undefined && usedMicros > limit
}

/** Of what has a block and is open before a decision. */
export function minedBefore(kind: string, state: unknown, command: unknown): MinedBefore {
  const found = new Map<TxId, { chainId: number; mined: MinedIn }>()
  if (kind !== 'sub-wallet' && kind !== 'gas-wallet') return found
  const { txId, mined } = command as Told
  const { open } =
    kind === 'sub-wallet' ? (state as SubWalletState) : (state as GasWalletState).account
  const entry = txId === undefined ? undefined : open.get(txId)
  if (entry === undefined) return found
  const block = mined ?? entry.tx.mined
  if (block !== null) found.set(entry.tx.txId, { chainId: entry.tx.call.chainId, mined: block })
  return found
}

/** Nothing is called confirmed, or failed for good, before its block is as deep as its chain asks for. */
export function confirmedAtDepth(
  { events }: Decided,
  before: MinedBefore,
  chains: ChainWorlds,
): string[] {
  return (events as readonly Told[]).flatMap((event) => {
    if (event.type === 'transaction-ended' && event.txId !== undefined) {
      const ended = before.get(event.txId)
      if (ended === undefined || !isByBlock(event.status)) return []
      return tooShallow(event.txId, ended.chainId, ended.mined, chains)
    }
    const { tx } = event
    if (event.type !== 'sponsored-ended' || tx === undefined || tx.mined === null) return []
    return isByBlock(tx.status) ? tooShallow(tx.txId, tx.call.chainId, tx.mined, chains) : []
  })
}

function isByBlock(status: string | undefined): boolean {
  return status === 'confirmed' || status === 'failed'
}

function tooShallow(
  txId: TxId,
  chainId: number,
  { blockNumber }: MinedIn,
  chains: ChainWorlds,
): string[] {
  const world = chains.get(chainId)
  if (world === undefined) return [`${txId} ended on chain ${chainId}, which there is not`]
  const { confirmations } = world.config
  const depth = world.chain.head.number - blockNumber + 1
  if (depth >= confirmations) return []
  return [
    `${txId} ended by block ${blockNumber}, ${depth} deep, and ${confirmations} are asked for`,
  ]
}

/**
 * What the store has as not ended holds, of each key on its path, at least what it was let through
 * for: its spend stays counted, in a block that is not final too.
 */
export function countedUntilFinal(
  wallets: Iterable<SubWalletState>,
  reader: Reader,
  known: KnownKeys,
  nowMs: number,
): string[] {
  const wrong: string[] = []
  for (const state of wallets) {
    const least = new Map<string, bigint>()
    for (const tx of reader.transactions.openOfWallet(state.subWalletId)) {
      const { valueMicros, gasMicros } = tx.valuation
      for (const { lineageId } of known.pathOf(tx.lineageId)) {
        least.set(lineageId, (least.get(lineageId) ?? 0n) + valueMicros + gasMicros)
      }
    }
    for (const { lineageId } of known.lineages.values()) {
      const micros = least.get(lineageId)
      if (micros === undefined) continue
      const { reservedMicros } = countersOf(state, lineageId, nowMs)
      if (reservedMicros >= micros) continue
      wrong.push(
        `${reservedMicros} is held of ${lineageId} for calls of ${micros} that are not final`,
      )
    }
  }
  return wrong
}
