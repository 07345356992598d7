import type { Address, SubWalletId } from '../domain/ids.js'
import {
  type BreakerTally,
  type Trip as KeyTrip,
  NO_TALLY,
  type Watched as WatchedOfKey,
  watch,
  watches,
} from './breakers.js'
import type { Breaker } from './policy.js'

/**
 * Freezes a user automatically: the breakers of keys over everything that the user's keys do, and
 * one that a key cannot have, since it compares several wallets. It is a fold without a clock of
 * its own.
 */
export type UserBreaker = Breaker | SharedBeneficiary

/** A beneficiary that this many sub-wallets pay, each for the first time. */
interface SharedBeneficiary {
  readonly kind: 'shared_beneficiary'
  readonly wallets: number
  readonly perSeconds: number
}

export type Watched =
  | Extract<WatchedOfKey, { type: 'refused' }>
  | (Omit<Extract<WatchedOfKey, { type: 'signed' }>, 'newBeneficiaries'> & {
      readonly subWalletId: SubWalletId
      /** The beneficiaries that this sub-wallet had not paid before. */
      readonly newPayees: readonly Address[]
    })

/** The counts since the breakers were set, or since one of them tripped. */
export interface UserTally {
  /** A restart forgets it, as it does for keys: nothing was signed for a refusal. */
  readonly refused: BreakerTally
  readonly signed: BreakerTally
  /** In the order of their last first payment. */
  readonly shared: readonly SharedPayee[]
}

interface SharedPayee {
  readonly address: Address
  /** Latest last. */
  readonly firsts: readonly { readonly subWalletId: SubWalletId; readonly atMs: number }[]
}

export type Trip = Pick<KeyTrip, 'atMs' | 'reason'>

export const NO_USER_TALLY: UserTally = { refused: NO_TALLY, signed: NO_TALLY, shared: [] }

/** The breakers of a key, and the one kind that keys do not have. */
export const USER_BREAKERS_MAX = 9
export const SHARING_WALLETS_MAX = 100
/**
 * The most new beneficiaries of all wallets that are remembered. The list is stored with each call
 * that adds one, so it has to stay small; more strangers within a breaker's window are a case for
 * the breaker `new_beneficiaries`.
 */
export const SHARED_PAYEES_MAX = 256
const SECOND_MS = 1_000

/** The facts that the breakers need. */
export interface UserWatch {
  readonly refused: boolean
  readonly signed: boolean
  readonly payees: boolean
}

/** Returns null when there are no breakers to watch for. */
export function userWatchOf(breakers: readonly UserBreaker[]): UserWatch | null {
  if (breakers.length === 0) return null
  const has = (kind: UserBreaker['kind']) => breakers.some((one) => one.kind === kind)
  const payees = has('new_beneficiaries') || has('shared_beneficiary')
  return { refused: has('refusals'), signed: payees || has('spend_factor'), payees }
}

/** @returns the tally with the new fact; where a breaker tripped, it starts again */
export function watchUser(
  breakers: readonly UserBreaker[],
  tally: UserTally,
  seen: Watched,
): { readonly tally: UserTally; readonly trip: Trip | null } {
  const counted = breakers.filter(isOfKeys).filter((one) => watches(one, seen.type))
  if (seen.type === 'refused') {
    const { tally: refused, trip } = watch(counted, tally.refused, seen)
    return trip === null ? { tally: { ...tally, refused }, trip } : { tally: NO_USER_TALLY, trip }
  }
  const { newPayees, subWalletId, ...call } = seen
  const asOfKey = { ...call, newBeneficiaries: newPayees.length }
  const { tally: signed, trip } = watch(counted, tally.signed, asOfKey)
  if (trip !== null) return { tally: NO_USER_TALLY, trip }
  const sharing = breakers.filter((one) => one.kind === 'shared_beneficiary')
  const shared = sharedWith(tally.shared, sharing, seen)
  const reason = reasonOf(shared, sharing, seen)
  if (reason !== null) return { tally: NO_USER_TALLY, trip: { atMs: seen.atMs, reason } }
  return { tally: { ...tally, signed, shared }, trip: null }
}

type Signed = Extract<Watched, { type: 'signed' }>

function isOfKeys(breaker: UserBreaker): breaker is Breaker {
  return breaker.kind !== 'shared_beneficiary'
}

function sharedWith(
  before: readonly SharedPayee[],
  breakers: readonly SharedBeneficiary[],
  { subWalletId, newPayees, atMs }: Signed,
): readonly SharedPayee[] {
  if (breakers.length === 0) return []
  if (newPayees.length === 0) return before
  const sinceMs = atMs - Math.max(...breakers.map(({ perSeconds }) => perSeconds)) * SECOND_MS
  const kept = before.flatMap(({ address, firsts }): SharedPayee[] => {
    const recent = firsts.filter((one) => one.atMs > sinceMs)
    return recent.length === 0 ? [] : [{ address, firsts: recent }]
  })
  const paid = [...new Set(newPayees)].map((address): SharedPayee => {
    const firsts = kept.find((one) => one.address === address)?.firsts ?? []
    const others = firsts.filter((one) => one.subWalletId !== subWalletId)
    return { address, firsts: [...others, { subWalletId, atMs }].slice(-SHARING_WALLETS_MAX) }
  })
  const others = kept.filter(({ address }) => !newPayees.includes(address))
  return [...others, ...paid].slice(-SHARED_PAYEES_MAX)
}

function reasonOf(
  shared: readonly SharedPayee[],
  breakers: readonly SharedBeneficiary[],
  { newPayees, atMs }: Signed,
): string | null {
  for (const { wallets, perSeconds } of breakers) {
    for (const { address, firsts } of shared) {
      if (!newPayees.includes(address)) continue
      const paying = firsts.filter((one) => one.atMs > atMs - perSeconds * SECOND_MS).length
      if (paying < wallets) continue
      return `breaker: ${paying} sub-wallets paid ${address} for the first time in ${perSeconds} s, where ${wallets} are too many`
    }
  }
  return null
}

/** Entries of the log: breakers that were set, or facts, in order. */
export type UserLogEntry =
  | { readonly type: 'set'; readonly breakers: readonly UserBreaker[] }
  | Watched

/**
 * The trips of a log.
 * @param log in order of time
 */
export function replayUserBreakers(log: Iterable<UserLogEntry>): Trip[] {
  const trips: Trip[] = []
  let breakers: readonly UserBreaker[] = []
  let tally = NO_USER_TALLY
  for (const entry of log) {
    if (entry.type === 'set') {
      breakers = entry.breakers
      tally = NO_USER_TALLY
      continue
    }
    const step = watchUser(breakers, tally, entry)
    tally = step.tally
    if (step.trip !== null) trips.push(step.trip)
  }
  return trips
}

const HOUR_SECONDS = 3_600
const DAY_SECONDS = 24 * HOUR_SECONDS

function preset(refusals: number, strangers: number, factor: number, wallets: number) {
  const none = { count: null, factor: null }
  return [
    { ...none, kind: 'refusals', count: refusals, perSeconds: 300 },
    { ...none, kind: 'new_beneficiaries', count: strangers, perSeconds: HOUR_SECONDS },
    { ...none, kind: 'spend_factor', factor, perSeconds: DAY_SECONDS },
    { kind: 'shared_beneficiary', wallets, perSeconds: HOUR_SECONDS },
  ] as const satisfies readonly UserBreaker[]
}

/**
 * Presets. `usual` suits fleets that pay new beneficiaries all day; `strict` suits those that pay a
 * few known ones.
 */
export const USER_BREAKER_PRESETS: Readonly<
  Record<'off' | 'usual' | 'strict', readonly UserBreaker[]>
> = {
  off: [],
  usual: preset(200, 50, 10, 5),
  strict: preset(50, 10, 5, 3),
}
