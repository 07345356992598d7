import { intentSubject, type WaitingSponsorship } from '../../../src/domain/approval.js'
import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { IntentTerms } from '../../../src/domain/sponsored-terms.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import type { CallAtGates } from './call-at-gates.js'
import { askedFirst } from './decide-approvals.js'
import { proceed } from './decide-delegation.js'
import { passesAgain } from './lifecycle.js'
import { askAgain, askedAgainFor, hasMoved } from './run-approved.js'
import { callOf, mustDelegate, syncLane } from './sponsored-call.js'
import type { SponsoredCommand, SponsoredJudgedAgain } from './sponsored-messages.js'
import type { SponsoredDraft } from './sponsored-state.js'
import { swapLossFault } from './swap-loss-gate.js'
import type { Turn } from './turn.js'
import { waitingOf } from './waiting-calls.js'

type Screened = Extract<SponsoredCommand, { type: 'sponsored-screened' }>
type Quoted = Extract<SponsoredJudgedAgain['quote'], { ok: true }>

/**
 * Handles sponsored calls that need people's approval. People sign the terms of the Router's
 * intent, with the minimum output and the venue's calldata; the nonce and the deadline are added
 * when it is signed. After the approval the venue is asked for a new offer: when that is close
 * enough to what people saw, the approved terms are signed unchanged.
 */

/** Prepares a screened call for approval, once the terms that people sign are known. */
export function readyApproval(
  turn: Turn,
  draft: SponsoredDraft,
  terms: IntentTerms,
  screenedAgainst: readonly ScreenedAgainst[],
): void {
  const { txId, keyId, proofKey, chainId, account } = draft
  turn.emit({ type: 'approval-wanted', txId, screenedAgainst })
  const subject = intentSubject({ ...draft, terms }, chainId, account)
  const asked = askedFirst(turn.state, txId, keyId, subject, GAS_IS_OURS)
  turn.effect({ type: 'ready-approval', txId, asked, proofKey })
}

/** The service pays the gas, whatever it costs. */
const GAS_IS_OURS = 0n

/**
 * Judges the call by the gates that depend on the quote, then against the terms that people signed.
 */
export function judgeSponsoredAgain(turn: Turn, draft: SponsoredDraft, command: Screened): void {
  const { refusal, screenedAgainst, judgedAgain, nowMs } = command
  const { txId, chainId } = draft
  if (refusal !== null || judgedAgain === undefined) {
    if (refusal === null) throw new Error(`${txId} was not judged again`)
    turn.emit({ type: 'sponsored-released', txId })
    turn.refuseSend(null, refusal, callOf(draft), screenedAgainst)
    return
  }
  const { quote, gasMicros, delegated } = judgedAgain
  const needsDelegation = mustDelegate(turn.state, chainId, delegated)
  const held: SponsoredDraft = { ...draft, createdAtMs: nowMs }
  const { counted: before, ...uncounted } = held
  // The call must not count against itself, so caps and policy are checked without its reservation.
  const nothing = { ...uncounted, gasMicros: 0n, reservation: { ...draft.reservation, micros: 0n } }
  turn.emit({ type: 'sponsored-reserved-again', draft: nothing, needsDelegation })
  const asked = atGatesAgain(draft, judgedAgain, nowMs)
  const passed = passesAgain(turn, asked)
  const { admitted } = asked
  const problem = quote.ok && !quote.terms.ok ? quote.terms.fault : null
  if (!passed || admitted === null || !quote.ok || problem !== null) {
    // The waiting call keeps its former reservation.
    turn.emit({ type: 'sponsored-reserved-again', draft: held, needsDelegation })
    turn.emit({ type: 'sponsored-released', txId })
    if (passed && problem !== null) {
      turn.refuseSend(null, problem, callOf(draft), screenedAgainst)
    }
    return
  }
  const { reservation, valuation } = admitted
  const { counted } = asked
  turn.emit({
    type: 'sponsored-reserved-again',
    draft: {
      ...{ ...uncounted, reservation, valuation, gasMicros },
      ...(counted === undefined ? {} : { counted }),
    },
    needsDelegation,
  })
  const waiting = waitingOf(turn.state, txId)
  const holds = isNearEnough(draft, quote) && keepsLossBound(turn, draft, quote)
  const why = askedAgainFor(waiting, asked) ?? (holds ? null : 'quote')
  if (why !== null) {
    turn.emit({ type: 'sponsored-released', txId })
    const { valueMicros } = valuation
    const sponsored = sponsorshipOf(draft, quote)
    const { asks } = asked
    askAgain(
      turn,
      txId,
      {
        ...{ why, asks, maxNativeWei: GAS_IS_OURS, valueMicros, sponsored },
        counted: counted ?? before ?? null,
      },
      nowMs,
    )
    return
  }
  syncLane(turn, chainId, judgedAgain.chainNonce)
  turn.emit({ type: 'sponsored-waiting', txId, screenedAgainst })
  proceed(turn, chainId)
}

function atGatesAgain(
  draft: SponsoredDraft,
  judgedAgain: SponsoredJudgedAgain,
  nowMs: number,
): CallAtGates {
  const { keyId, chainId, terms } = draft
  const { quote, gasMicros: sponsoredGasMicros } = judgedAgain
  return {
    ...{ keyId, chainId, nowMs, idempotency: null, first: null, quote, sponsoredGasMicros },
    ...{ quoted: null, guardsDuplicates: false },
    ...{ screened: null, intent: terms.ok ? terms.value : null, hasNonce: true },
    ...{ request: callOf(draft), token: null, findDuplicate: () => null },
    ...{ key: null, priced: null, counted: undefined, asks: undefined, admitted: null },
  }
}

/**
 * Whether the venue's present offer matches what people saw: it still covers the minimum that they
 * signed, and is not so much better that the minimum would leave the difference to someone else.
 */
function isNearEnough({ terms, offered }: SponsoredDraft, quote: Quoted): boolean {
  return terms.ok && quote.offered >= terms.value.minOut && !hasMoved(offered, quote.offered)
}

/** Checks the loss bound at present prices, because the approved terms are signed unchanged. */
function keepsLossBound({ state }: Turn, { keyId, terms }: SponsoredDraft, quote: Quoted): boolean {
  const key = state.keys.get(keyId)
  if (key === undefined || !terms.ok) return false
  return swapLossFault(state, key, quote, terms.value.minOut) === null
}

/** The terms that people are asked to approve, by the present offer. */
function sponsorshipOf(
  { router, delegate, fingerprint, terms }: SponsoredDraft,
  { terms: fresh, offered, parties }: Quoted,
): WaitingSponsorship {
  const now = fresh.ok ? fresh : terms
  if (!now.ok) throw new Error('the venue has no offer')
  return { router, delegate, fingerprint, terms: now.value, offered, parties }
}

/** The data of the waiting call that outlives it once its intent is signed. */
export function waitedOf(turn: Turn, txId: TxId): NonNullable<Sponsorship['waited']> {
  const { approval, createdAtMs } = waitingOf(turn.state, txId).tx
  if (approval === undefined) throw new Error(`${txId} did not wait`)
  return { approval, createdAtMs }
}
