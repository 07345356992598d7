import { withoutDrafts } from '../../actors/account/core/lane-nonces.js'
import { countersOf, type SubWalletState } from '../../actors/sub-wallet/core/state.js'
import type { StoredEvent } from '../../src/domain/event.js'
import { NO_SPEND, rollForward } from '../../src/domain/spend.js'
import { GAS_MICROS, LINEAGE_ID } from '../actors/wallet-fixtures.js'
import type { WalletWorld } from './wallet-world.js'
import { byKey, mustEqual } from './world.js'

/** Self-sends that close gaps are paid for past any cap; no run closes more of them. */
const GAP_FILLERS_MAX = 100n

/**
 * The oracle: what a restart would load is what the wallet holds, as far as it is durable; and what
 * counts against its caps is what is held, never below zero and never past a cap.
 * @throws Error that names the first difference
 */
export function checkWallet(world: WalletWorld, capMicros: bigint, nowMs: number): void {
  const { state, reader } = world
  const stored = world.loaded()
  mustEqual('wallet', state.wallet, stored.wallet)
  mustEqual('keys', byKey(state.keys), byKey(stored.keys))
  mustEqual('parents', byKey(state.parents), byKey(stored.parents))
  mustEqual('heads', byKey(state.heads), byKey(stored.heads))
  mustEqual('spend', spendOf(state, nowMs), spendOf(stored, nowMs))
  mustEqual('days', byKey(state.spentDays), byKey(stored.spentDays))
  mustEqual('told', byKey(state.limitNotices), byKey(stored.limitNotices))
  mustEqual('allowances', [...state.allowances], [...stored.allowances])
  mustEqual('ledger', state.allowancesComplete, stored.allowancesComplete)
  mustEqual('open', openOf(state), openOf(stored))
  mustEqual('open inline', [...state.openInline].sort(), [...stored.openInline].sort())
  mustEqual('sponsored', sponsoredOf(state), sponsoredOf(stored))
  mustEqual('gas of the day', state.sponsoredGas, stored.sponsoredGas)
  checkNonces(state, stored)
  for (const [txId, { idempotency }] of state.requests) {
    const lineageId = state.open.get(txId)?.tx.lineageId
    if (lineageId === undefined) throw new Error(`${txId} is not open and its request is kept`)
    if (idempotency === null) continue
    mustEqual('idempotency', txId, reader.idempotency.byKey(lineageId, idempotency.key)?.txId)
  }
  checkCounters(state, capMicros, nowMs)
}

function spendOf({ spend }: SubWalletState, nowMs: number) {
  return byKey(spend).map(([id, counters]) => [id, rollForward(counters, nowMs)])
}

function openOf({ open }: SubWalletState) {
  return byKey(open).map(([id, { tx }]) => [id, tx])
}

/** What has no intent yet is a draft, and a restart forgets it. */
function sponsoredOf({ sponsored }: SubWalletState) {
  return byKey(sponsored)
    .filter(([, { sponsorship }]) => sponsorship !== null)
    .map(([id, { phase, gasMicros, sponsorship, tx }]) => [id, phase, gasMicros, sponsorship, tx])
}

/** A lane that has stored nothing yet may know its nonce from the chain alone. */
function checkNonces(state: SubWalletState, stored: SubWalletState): void {
  for (const [chainId, lane] of state.lanes) {
    const kept = stored.lanes.get(chainId)?.nextNonce ?? null
    if (kept === null && state.open.size === 0) continue
    mustEqual(`next nonce on ${chainId}`, withoutDrafts(state, lane).nextNonce, kept)
  }
  for (const [chainId, next] of stored.intentNonces) {
    const handedOut = state.intentNonces.get(chainId) ?? 0
    if (handedOut < next) throw new Error(`intent nonce ${handedOut} is handed out again`)
  }
}

function checkCounters(state: SubWalletState, capMicros: bigint, nowMs: number): void {
  const { dayMicros, monthMicros, reservedMicros } = countersOf(state, LINEAGE_ID, nowMs)
  let heldMicros = 0n
  for (const { tx } of state.open.values()) heldMicros += tx.reservation.micros
  for (const { draft } of state.drafts.values()) {
    if (draft.signs === 'first-time') heldMicros += draft.reservation.micros
  }
  for (const { sponsorship, draft } of state.sponsored.values()) {
    heldMicros += (sponsorship ?? draft)?.reservation.micros ?? 0n
  }
  if (reservedMicros !== heldMicros)
    throw new Error(`${reservedMicros} reserved, ${heldMicros} held`)
  const least = rollForward(state.spend.get(LINEAGE_ID) ?? NO_SPEND, nowMs)
  if (least.dayMicros < 0n || least.monthMicros < least.dayMicros) {
    throw new Error(`${least.dayMicros} used of the day, ${least.monthMicros} of the month`)
  }
  const toleratedMicros = GAP_FILLERS_MAX * GAS_MICROS
  if (dayMicros > capMicros + toleratedMicros || monthMicros > 3n * capMicros + toleratedMicros) {
    throw new Error(`${dayMicros} and ${monthMicros} used, the cap is ${capMicros}`)
  }
}

/** Holds the log against the rule that each transaction is told to be out before it is mined. */
export class LogOrder {
  readonly #out = new Set<unknown>()
  #read = 0

  /** @param logged all of it so far */
  check(logged: readonly StoredEvent[]): void {
    for (const { type, moment, data } of logged.slice(this.#read)) {
      const txId = moment?.txId ?? (data !== null && 'tx_id' in data ? data.tx_id : null)
      if (type === 'transaction.broadcast') this.#out.add(txId)
      const isMined = type === 'transaction.confirmed' || type === 'transaction.failed'
      if (isMined && !this.#out.has(txId)) throw new Error(`${type} of ${txId}, never told out`)
    }
    this.#read = logged.length
  }
}
