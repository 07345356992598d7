import type { TxId } from '../../../src/domain/ids.js'
import { dayCounted } from '../../../src/domain/spend.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import { goOnAt } from '../../account/core/lane-nonces.js'
import { laneOf, WINDOW_DELEGATED, WINDOW_PLAIN } from '../../account/core/state.js'
import { releaseDraft, reserveDraft } from './drafted-spend.js'
import { reserveOnPath, settleOnPath, unsettleOnPath } from './path-spend.js'
import { bookCall, giveUnitsBack, takeUnitsAgain } from './policy-ledgers.js'
import type { RecordedEnd, SponsoredEvent } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import { runningKeysOf, type SubWalletState } from './state.js'
import { holdAgain, leaveWaiting } from './waiting-calls.js'

type Of<T extends SponsoredEvent['type']> = Extract<SponsoredEvent, { type: T }>

/** Folds events of sponsored calls into the state, in place, as `evolve` does. */
export function evolveSponsored(state: SubWalletState, event: SponsoredEvent): void {
  switch (event.type) {
    case 'sponsored-reserved':
      reserved(state, event)
      return
    case 'sponsored-reserved-again':
      reservedAgain(state, event)
      return
    case 'sponsored-released':
      release(state, entryOf(state, event.txId))
      return
    case 'sponsored-withdrawn':
      giveBack(state, event.txId)
      settleSpend(state, event.txId, 0n)
      forget(state, entryOf(state, event.txId))
      return
    case 'sponsored-waiting':
    case 'sponsored-signing':
      underWay(state, event)
      return
    case 'sponsored-handed':
      handed(state, event)
      return
    case 'sponsored-moved':
    case 'cancellation-failed':
    case 'sponsored-resting':
    case 'sponsored-sent':
    case 'sponsored-changed':
    case 'sponsored-answered':
      carried(state, event)
      return
    case 'sponsored-joined':
    case 'sponsored-joined-answered':
      evolveJoined(state, event)
      return
    case 'sponsored-ended':
      ended(state, event)
      return
    case 'sponsored-expired':
      spendGas(state, event.paidGasMicros, event.atMs)
      giveBack(state, event.tx.txId)
      settleSpend(state, event.tx.txId, 0n)
      forget(state, entryOf(state, event.tx.txId))
      return
    case 'sponsored-recorded':
      recorded(state, event)
      return
    case 'sponsored-reopened':
      reopened(state, event)
      return
    default:
      evolveDelegation(state, event)
  }
}

function reserved(state: SubWalletState, event: Of<'sponsored-reserved'>): void {
  const { draft, needsDelegation, token } = event
  const { txId, chainId, fingerprint, createdAtMs, gasMicros, lineageId } = draft
  state.sponsored.set(txId, {
    phase: 'screening',
    ...{ txId, chainId, fingerprint, createdAtMs, gasMicros },
    ...{ draft, sponsorship: null, tx: null, needsDelegation, screenedAgainst: [], token },
    ...{ rests: 0, isResting: false, raises: 0 },
  })
  // A call that waited already holds its reservation.
  if (draft.approval === undefined) {
    reserveDraft(state, lineageId, draft.reservation, createdAtMs)
  }
  for (const key of runningKeysOf(draft)) state.running.set(key, txId)
}

function reservedAgain(state: SubWalletState, event: Of<'sponsored-reserved-again'>): void {
  const { draft, needsDelegation } = event
  const entry = entryOf(state, draft.txId)
  holdAgain(state, draft)
  entry.draft = draft
  entry.gasMicros = draft.gasMicros
  entry.needsDelegation = needsDelegation
}

/** Folds the phases before the intent is stored. */
function underWay(
  state: SubWalletState,
  event: Of<'sponsored-waiting' | 'sponsored-signing'>,
): void {
  const entry = entryOf(state, event.txId)
  if (event.type === 'sponsored-waiting') {
    entry.phase = 'waiting'
    entry.screenedAgainst = event.screenedAgainst
    return
  }
  entry.phase = 'signing'
  if (event.intentNonce !== null) state.intentNonces.set(entry.chainId, event.intentNonce + 1)
}

/** Folds the phases in which a gas wallet carries the call. */
function carried(
  state: SubWalletState,
  event: Of<
    | 'sponsored-moved'
    | 'cancellation-failed'
    | 'sponsored-resting'
    | 'sponsored-sent'
    | 'sponsored-changed'
    | 'sponsored-answered'
  >,
): void {
  switch (event.type) {
    case 'sponsored-moved': {
      const entry = entryOf(state, event.sponsorship.txId)
      hold(entry, event.sponsorship)
      if (event.raised === true) entry.raises += 1
      return
    }
    case 'cancellation-failed':
      spendGas(state, event.paidGasMicros, event.atMs)
      entryOf(state, event.sponsorship.txId).sponsorship = event.sponsorship
      return
    case 'sponsored-resting': {
      const entry = entryOf(state, event.txId)
      entry.isResting = event.on
      if (event.on) entry.rests += 1
      return
    }
    case 'sponsored-sent': {
      const entry = entryOf(state, event.tx.txId)
      entry.phase = 'sent'
      hold(entry, event.sponsorship)
      entry.tx = event.tx
      return
    }
    case 'sponsored-changed':
      entryOf(state, event.tx.txId).tx = event.tx
      return
    case 'sponsored-answered':
      entryOf(state, event.txId).token = null
      return
  }
}

function hold(entry: SponsoredEntry, sponsorship: Sponsorship): void {
  entry.sponsorship = sponsorship
  entry.gasMicros = sponsorship.gasMicros
}

function ended(state: SubWalletState, event: Of<'sponsored-ended'>): void {
  const { tx, held, paidGasMicros, atMs } = event
  const entry = entryOf(state, tx.txId)
  spendGas(state, paidGasMicros, atMs)
  entry.tx = tx
  if (held === null) {
    if (tx.status !== 'confirmed') giveBack(state, tx.txId)
    settleSpend(state, tx.txId, tx.spentMicros)
    // Its Idempotency-Key stays: the store does not contain the end until the commit is on disk.
    state.unrecorded.set(tx.txId, { tx, sponsorship: entry.sponsorship })
    state.sponsored.delete(tx.txId)
    return
  }
  entry.phase = 'held'
  entry.sponsorship = held
}

function recorded(state: SubWalletState, { txId, runningKeys, blockHash }: RecordedEnd): void {
  forgetKeys(state, txId, runningKeys)
  // The call may have ended again in another block whose commit is not on disk.
  if (state.unrecorded.get(txId)?.tx?.mined?.blockHash === blockHash) state.unrecorded.delete(txId)
}

function reopened(
  state: SubWalletState,
  { tx, again, sponsorship, takenBackMicros }: Of<'sponsored-reopened'>,
): void {
  const { txId, chainId, createdAtMs, lineageId, reservation, gasMicros, stage } = sponsorship
  if (!state.sponsored.has(txId)) {
    unsettleOnPath(state, lineageId, reservation, tx.spentMicros)
    if (tx.status !== 'confirmed') {
      takeUnitsAgain(state, lineageId, createdAtMs, sponsorship.counted?.taken)
    }
  }
  const { day, micros } = state.sponsoredGas
  state.sponsoredGas = { day, micros: micros - takenBackMicros }
  state.unrecorded.delete(txId)
  state.sponsored.set(txId, {
    ...{ phase: stage, txId, chainId, fingerprint: '', createdAtMs, gasMicros },
    ...{ draft: null, sponsorship, needsDelegation: false, screenedAgainst: [], token: null },
    ...{ rests: 0, isResting: false, raises: 0, tx: again },
  })
}

function evolveDelegation(
  state: SubWalletState,
  event: Of<'delegation-wanted' | 'delegation-led' | 'delegation-ending' | 'delegation-ended'>,
): void {
  const { chainId } = event
  switch (event.type) {
    case 'delegation-wanted':
      state.delegations.set(chainId, { phase: 'draining', leader: null, authorization: null })
      return
    case 'delegation-led':
      state.delegations.set(chainId, { phase: 'signing', leader: event.txId, authorization: null })
      return
    case 'delegation-ending':
      state.delegations.set(chainId, { phase: 'ending', leader: null, authorization: null })
      if (event.atMs !== null) spendGas(state, event.gasMicros, event.atMs)
      // A failed attempt is repeated only after the account has been idle for the same time again.
      if (event.atMs !== null) state.lastSponsoredMs.set(chainId, event.atMs)
      return
    case 'delegation-ended': {
      state.delegations.delete(chainId)
      const lane = laneOf(state, chainId)
      goOnAt(lane, event.nextNonce)
      if (event.outcome === 'not-delegated') return
      const isDelegated = event.outcome === 'delegated'
      lane.window = isDelegated ? WINDOW_DELEGATED : WINDOW_PLAIN
      for (const entry of state.sponsored.values()) {
        if (entry.chainId === chainId) entry.needsDelegation = !isDelegated
      }
      if (isDelegated) state.undelegated.delete(chainId)
      else {
        state.undelegated.add(chainId)
        state.lastSponsoredMs.delete(chainId)
      }
      return
    }
  }
}

/** Moves the reservation from the drafts, or from the stored waiting call, to the stored calls. */
function handed(state: SubWalletState, { sponsorship, atMs }: Of<'sponsored-handed'>): void {
  const { txId, chainId, lineageId, reservation, createdAtMs, authorization } = sponsorship
  const entry = entryOf(state, txId)
  if (sponsorship.waited === undefined || !leaveWaiting(state, txId)) {
    releaseDraft(state, lineageId, reservation)
    reserveOnPath(state, lineageId, reservation, atMs)
  }
  bookCall(state, sponsorship, sponsorship.counted)
  state.lastSponsoredMs.set(chainId, createdAtMs)
  entry.phase = 'handed'
  entry.sponsorship = sponsorship
  entry.draft = null
  if (state.delegations.get(chainId)?.leader === txId) {
    state.delegations.set(chainId, { phase: 'pending', leader: txId, authorization })
  }
}

function release(state: SubWalletState, entry: SponsoredEntry): void {
  const { draft, chainId, txId } = entry
  if (draft === null) throw new Error(`${txId} is stored and can only be given up with a record`)
  if (draft.approval === undefined) releaseDraft(state, draft.lineageId, draft.reservation)
  const delegation = state.delegations.get(chainId)
  if (delegation?.phase === 'signing' && delegation.leader === txId) {
    state.delegations.set(chainId, { phase: 'draining', leader: null, authorization: null })
  }
  forget(state, entry)
}

/** Settles the spend of a call that has ended. */
function settleSpend(state: SubWalletState, txId: TxId, spentMicros: bigint): void {
  const { sponsorship } = entryOf(state, txId)
  if (sponsorship === null) throw new Error(`${txId} has no stored reservation`)
  const { lineageId, reservation } = sponsorship
  settleOnPath(state, lineageId, reservation, spentMicros)
}

/** Gives back the counted units of a call that moved nothing. */
function giveBack(state: SubWalletState, txId: TxId): void {
  const { sponsorship } = entryOf(state, txId)
  if (sponsorship === null) return
  const { lineageId, createdAtMs, counted } = sponsorship
  giveUnitsBack(state, lineageId, createdAtMs, counted?.taken)
}

function spendGas(state: SubWalletState, micros: bigint, atMs: number): void {
  const { sponsoredGas: before } = state
  const day = dayCounted(before.day, atMs)
  state.sponsoredGas = { day, micros: (day > before.day ? 0n : before.micros) + micros }
}

function forget(state: SubWalletState, { txId, draft, sponsorship }: SponsoredEntry): void {
  const named = sponsorship ?? draft
  if (named !== null) forgetKeys(state, txId, runningKeysOf(named))
  state.sponsored.delete(txId)
}

/** Removes the keys of this call and keeps those that another call has taken since. */
function forgetKeys({ running }: SubWalletState, txId: TxId, keys: readonly string[]): void {
  for (const key of keys) if (running.get(key) === txId) running.delete(key)
}

function entryOf(state: SubWalletState, txId: TxId): SponsoredEntry {
  const entry = state.sponsored.get(txId)
  if (entry === undefined) throw new Error(`${txId} is not a sponsored call under way`)
  return entry
}

function evolveJoined(
  { joined }: SubWalletState,
  event: Of<'sponsored-joined' | 'sponsored-joined-answered'>,
): void {
  const { txId } = event
  if (event.type === 'sponsored-joined-answered') joined.delete(txId)
  else joined.set(txId, [...(joined.get(txId) ?? []), event.caller])
}
