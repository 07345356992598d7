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
import type { SponsoredAnew, SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredDraft } from './sponsored-state.js'
import type { Turn } from './turn.js'
import { waitingOf } from './waiting-calls.js'

type Screened = Extract<SponsoredCommand, { type: 'sponsored-screened' }>
type Quoted = Extract<SponsoredAnew['quote'], { ok: true }>

/**
 * Sponsored calls that people are asked about. What they sign are the terms of the Router's intent,
 * with the least output and the venue's calldata; nonce and deadline come when it is signed. Once
 * they have, the venue is asked for a new offer: where that is near enough to what they saw, the
 * approved terms are signed as they are.
 */

/** What is clean and asked about waits, once what people are to sign is known. */
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

/** The service pays, whatever it comes to. */
const GAS_IS_OURS = 0n

/** By the gates that a quote can change, then against what people signed. */
export function judgedAnew(turn: Turn, draft: SponsoredDraft, command: Screened): void {
  const { refusal, screenedAgainst, anew, nowMs } = command
  const { txId, chainId } = draft
  if (refusal !== null || anew === undefined) {
    if (refusal === null) throw new Error(`${txId} was not judged anew`)
    turn.emit({ type: 'sponsored-released', txId })
    turn.refuseSend(null, refusal, callOf(draft), screenedAgainst)
    return
  }
  const { quote, gasMicros, delegated } = anew
  const needsDelegation = mustDelegate(turn.state, chainId, delegated)
  const held: SponsoredDraft = { ...draft, createdAtMs: nowMs }
  const { counted: before, ...uncounted } = held
  // Caps and policy are asked as they are without what it held.
  const nothing = { ...uncounted, reservation: { ...draft.reservation, micros: 0n } }
  turn.emit({ type: 'sponsored-reserved-anew', draft: nothing, needsDelegation })
  const asked = atGatesAgain(draft, anew, nowMs)
  const passed = passesAgain(turn, asked)
  const { admitted } = asked
  const problem = quote.ok && !quote.terms.ok ? quote.terms.fault : null
  if (!passed || admitted === null || !quote.ok || problem !== null) {
    // What waits holds what it held.
    turn.emit({ type: 'sponsored-reserved-anew', draft: held, needsDelegation })
    turn.emit({ type: 'sponsored-released', txId })
    if (passed && problem !== null) {
      turn.refuseSend(null, problem, callOf(draft), screenedAgainst)
    }
    return
  }
  const { reservation, valuation } = admitted
  const { counted } = asked
  turn.emit({
    type: 'sponsored-reserved-anew',
    draft: {
      ...{ ...uncounted, reservation, valuation, gasMicros },
      ...(counted === undefined ? {} : { counted }),
    },
    needsDelegation,
  })
  const waiting = waitingOf(turn.state, txId)
  const why = askedAgainFor(waiting, asked) ?? (isNearEnough(draft, quote) ? null : 'quote')
  if (why !== null) {
    turn.emit({ type: 'sponsored-released', txId })
    const { valueMicros } = valuation
    const sponsored = sponsoredAnew(draft, quote)
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
  syncLane(turn, chainId, anew.chainNonce)
  turn.emit({ type: 'sponsored-waiting', txId, screenedAgainst })
  proceed(turn, chainId)
}

function atGatesAgain(draft: SponsoredDraft, anew: SponsoredAnew, nowMs: number): CallAtGates {
  const { keyId, chainId, terms } = draft
  const { quote, gasMicros: sponsoredGasMicros } = anew
  return {
    ...{ keyId, chainId, nowMs, idempotency: null, first: null, quote, sponsoredGasMicros },
    ...{ screened: null, intent: terms.ok ? terms.value : null, hasNonce: true },
    ...{ request: callOf(draft), token: null, findDuplicate: () => null },
    ...{ key: null, priced: null, counted: undefined, asks: undefined, admitted: null },
  }
}

/**
 * Whether what the venue offers now is what people saw: it still covers the minimum that they
 * signed, and is not so much better that the minimum would let somebody else have the difference.
 */
function isNearEnough({ terms, offered }: SponsoredDraft, quote: Quoted): boolean {
  return terms.ok && quote.offered >= terms.value.minOut && !hasMoved(offered, quote.offered)
}

/** What people are asked about by the offer of now. */
function sponsoredAnew(
  { router, delegate, fingerprint, terms }: SponsoredDraft,
  { terms: fresh, offered, parties }: Quoted,
): WaitingSponsorship {
  const now = fresh.ok ? fresh : terms
  if (!now.ok) throw new Error('nothing is offered')
  return { router, delegate, fingerprint, terms: now.value, offered, parties }
}

/** What outlives the waiting call, once its intent is signed. */
export function waitedOf(turn: Turn, txId: TxId): NonNullable<Sponsorship['waited']> {
  const { approval, createdAtMs } = waitingOf(turn.state, txId).tx
  if (approval === undefined) throw new Error(`${txId} did not wait`)
  return { approval, createdAtMs }
}
