import { transactionView } from '../../src/api/transaction-view.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventType } from '../../src/domain/event-types.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { mayMissIndex } from '../../src/domain/transaction-indexing.js'
import type { SponsoredMarks } from '../../src/domain/wallet.js'
import { allowedEntry } from '../../src/store/allowed-entry.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import { verdictOf } from './audit.js'
import type { SponsoredEvent } from './core/sponsored-messages.js'
import { runningKeysOf, type SubWalletState } from './core/state.js'
import { putExecuted, recordSigned } from './record-approvals.js'

/** Rebuilds the calls under way from their stored intents. */
export function loadSponsored(reader: Reader, state: SubWalletState): void {
  const marks = reader.wallets.header(state.subWalletId)?.sponsored
  if (marks !== undefined) {
    state.sponsoredGas = marks.gas
    for (const { chainId, next } of marks.intentNonces) state.intentNonces.set(chainId, next)
    for (const { chainId, atMs } of marks.lastCalls ?? []) state.lastSponsoredMs.set(chainId, atMs)
  }
  for (const sponsorship of reader.gas.sponsorshipsOf(state.subWalletId)) {
    const { txId, chainId, createdAtMs, gasMicros, stage, authorization } = sponsorship
    const tx = stage === 'handed' ? null : (reader.transactions.byId(txId) ?? null)
    state.sponsored.set(txId, {
      phase: stage,
      ...{ txId, chainId, createdAtMs, gasMicros, sponsorship, tx },
      ...{ fingerprint: '', draft: null, needsDelegation: false, screenedAgainst: [], token: null },
      ...{ rests: 0, isResting: false, raises: 0 },
    })
    for (const key of runningKeysOf(sponsorship)) state.running.set(key, txId)
    if (authorization !== null && stage !== 'held') {
      state.delegations.set(chainId, { phase: 'pending', leader: txId, authorization })
    }
  }
}

/**
 * Writes what an event of a sponsored call changed. The switch covers every event, so no durable
 * change can go unrecorded.
 * @returns true when the wallet's header has changed too
 */
export function recordSponsored(
  writer: Writer,
  { subWalletId, waiting }: SubWalletState,
  event: SponsoredEvent,
): boolean {
  switch (event.type) {
    case 'sponsored-withdrawn':
      writer.deleteSponsorship(subWalletId, event.txId)
      if (event.tx !== null) {
        writer.putTransaction(event.tx)
        writer.appendEvent(txEvent(event.tx, 'transaction.dropped', event.atMs))
      }
      return true
    case 'sponsored-handed':
      writer.putSponsorship(event.sponsorship)
      if (event.tx !== null) {
        writer.putTransaction(event.tx)
        recordSigned(writer, event.tx)
      }
      return true
    case 'sponsored-reserved-again': {
      const held = waiting.byTx.get(event.draft.txId)?.tx
      if (held !== undefined) writer.putTransaction(held)
      return true
    }
    case 'sponsored-moved':
      writer.putSponsorship(event.sponsorship)
      return false
    case 'cancellation-failed':
      writer.putSponsorship(event.sponsorship)
      return true
    case 'sponsored-sent': {
      const { tx, sponsorship } = event
      // The call may have waited long for its gas wallet: the audit trail dates it to its approval.
      writer.addTransaction(tx, null)
      // A call that waited has a record already.
      if (sponsorship.waited !== undefined) writer.putTransaction(tx)
      else if (mayMissIndex(tx.createdAtMs, event.atMs)) writer.noteUnindexed(tx.userId, tx.txId)
      writer.appendAudit(allowedEntry(tx, verdictOf(event, null)))
      writer.markOpen(subWalletId, tx.txId)
      writer.putSponsorship(sponsorship)
      if (sponsorship.idempotency !== null) {
        const { key, bodyHash } = sponsorship.idempotency
        const { txId, createdAtMs, lineageId } = tx
        writer.putIdempotency(lineageId, key, { bodyHash, txId, createdAtMs })
      }
      if (sponsorship.executes !== undefined) putExecuted(writer, sponsorship.executes, tx)
      return false
    }
    case 'sponsored-changed':
      writer.putTransaction(event.tx)
      if (event.tells !== null) {
        writer.appendEvent(txEvent(event.tx, event.tells, event.tx.updatedAtMs))
      }
      return false
    case 'sponsored-ended': {
      const { tx, held, atMs } = event
      writer.putTransaction(tx)
      writer.unmarkOpen(subWalletId, tx.txId)
      writer.appendEvent(txEvent(tx, `transaction.${endOf(tx)}`, atMs))
      if (held === null) writer.deleteSponsorship(subWalletId, tx.txId)
      else writer.putSponsorship(held)
      return true
    }
    case 'sponsored-expired':
      writer.putTransaction(event.tx)
      writer.unmarkOpen(subWalletId, event.tx.txId)
      writer.deleteSponsorship(subWalletId, event.tx.txId)
      return true
    case 'sponsored-reopened': {
      const { again, sponsorship } = event
      writer.putTransaction(again)
      writer.noteUnindexed(again.userId, again.txId)
      if (sponsorship.stage === 'sent') writer.markOpen(subWalletId, again.txId)
      writer.putSponsorship(sponsorship)
      return true
    }
    case 'delegation-ended':
      // The lane continues at the nonce that the account has now.
      return true
    case 'delegation-ending':
      return event.gasMicros > 0n
    case 'sponsored-reserved':
    case 'sponsored-released':
    case 'sponsored-waiting':
    case 'sponsored-signing':
    case 'sponsored-answered':
    case 'sponsored-joined':
    case 'sponsored-joined-answered':
    case 'sponsored-recorded':
    case 'sponsored-resting':
    case 'delegation-wanted':
    case 'delegation-led':
      return false
  }
}

/** Undefined while the wallet has sponsored nothing. */
export function marksOf({
  intentNonces,
  sponsoredGas,
  lastSponsoredMs,
}: SubWalletState): SponsoredMarks | undefined {
  const isUnused = intentNonces.size + lastSponsoredMs.size === 0
  if (isUnused && sponsoredGas.micros === 0n) return undefined
  const nonces = [...intentNonces].map(([chainId, next]) => ({ chainId, next }))
  const lastCalls = [...lastSponsoredMs].map(([chainId, atMs]) => ({ chainId, atMs }))
  return { intentNonces: nonces, gas: sponsoredGas, ...(lastCalls.length > 0 && { lastCalls }) }
}

function endOf({ status, txId }: Transaction): 'confirmed' | 'failed' | 'dropped' {
  if (status === 'confirmed' || status === 'failed' || status === 'dropped') return status
  throw new Error(`${txId} has not ended`)
}

function txEvent(tx: Transaction, type: EventType, atMs: number): NewEvent {
  return {
    eventId: null,
    userId: tx.userId,
    type,
    atMs,
    subWalletId: tx.subWalletId,
    laneKey: `${tx.subWalletId}:${tx.call.chainId}`,
    data: transactionView(tx, null),
  }
}
