import { restoredEntry } from '../../../actors/account/core/state.js'
import { foldKey } from '../../../actors/sub-wallet/core/key-tree.js'
import { reserveOnPath, settleOnPath } from '../../../actors/sub-wallet/core/path-spend.js'
import {
  bookCall,
  countedAtMs,
  giveUnitsBack,
  notePaid,
} from '../../../actors/sub-wallet/core/policy-ledgers.js'
import { emptyState, type SubWalletState } from '../../../actors/sub-wallet/core/state.js'
import type { ApiKey } from '../../domain/api-key.js'
import type { AuditRecord } from '../../domain/audit.js'
import type { Freezes, Freezing } from '../../domain/freeze.js'
import type { LineageId, SubWalletId } from '../../domain/ids.js'
import { givenPolicy } from '../../domain/key-policy.js'
import { isFinal, type Transaction, wasLetThrough } from '../../domain/transaction.js'
import type { Reader } from '../../store/reader.js'
import type { PastDecision } from './past-decision.js'

/** Just below the highest time that an id can begin with. */
const ID_TIME_MS_MAX = 2 ** 48 - 2

/** A sub-wallet's past state, and which part of it is unknown. */
interface StateThen {
  readonly state: SubWalletState
  /** Null when every key that judged the call is known as it was. */
  readonly keysUnknown: string | null
}

/**
 * Rebuilds the wallet's state at the moment of a decision, with the functions that fold it in
 * operation: keys and freezes from the audit trail, spend and policy counts from earlier
 * transactions.
 */
export function stateThen(reader: Reader, decision: PastDecision): StateThen {
  const { subWalletId, userId, atMs } = decision
  const state = emptyState(subWalletId)
  state.wallet = reader.wallets.byId(subWalletId) ?? null
  state.waiting.isOpen = true
  const trail = [...reader.audit.between(userId, 0, ID_TIME_MS_MAX)]
    .filter(({ type }) => type !== 'send.refused')
    .reverse()
  let keysUnknown: string | null = null
  for (const key of reader.keys.ofWallet(subWalletId)) {
    if (key.createdAtMs > atMs) continue
    const then = keyThen(key, trail, atMs)
    if (then === null) keysUnknown ??= `the trail no longer has what ${key.keyId} might do then`
    else foldKey(state, then)
  }
  state.freezes = freezesThen(reader, trail, atMs)
  state.payees = new Map()
  for (const tx of reader.transactions.ofUserOldestFirst(userId, null)) {
    const isOurs = tx.subWalletId === subWalletId && tx.txId !== decision.txId
    if (isOurs && tx.createdAtMs <= atMs) fold(state, tx, atMs)
  }
  return { state, keysUnknown }
}

/** A key's entries contain its full rights; entries past their retention are gone. */
function keyThen(key: ApiKey, trail: readonly AuditRecord[], atMs: number): ApiKey | null {
  const own = trail.filter(({ keyId, type }) => keyId === key.keyId && type.startsWith('key.'))
  const last = own.findLast((entry) => entry.atMs <= atMs && 'permission' in entry.details)
  if (last === undefined) return null
  const given = last.details as Parameters<typeof givenPolicy>[0]
  const { revokedAtMs, rotatedAtMs } = key
  return {
    ...key,
    ...givenPolicy(given),
    revokedAtMs: revokedAtMs !== null && revokedAtMs > atMs ? null : revokedAtMs,
    rotatedAtMs: rotatedAtMs !== null && rotatedAtMs > atMs ? null : rotatedAtMs,
  }
}

function freezesThen(reader: Reader, trail: readonly AuditRecord[], atMs: number): Freezes {
  let user: Freezing | null = null
  const wallets = new Map<SubWalletId, Freezing>()
  const lineages = new Map<LineageId, Freezing>()
  for (const entry of trail) {
    if (entry.atMs > atMs) break
    const [scope, what] = entry.type.split('.')
    if (what !== 'frozen' && what !== 'unfrozen') continue
    const reason = entry.details.reason
    const at = { sinceMs: entry.atMs, reason: typeof reason === 'string' ? reason : null }
    const lineageId = entry.keyId === null ? null : reader.keys.byId(entry.keyId)?.lineageId
    if (scope === 'user') user = what === 'frozen' ? { scope, by: 'user', ...at } : null
    else if (scope === 'wallet' && entry.subWalletId !== null) {
      if (what === 'frozen') wallets.set(entry.subWalletId, { scope, by: 'user', ...at })
      else wallets.delete(entry.subWalletId)
    } else if (scope === 'key' && lineageId) {
      if (what === 'frozen') lineages.set(lineageId, { scope, by: 'user', ...at })
      else lineages.delete(lineageId)
    }
  }
  return { instance: null, user, wallets, lineages }
}

/** Adds what an earlier call had reserved or spent by then. */
function fold(state: SubWalletState, tx: Transaction, atMs: number): void {
  const { lineageId, reservation, valuation, unitsTaken, status, createdAtMs } = tx
  const hadEnded = isFinal(status) && tx.updatedAtMs <= atMs
  const movedNothing = hadEnded && status !== 'confirmed'
  const [{ signedAtMs } = { signedAtMs: createdAtMs }] = tx.attempts
  reserveOnPath(state, lineageId, reservation, tx.approval === undefined ? createdAtMs : signedAtMs)
  if (hadEnded) settleOnPath(state, lineageId, reservation, tx.spentMicros)
  else state.open.set(tx.txId, restoredEntry(tx, 'sent'))
  const countedMs = countedAtMs(tx)
  if (wasLetThrough(tx) && countedMs <= atMs) {
    const micros = valuation.valueMicros + valuation.gasMicros
    bookCall(state, tx, { atMs: countedMs, micros, taken: unitsTaken ?? [] })
    if (movedNothing) giveUnitsBack(state, lineageId, countedMs, unitsTaken)
    else notePaid(state, tx)
  }
}
