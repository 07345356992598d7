import type { NewEvent, TransactionMoment } from '../../src/domain/event.js'
import type { EventType } from '../../src/domain/event-types.js'
import type { Address, TxId } from '../../src/domain/ids.js'
import { formatUsd } from '../../src/domain/money.js'
import { isSponsored } from '../../src/domain/sponsorship.js'
import type { Transaction } from '../../src/domain/transaction.js'
import { mayMissIndex } from '../../src/domain/transaction-indexing.js'
import { OPEN_LISTED_MAX, type SubWalletHeader } from '../../src/domain/wallet.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import { withoutDrafts } from '../account/core/lane-nonces.js'
import type { AccountEvent } from '../account/core/messages.js'
import { laneOf, restoredEntry } from '../account/core/state.js'
import { changedTransaction, changesLane, isAccountEvent } from '../account/core/written.js'
import { keyAudit, verdictOf, walletAudit } from './audit.js'
import { foldKey } from './core/key-tree.js'
import { noteLimit } from './core/limit-crossings.js'
import type { Event } from './core/messages.js'
import { openGrant } from './core/open-grants.js'
import { emptyState, type SubWalletState } from './core/state.js'
import { isApprovalEvent, loadWaiting, recordApproval, recordSigned } from './record-approvals.js'
import { loadSponsored, marksOf, recordSponsored } from './record-sponsored.js'
import { loadAllowances, writeAllowances } from './stored-allowances.js'

/** Rebuilds a sub-wallet from the store: its header, its keys and its open transactions. */
export function loadState(reader: Reader, subWalletId: SubWalletState['subWalletId']) {
  const state = emptyState(subWalletId)
  const header = reader.fresh().wallets.header(subWalletId)
  if (header === undefined) return state
  state.wallet = header.wallet
  state.allowances = loadAllowances(reader, header.wallet.address)
  state.allowancesComplete = reader.allowances.ledger(header.wallet.address)?.complete === true
  for (const { lineageId, counters } of header.spend) state.spend.set(lineageId, counters)
  for (const mark of header.limitNotices ?? []) noteLimit(state, mark)
  for (const txId of header.open) state.openInline.add(txId)
  state.openInlineFlagged = state.openInline.size > 0
  for (const { chainId, nextNonce, ownFrom = nextNonce } of header.lanes) {
    const lane = laneOf(state, chainId)
    lane.nextNonce = nextNonce
    lane.ownFrom = ownFrom
  }
  for (const key of reader.keys.ofWallet(subWalletId)) foldKey(state, key)
  for (const change of reader.grants.changesOf(subWalletId)) openGrant(state.grants, change, null)
  for (const [lineageId, days] of reader.spentDays.ofWallet(subWalletId)) {
    state.spentDays.set(lineageId, days)
  }
  for (const [lineageId, ledger] of reader.keys.policyLedgersOf(subWalletId)) {
    state.policyLedgers.set(lineageId, ledger)
  }
  loadSponsored(reader, state)
  loadWaiting(reader, state)
  const open = [...reader.transactions.openOfWallet(subWalletId)].filter(
    ({ kind }) => !isSponsored(kind),
  )
  open.sort((a, b) => a.nonce - b.nonce)
  for (const tx of open) {
    // Whether a node still has it is unknown: the same bytes are broadcast again at the next block.
    const flight = tx.mined === null ? 'indeterminate' : 'sent'
    state.open.set(tx.txId, restoredEntry(tx, flight))
    if (tx.mined === null) laneOf(state, tx.call.chainId).flight.push(tx.txId)
  }
  return state
}

/**
 * Writes what durable events changed; volatile ones write nothing. Each type of event has its case
 * here, in `written.ts` or in `recordSponsored`; a missing case does not compile.
 */
export function recordEvents(
  writer: Writer,
  state: SubWalletState,
  events: readonly Event[],
): void {
  let header = false
  let created = false
  // An array, because most commands change no transaction and the rest change few; a set costs more
  // to make.
  const changed: TxId[] = []
  for (const event of events) {
    switch (event.type) {
      case 'wallet-created':
        created = true
        writer.appendAudit(walletAudit(event))
        writer.putAllowanceLedger(event.wallet.address, { complete: true })
        break
      case 'key-put':
        writer.putApiKey(event.key)
        writer.appendAudit(keyAudit(event))
        if (event.change === 'rotated' || event.change === 'revoked') {
          writer.appendEvent(keyEvent(state, event))
        }
        break
      case 'grant-opened':
        writer.putGrantChange(state.subWalletId, event.change)
        break
      case 'grant-closed':
        writer.deleteGrantChange(state.subWalletId, event.keyId)
        break
      case 'grant-released':
      case 'grant-sending':
      case 'grant-sent':
      case 'grants-resting':
        break
      case 'limit-reached':
        header = true
        writer.appendEvent(limitEvent(state, event))
        break
      case 'transaction-signed':
        header = true
        recordOpen(writer, state, event.tx.txId)
        if (event.idempotency !== null) {
          const { key, bodyHash } = event.idempotency
          const { txId, createdAtMs, lineageId } = event.tx
          writer.putIdempotency(lineageId, key, { bodyHash, txId, createdAtMs })
        }
        writer.addTransaction(transactionOf(state, event.tx.txId), verdictOf(event, event.basis))
        // A call that waited has a record already.
        if (event.tx.approval !== undefined) {
          recordSigned(writer, event.tx)
          note(changed, event.tx.txId)
        } else if (mayMissIndex(event.tx.createdAtMs, event.tx.updatedAtMs)) {
          writer.noteUnindexed(event.tx.userId, event.tx.txId)
        }
        break
      case 'allowances-recorded':
        writeAllowances(writer, addressOf(state), event)
        break
      case 'credits-changed':
        for (const entry of event.entries) writer.putAllowance(addressOf(state), entry)
        break
      case 'transaction-broadcast':
        note(changed, event.txId)
        writer.appendEvent(txEvent(state, event.txId, 'transaction.broadcast', event.atMs))
        break
      case 'reservation-raised':
        header = true
        note(changed, event.txId)
        break
      case 'receipt-asked':
        break
      case 'receipt-valued':
      case 'receipt-forgotten':
        if (event.beyondMicros === 0n) break
        header = true
        note(changed, event.txId)
        break
      case 'transaction-reopened':
        header = true
        recordOpen(writer, state, event.tx.txId)
        writer.noteUnindexed(event.tx.userId, event.tx.txId)
        note(changed, event.tx.txId)
        break
      case 'transaction-ended':
        header = true
        recordEnd(writer, state, event.txId)
        if (event.givenUpAt !== null) {
          writer.noteGivenUp(transactionOf(state, event.txId), event.givenUpAt)
        }
        note(changed, event.txId)
        writer.appendEvent(txEvent(state, event.txId, `transaction.${event.status}`, event.atMs))
        break
      case 'idempotency-forgotten':
        for (const key of event.keys) writer.deleteIdempotency(event.lineageId, key)
        break
      case 'lineages-forgotten':
        header = true
        break
      case 'reserved-again':
        if (event.draft.approval === undefined) break
        header = true
        note(changed, event.draft.txId)
        break
      case 'breakers-counted':
      case 'breaker-tripped':
      case 'payees-read':
      case 'reserved':
        break
      default:
        if (isApprovalEvent(event)) {
          if (recordApproval(writer, state, event)) header = true
          break
        }
        if (!isAccountEvent(event)) {
          if (recordSponsored(writer, state, event)) header = true
          break
        }
        if (changesLane(event)) header = true
        noteChanged(changed, event)
    }
  }
  for (const txId of changed) writer.putTransaction(transactionOf(state, txId))
  if (state.changedLedgers.size > 0) recordLedgers(writer, state)
  if (state.changedDays.size > 0) recordDays(writer, state)
  // Clearing an empty map allocates a new table, and most commands end nothing.
  if (state.ended.size > 0) state.ended.clear()
  if (created) writer.addSubWallet(headerOf(state))
  else if (header) writer.putSubWalletMarks(headerOf(state))
}

/** Writes what policies count together with the transactions that they count. */
function recordLedgers(writer: Writer, state: SubWalletState): void {
  const { changedLedgers, policyLedgers, subWalletId } = state
  for (const [lineageId, before] of changedLedgers) {
    const ledger = policyLedgers.get(lineageId)
    if (ledger === undefined) writer.deletePolicyLedger(subWalletId, lineageId, before)
    else writer.putPolicyLedger(subWalletId, lineageId, ledger, before)
  }
  changedLedgers.clear()
}

/** Writes the days of a lineage: once a day, and when something settles after its day. */
function recordDays(writer: Writer, { changedDays, spentDays, subWalletId }: SubWalletState): void {
  for (const lineageId of changedDays) {
    writer.putSpentDays(subWalletId, lineageId, spentDays.get(lineageId) ?? [])
  }
  changedDays.clear()
}

/**
 * Decides where a restart finds the open transaction. The place belongs to the store, so it is
 * decided here and not in the fold.
 */
function recordOpen(writer: Writer, state: SubWalletState, txId: TxId): void {
  const { openInline, subWalletId } = state
  if (openInline.size < OPEN_LISTED_MAX) openInline.add(txId)
  else writer.markOpen(subWalletId, txId)
  flagOpenInline(writer, state)
}

function recordEnd(writer: Writer, state: SubWalletState, txId: TxId): void {
  if (state.openInline.delete(txId)) flagOpenInline(writer, state)
  else writer.unmarkOpen(state.subWalletId, txId)
}

/** A restart looks for open transactions only in wallets that have this mark. */
function flagOpenInline(writer: Writer, state: SubWalletState): void {
  const { openInline, openInlineFlagged, subWalletId } = state
  const some = openInline.size > 0
  if (some === openInlineFlagged) return
  if (some) writer.markOpen(subWalletId, null)
  else writer.unmarkOpen(subWalletId, null)
  state.openInlineFlagged = some
}

function noteChanged(ids: TxId[], event: AccountEvent): void {
  const txId = changedTransaction(event)
  if (txId !== null) note(ids, txId)
}

function note(ids: TxId[], txId: TxId): void {
  if (!ids.includes(txId)) ids.push(txId)
}

function headerOf(state: SubWalletState): SubWalletHeader {
  if (state.wallet === null) throw new Error(`${state.subWalletId} has no wallet to store`)
  const lanes = []
  for (const lane of state.lanes.values()) {
    const { nextNonce, ownFrom } = withoutDrafts(state, lane)
    if (nextNonce !== null) lanes.push({ chainId: lane.chainId, nextNonce, ownFrom })
  }
  const spend = [...state.spend].map(([lineageId, counters]) => ({ lineageId, counters }))
  const sponsored = marksOf(state)
  const limitNotices = [...state.limitNotices.values()]
  const open = [...state.openInline]
  const header: SubWalletHeader = { wallet: state.wallet, lanes, spend, open }
  if (sponsored === undefined && limitNotices.length === 0) return header
  return {
    ...header,
    ...(sponsored === undefined ? {} : { sponsored }),
    ...(limitNotices.length === 0 ? {} : { limitNotices }),
  }
}

function addressOf({ wallet, subWalletId }: SubWalletState): Address {
  if (wallet === null) throw new Error(`${subWalletId} gave an allowance but does not exist`)
  return wallet.address
}

function transactionOf(state: SubWalletState, txId: TxId): Transaction {
  const tx = state.open.get(txId)?.tx ?? state.waiting.byTx.get(txId)?.tx ?? state.ended.get(txId)
  if (tx === undefined) throw new Error(`${txId} changed but was not found`)
  return tx
}

function txEvent(state: SubWalletState, txId: TxId, type: EventType, atMs: number): NewEvent {
  const tx = transactionOf(state, txId)
  return {
    eventId: null,
    userId: tx.userId,
    type,
    atMs,
    subWalletId: tx.subWalletId,
    laneKey: `${tx.subWalletId}:${tx.call.chainId}`,
    data: null,
    moment: momentOf(tx),
  }
}

function momentOf(tx: Transaction): TransactionMoment {
  return {
    txId: tx.txId,
    attemptCount: tx.attempts.length,
    nonce: tx.nonce,
    status: tx.status,
    spentMicros: tx.spentMicros,
    mined: tx.mined,
    error: tx.error,
    updatedAtMs: tx.updatedAtMs,
    confirmedAtMs: tx.confirmedAtMs,
  }
}

function ownEvent(
  state: SubWalletState,
  type: EventType,
  atMs: number,
  data: NewEvent['data'],
): NewEvent {
  if (state.wallet === null) throw new Error(`${state.subWalletId} has no owner to notify`)
  return {
    eventId: null,
    userId: state.wallet.userId,
    type,
    atMs,
    subWalletId: state.subWalletId,
    laneKey: null,
    data,
  }
}

function keyEvent(state: SubWalletState, event: Extract<Event, { type: 'key-put' }>): NewEvent {
  const { key, atMs } = event
  return ownEvent(state, event.change === 'rotated' ? 'key.rotated' : 'key.revoked', atMs, {
    key_id: key.keyId,
    name: key.name,
    sub_wallet_id: key.subWalletId,
    rotated_from: key.rotatedFrom,
  })
}

function limitEvent(
  state: SubWalletState,
  event: Extract<Event, { type: 'limit-reached' }>,
): NewEvent {
  return ownEvent(state, 'limit.reached', event.atMs, {
    key_id: event.keyId,
    sub_wallet_id: state.subWalletId,
    period: event.mark.period,
    percent: event.mark.percent,
    limit_usd: formatUsd(event.mark.limitMicros),
    used_usd: formatUsd(event.usedMicros),
  })
}
