import { bumpedFee } from '../../domain/replacement-fee.js'
import { utcDay } from '../../domain/spend.js'
import { type Intent, usesGrant } from '../../quorum-protocol/intent.js'
import type { DecodedPayload } from '../../quorum-protocol/payload.js'
import { Refusal } from '../../quorum-protocol/refusal.js'
import type { LedgerEntry } from './nonce-ledger.js'

/**
 * Bounds what a user's wallet signs without a key: cancels, and the end of a delegation. They let a
 * lane continue when no agent asks for anything, but they cost gas: a compromised service could
 * burn a wallet's coin with them. Nonces, fees and daily counts follow from what keys asked for.
 *
 * | the nonce | the highest fee, with one bump |
 * |---|---|
 * | was approved with a key | the fee approved there last, or near it with a key |
 * | is below such a nonce | the fee approved near it with a key, or there last |
 * | is one of the next two above | the fee approved with a key below it |
 * | any other | refused |
 */

/**
 * Spec silent: a wallet's cancels and their bumps in a UTC day; honest lanes need a few in a bad
 * week.
 */
const A_DAY_MAX = 128
/**
 * Further above the highest nonce that a key asked for, no call waits that a cancel could unblock.
 */
const NEXT_NONCES = 2
/** Gaps of nonces that were never approved are smaller: the service lists 64 at a time. */
const NEAR_NONCES = 128

/** How much a wallet had signed without a key in a UTC day. */
export interface KeylessCount {
  readonly day: number
  readonly count: number
}

export interface KeylessLedger {
  entry(walletId: Uint8Array, chainId: number, nonce: number): LedgerEntry | null
  keyless(walletId: Uint8Array): KeylessCount
  putKeyless(walletId: Uint8Array, count: KeylessCount): void
}

type OwnNonce = Exclude<DecodedPayload, { kind: 'router-intent' }>

/**
 * Checks a keyless signature, and counts it.
 * @throws Refusal PAYLOAD_NOT_ALLOWED when no key ever used a nonce nearby, when the fee is above
 * those that keys asked for there, or past the daily bound
 */
export function takeKeyless(
  walletId: Uint8Array,
  payload: OwnNonce,
  held: LedgerEntry | null,
  ledger: KeylessLedger,
  nowMs: number,
): void {
  const highestWei = highestFee(walletId, payload, held, ledger)
  if (highestWei === null) throw refused('no key asked for anything near this nonce')
  if (payload.kind === 'transaction' && payload.maxFeePerGasWei > highestWei) {
    throw refused('fee above what was approved near this nonce')
  }
  const counted = countedToday(ledger.keyless(walletId), nowMs)
  if (counted.count >= A_DAY_MAX) throw refused("this wallet's daily bound is reached")
  ledger.putKeyless(walletId, { ...counted, count: counted.count + 1 })
}

/**
 * Tells whether an entry of the evidence was signed without a key. Such a signature moves nothing;
 * gas wallets never count.
 */
export function isKeyless(
  intent: Pick<Intent, 'keyProof' | 'approval'>,
  payload: OwnNonce,
): boolean {
  if (usesGrant(intent)) return false
  return payload.kind === 'authorization' || movesNothing(payload)
}

export function movesNothing(payload: OwnNonce): boolean {
  if (payload.kind !== 'transaction') return false
  return payload.envelope === 2 && payload.value === 0n && payload.data.length === 0
}

/** Counts keyless signatures in the evidence; counting one twice only refuses a little early. */
export function countKeyless(walletId: Uint8Array, ledger: KeylessLedger, atMs: number): void {
  const before = ledger.keyless(walletId)
  if (before.day > utcDay(atMs)) return
  const { day, count } = countedToday(before, atMs)
  ledger.putKeyless(walletId, { day, count: count + 1 })
}

function countedToday(before: KeylessCount, nowMs: number): KeylessCount {
  const day = utcDay(nowMs)
  return before.day === day ? before : { day, count: 0 }
}

/** Returns the highest fee in wei per gas; null when no keyless signature is allowed there. */
function highestFee(
  walletId: Uint8Array,
  { chainId, nonce }: OwnNonce,
  held: LedgerEntry | null,
  ledger: KeylessLedger,
): bigint | null {
  const keyedAt = (at: number) => ledger.entry(walletId, chainId, at)?.keyedFeeWei ?? null
  const above = highestOf(keyedAt, nonce + 1, nonce + NEAR_NONCES)
  const below = highestOf(keyedAt, Math.max(0, nonce - NEXT_NONCES), nonce - 1)
  const isKeyed = held !== null && held.keyedFeeWei !== null
  if (!isKeyed && above === null && below === null) return null
  // When nothing waits above, repeated bumps are not allowed: there is nothing to unblock.
  const there = isKeyed || above !== null ? (held?.maxFeePerGasWei ?? 0n) : 0n
  return bumpedFee([above ?? 0n, below ?? 0n, there].reduce((a, b) => (a > b ? a : b)))
}

/** Null when none of these nonces was approved with a key. */
function highestOf(
  keyedAt: (nonce: number) => bigint | null,
  from: number,
  to: number,
): bigint | null {
  let highest: bigint | null = null
  for (let nonce = from; nonce <= to; nonce++) {
    const wei = keyedAt(nonce)
    if (wei !== null && (highest === null || wei > highest)) highest = wei
  }
  return highest
}

function refused(detail: string): Refusal {
  return new Refusal('PAYLOAD_NOT_ALLOWED', `without a key: ${detail}`)
}
