import type { TxId } from '../../../src/domain/ids.js'
import {
  dayCounted,
  NO_SPEND,
  reserve,
  rollForward,
  settle,
  unsettle,
} from '../../../src/domain/spend.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import { goOnAt } from '../../account/core/lane-nonces.js'
import { laneOf, WINDOW_DELEGATED } from '../../account/core/state.js'
import { bookDraft, unbookDraft } from './drafted-spend.js'
import type { SponsoredEvent } from './sponsored-messages.js'
import type { SponsoredEntry } from './sponsored-state.js'
import { runningKey, type SubWalletState } from './state.js'

/** Folds what happened to sponsored calls into the state, in place; as `evolve`. */
export function evolveSponsored(state: SubWalletState, event: SponsoredEvent): void {
  switch (event.type) {
    case 'sponsored-reserved': {
      const { draft, needsDelegation, token } = event
      const { txId, chainId, fingerprint, createdAtMs, gasMicros, lineageId, idempotency } = draft
      state.sponsored.set(txId, {
        phase: 'screening',
        ...{ txId, chainId, fingerprint, createdAtMs, gasMicros },
        ...{ draft, sponsorship: null, tx: null, needsDelegation, screenedAgainst: [], token },
      })
      bookDraft(state, lineageId, draft.reservation, createdAtMs)
      if (idempotency !== null) state.running.set(runningKey(lineageId, idempotency.key), txId)
      return
    }
    case 'sponsored-released':
      release(state, entryOf(state, event.txId))
      return
    case 'sponsored-withdrawn': {
      const entry = entryOf(state, event.txId)
      settleSpend(state, entry, 0n)
      forget(state, entry)
      return
    }
    case 'sponsored-waiting': {
      const entry = entryOf(state, event.txId)
      entry.phase = 'waiting'
      entry.screenedAgainst = event.screenedAgainst
      return
    }
    case 'sponsored-signing': {
      const entry = entryOf(state, event.txId)
      entry.phase = 'signing'
      state.intentNonces.set(entry.chainId, event.intentNonce + 1)
      return
    }
    case 'sponsored-handed':
      handed(state, event.sponsorship)
      return
    case 'sponsored-passed-on':
      entryOf(state, event.sponsorship.txId).sponsorship = event.sponsorship
      return
    case 'sponsored-sent': {
      const entry = entryOf(state, event.tx.txId)
      entry.phase = 'sent'
      entry.sponsorship = event.sponsorship
      entry.tx = event.tx
      return
    }
    case 'sponsored-changed':
      entryOf(state, event.tx.txId).tx = event.tx
      return
    case 'sponsored-answered':
      entryOf(state, event.txId).token = null
      return
    case 'sponsored-ended': {
      const { tx, held, paidGasMicros, atMs } = event
      const entry = entryOf(state, tx.txId)
      spendGas(state, paidGasMicros, atMs)
      entry.tx = tx
      if (held !== null) {
        entry.phase = 'held'
        entry.sponsorship = held
        return
      }
      settleSpend(state, entry, tx.spentMicros)
      forget(state, entry)
      return
    }
    case 'sponsored-expired': {
      const entry = entryOf(state, event.tx.txId)
      spendGas(state, event.paidGasMicros, event.atMs)
      settleSpend(state, entry, 0n)
      forget(state, entry)
      return
    }
    case 'sponsored-reopened': {
      const { tx, sponsorship } = event
      const { txId, chainId, createdAtMs, lineageId, reservation } = sponsorship
      const known = state.sponsored.get(txId)
      if (known === undefined) {
        const stored = tx.spentMicros
        const before = state.spend.get(lineageId) ?? NO_SPEND
        state.spend.set(lineageId, unsettle(before, reservation, stored))
      }
      state.sponsored.set(txId, {
        phase: 'sent',
        ...{ txId, chainId, fingerprint: '', createdAtMs, gasMicros: 0n },
        ...{ draft: null, sponsorship, needsDelegation: false, screenedAgainst: [], token: null },
        tx: {
          ...tx,
          status: 'broadcast',
          mined: null,
          error: null,
          confirmedAtMs: null,
          spentMicros: reservation.micros,
        },
      })
      return
    }
    case 'delegation-wanted': {
      const { chainId } = event
      state.delegations.set(chainId, { phase: 'draining', leader: null, authorization: null })
      return
    }
    case 'delegation-led': {
      const { chainId, txId } = event
      state.delegations.set(chainId, { phase: 'signing', leader: txId, authorization: null })
      return
    }
    case 'delegation-ended': {
      const { chainId, outcome, nextNonce } = event
      state.delegations.delete(chainId)
      const lane = laneOf(state, chainId)
      goOnAt(lane, nextNonce)
      if (outcome === 'not-delegated') return
      lane.window = WINDOW_DELEGATED
      for (const entry of state.sponsored.values()) {
        if (entry.chainId === chainId) entry.needsDelegation = false
      }
      return
    }
  }
}

/** Booked as a draft before it is stored, with the stored ones from then on. */
function handed(state: SubWalletState, sponsorship: Sponsorship): void {
  const { txId, chainId, lineageId, reservation, createdAtMs, authorization } = sponsorship
  const entry = entryOf(state, txId)
  unbookDraft(state, lineageId, reservation)
  const before = rollForward(state.spend.get(lineageId) ?? NO_SPEND, createdAtMs)
  state.spend.set(lineageId, reserve(before, reservation))
  entry.phase = 'handed'
  entry.sponsorship = sponsorship
  entry.draft = null
  if (state.delegations.get(chainId)?.leader === txId) {
    state.delegations.set(chainId, { phase: 'pending', leader: txId, authorization })
  }
}

function release(state: SubWalletState, entry: SponsoredEntry): void {
  const { draft, chainId, txId } = entry
  if (draft === null) throw new Error(`${txId} is stored: only a record of it can give it up`)
  unbookDraft(state, draft.lineageId, draft.reservation)
  const delegation = state.delegations.get(chainId)
  if (delegation?.phase === 'signing' && delegation.leader === txId) {
    state.delegations.set(chainId, { phase: 'draining', leader: null, authorization: null })
  }
  forget(state, entry)
}

function settleSpend(
  state: SubWalletState,
  { txId, sponsorship }: SponsoredEntry,
  spentMicros: bigint,
): void {
  if (sponsorship === null) throw new Error(`${txId} has no stored reservation`)
  const { lineageId, reservation } = sponsorship
  const before = state.spend.get(lineageId) ?? NO_SPEND
  state.spend.set(lineageId, settle(before, reservation, spentMicros))
}

function spendGas(state: SubWalletState, micros: bigint, atMs: number): void {
  const { sponsoredGas: before } = state
  const day = dayCounted(before.day, atMs)
  state.sponsoredGas = { day, micros: (day > before.day ? 0n : before.micros) + micros }
}

function forget(state: SubWalletState, { txId, draft, sponsorship }: SponsoredEntry): void {
  const named = sponsorship ?? draft
  if (named !== null && named.idempotency !== null) {
    state.running.delete(runningKey(named.lineageId, named.idempotency.key))
  }
  state.sponsored.delete(txId)
}

function entryOf(state: SubWalletState, txId: TxId): SponsoredEntry {
  const entry = state.sponsored.get(txId)
  if (entry === undefined) throw new Error(`${txId} is no sponsored call under way`)
  return entry
}
