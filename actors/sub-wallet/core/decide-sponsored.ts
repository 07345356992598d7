import { gasWalletsFor } from '../../../src/domain/gas-wallets.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { IntentTerms } from '../../../src/domain/sponsored-terms.js'
import type { Sponsorship } from '../../../src/domain/sponsorship.js'
import { laneOf } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'
import { type CallAtGates, DUPLICATE_WINDOW_MS, keyOf } from './call-at-gates.js'
import { proceed } from './decide-delegation.js'
import { passesIdempotency, passesKey } from './gates.js'
import { passesGates } from './lifecycle.js'
import { judgeSponsoredAgain, readyApproval, waitedOf } from './sponsored-approved.js'
import { callOf, mustDelegate, recordBeforeGas, syncLane } from './sponsored-call.js'
import type { PreparedSponsored, SponsoredCommand } from './sponsored-messages.js'
import type { SponsoredDraft } from './sponsored-state.js'
import type { SubWalletState } from './state.js'
import type { Turn } from './turn.js'

type Of<T extends SponsoredCommand['type']> = Extract<SponsoredCommand, { type: T }>

/** Runs the call through the gates; a call that passes goes on to screening. */
export function admitSponsored(
  turn: Turn,
  command: PreparedSponsored,
  token: ReplyToken | null,
): void {
  const { state } = turn
  const { quote, nowMs, chainId, chainNonce, delegated, gasMicros } = command
  const asked: CallAtGates = {
    ...{ keyId: command.keyId, chainId, nowMs, idempotency: command.idempotency },
    ...{ first: command.first, quote, sponsoredGasMicros: gasMicros, screened: null },
    ...{ hasNonce: true, request: callOf(command), token, key: null, admitted: null },
    ...{ intent: intentOf(quote), priced: null, counted: undefined, asks: undefined },
    findDuplicate: () => duplicateOf(state, command),
    guardsDuplicates: command.guardsDuplicates,
    quoted:
      command.executes === undefined
        ? null
        : { name: command.executes, executed: command.executed },
  }
  if (command.isForgotten === true) {
    answerForgotten(turn, asked)
    return
  }
  if (!passesGates(turn, asked)) return
  const { admitted } = asked
  const { wallet } = state
  if (admitted === null || !quote.ok || wallet === null) return
  syncLane(turn, chainId, chainNonce)
  const { key, reservation } = admitted
  const [gasWalletId] = gasWalletsFor(chainId, state.subWalletId)
  if (gasWalletId === undefined) throw new Error(`chain ${chainId} has no gas wallet`)
  const { txId, requestId, keyId, kind, router, delegate, proofKey, idempotency } = command
  const draft: SponsoredDraft = {
    ...{ txId, requestId, keyId, lineageId: key.lineageId, chainId, kind },
    ...{ account: wallet.address, router, delegate, gasWalletId, reservation, gasMicros },
    terms: quote.terms,
    offered: quote.offered,
    parties: quote.parties,
    valuation: quote.valuation,
    ...{ proofKey, idempotency, fingerprint: command.fingerprint, createdAtMs: nowMs },
    ...(asked.counted === undefined ? {} : { counted: asked.counted }),
    ...(asked.asks === undefined ? {} : { asks: asked.asks }),
    ...(command.executes === undefined ? {} : { executes: command.executes }),
  }
  turn.emit({
    type: 'sponsored-reserved',
    draft,
    needsDelegation: mustDelegate(state, chainId, delegated),
    token,
  })
  turn.effect({ type: 'screen-sponsored', draft })
}

/**
 * Answers a call that names a forgotten quote. An earlier execution may be under way that the store
 * does not list yet. The call can move nothing, so a freeze refuses it without a record of a
 * refused call.
 */
function answerForgotten(turn: Turn, asked: CallAtGates): void {
  const { quote, token } = asked
  if (!passesKey(turn, asked)) return
  const stopped = turn.freezeFault(keyOf(asked).lineageId)
  if (stopped !== null) turn.refuse(token, stopped)
  else if (passesIdempotency(turn, asked) && !quote.ok) turn.refuse(token, quote.fault)
}

function intentOf(quote: PreparedSponsored['quote']): IntentTerms | null {
  return quote.ok && quote.terms.ok ? quote.terms.value : null
}

function duplicateOf(
  { sponsored, waiting }: SubWalletState,
  { chainId, fingerprint, nowMs }: PreparedSponsored,
): TxId | null {
  for (const entry of sponsored.values()) {
    const young = entry.createdAtMs > nowMs - DUPLICATE_WINDOW_MS
    if (young && entry.chainId === chainId && entry.fingerprint === fingerprint) return entry.txId
  }
  for (const { tx, approval } of waiting.byTx.values()) {
    const young = tx.createdAtMs > nowMs - DUPLICATE_WINDOW_MS
    const isSame = approval.sponsored?.fingerprint === fingerprint && tx.call.chainId === chainId
    if (young && isSame) return tx.txId
  }
  return null
}

/**
 * Step 3 of the lifecycle: the call passed screening, or it is refused for a listed address or for
 * a problem found while planning.
 */
export function sponsoredScreened(turn: Turn, command: Of<'sponsored-screened'>): void {
  const { txId, refusal, screenedAgainst } = command
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase !== 'screening' || entry.draft === null) return
  const { draft, token, chainId } = entry
  if (draft.approval !== undefined) {
    judgeSponsoredAgain(turn, draft, command)
    return
  }
  const terms = refusal === null ? draft.terms : ({ ok: false, fault: refusal } as const)
  if (!terms.ok) {
    turn.emit({ type: 'sponsored-released', txId })
    turn.refuseSend(token, terms.fault, callOf(draft), screenedAgainst)
    return
  }
  if (draft.asks !== undefined) {
    readyApproval(turn, draft, terms.value, screenedAgainst)
    return
  }
  turn.emit({ type: 'sponsored-waiting', txId, screenedAgainst })
  proceed(turn, chainId)
}

/** Step 4 of the lifecycle is done: the intent is stored before a gas wallet receives it. */
export function intentSigned(turn: Turn, { txId, signed, nowMs }: Of<'intent-signed'>): void {
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.draft === null) return
  const { draft } = entry
  const stopped = turn.freezeFault(draft.lineageId) ?? turn.endedFault(draft.keyId)
  if (stopped !== null) {
    // Only this process has seen the intent, and it forgets it here.
    turn.emit({ type: 'sponsored-released', txId })
    turn.refuseSend(entry.token, stopped, callOf(draft), entry.screenedAgainst)
    proceed(turn, entry.chainId)
    return
  }
  const {
    account,
    delegate: _,
    terms: _t,
    offered: _o,
    parties: _p,
    proofKey: _k,
    fingerprint: _f,
    asks: _a,
    approval,
    ...kept
  } = draft
  const { subWalletId } = turn.state
  const waited = approval === undefined ? null : waitedOf(turn, txId)
  const sponsorship: Sponsorship = {
    ...{ ...kept, ...signed, subWalletId, stage: 'handed' },
    ...(waited === null ? {} : { waited }),
  }
  const tx = waited === null ? null : recordBeforeGas(turn.state, sponsorship, 'signed', nowMs)
  turn.emit({ type: 'sponsored-handed', sponsorship, tx, atMs: nowMs })
  if (tx !== null) turn.touchWaiting(nowMs)
  turn.effect({ type: 'submit-job', sponsorship, account })
  const { chainId, deadlineSeconds } = sponsorship
  turn.effect({ type: 'await-deadline', stage: 'handed', txId, chainId, deadlineSeconds })
  proceed(turn, chainId)
}

export function intentFailed(turn: Turn, command: Of<'intent-failed'>): void {
  const { txId, chainNonce } = command
  const entry = turn.state.sponsored.get(txId)
  if (entry === undefined || entry.phase !== 'signing' || entry.draft === null) return
  const { draft, token, chainId, screenedAgainst } = entry
  turn.emit({ type: 'sponsored-released', txId })
  turn.refuseSend(token, command.fault, callOf(draft), screenedAgainst)
  const lane = laneOf(turn.state, chainId)
  if (chainNonce !== null && (lane.nextNonce ?? 0) < chainNonce) {
    const { window, nextNonce: before } = lane
    turn.emit({ type: 'lane-synced', chainId, before, nextNonce: chainNonce, window })
  }
  proceed(turn, chainId)
}

/** Resumes after a restart: asks the gas wallets again for every call under way. */
export function resumeSponsored(turn: Turn): void {
  const account = turn.state.wallet?.address
  if (account === undefined) return
  for (const { txId, chainId, phase, sponsorship } of turn.state.sponsored.values()) {
    if (sponsorship === null) continue
    const { deadlineSeconds } = sponsorship
    if (phase !== 'held') turn.effect({ type: 'submit-job', sponsorship, account })
    if (phase === 'held' || phase === 'handed') {
      turn.effect({ type: 'await-deadline', stage: phase, txId, chainId, deadlineSeconds })
    }
  }
}
