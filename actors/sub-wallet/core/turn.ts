import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import { freezeOf } from '../../../src/domain/freeze.js'
import type { KeyId, LineageId, TxId } from '../../../src/domain/ids.js'
import type { MinedIn, Transaction } from '../../../src/domain/transaction.js'
import { type Fault, fault, naming } from '../../../src/errors/fault.js'
import { frozenFault } from '../../../src/errors/frozen.js'
import type { AccountCommand, Ending, ReplacePurpose } from '../../account/core/messages.js'
import type { AccountDraft, DraftEntry, NonceLane, OpenEntry } from '../../account/core/state.js'
import type { AccountTurn } from '../../account/core/turn.js'
import type { Decision, Reply, ReplyToken } from '../../runtime/actor.js'
import { allowancesOf } from './allowance-ledger.js'
import { newPayeesOf, noteRefused, noteSigned } from './breaker-watch.js'
import { undoCredits, useCredits } from './credits.js'
import { evolve } from './evolve.js'
import { answerJoined, refuseJoined } from './joined-callers.js'
import { callsAheadOf, keptFor } from './kept-nonces.js'
import { hasKeyEnded } from './key-tree.js'
import { limitsCrossed } from './limit-crossings.js'
import type { Command, Effect, Event, RefusedCall } from './messages.js'
import { ceilingsFor, feeCapOf, reservationFor, selfSendOf } from './replacement-spend.js'
import type { SubWalletReplies } from './replies.js'
import { Sent } from './sent.js'
import type { Draft, SubWalletState } from './state.js'
import { recordOf, spentBy } from './transaction-record.js'
import { isValuedAfter, mayFill } from './unmined-calls.js'

const NO_REPLIES: readonly Reply[] = []

/**
 * Collects the events and effects of one command, folding each event as it is emitted, and connects
 * a sub-wallet's spend with its account.
 */
export class Turn implements AccountTurn {
  readonly state: SubWalletState
  readonly events: Event[] = []
  readonly effects: Effect[] = []
  readonly replies: Reply[] = []
  readonly #command: Command
  #promptReplies: Reply[] | null = null
  #waitingAtMs: number | null = null
  #refusedRuns: Map<TxId, Fault> | null = null
  #movedLines: Set<NonceLane> | null = null

  constructor(state: SubWalletState, command: Command) {
    this.state = state
    this.#command = command
  }

  emit(event: Event): void {
    if (event.type === 'released') this.#leaves(event.txId)
    evolve(this.state, event)
    this.events.push(event)
  }

  effect(effect: Effect): void {
    this.effects.push(effect)
  }

  answer(token: ReplyToken | null, value: SubWalletReplies[keyof SubWalletReplies]): void {
    if (token !== null) this.replies.push({ token, result: { ok: true, value } })
    if (value instanceof Sent && this.state.joined.size > 0) answerJoined(this, value)
  }

  answerSent(token: ReplyToken | null, tx: Transaction, queuedBehind: TxId | null): void {
    if (token !== null) this.answer(token, new Sent(tx, false, queuedBehind))
  }

  answerPromptly(token: ReplyToken, tx: Transaction): void {
    this.#promptReplies ??= []
    this.#promptReplies.push({ token, result: { ok: true, value: new Sent(tx, false) } })
  }

  refuse(token: ReplyToken | null, fault: Fault): void {
    if (token !== null) this.replies.push({ token, result: { ok: false, fault } })
  }

  /** Refuses a call that moves value, and records the refusal. */
  refuseSend(
    token: ReplyToken | null,
    why: Fault,
    call: RefusedCall,
    screenedAgainst: readonly ScreenedAgainst[] = [],
  ): void {
    const { wallet } = this.state
    if (wallet !== null) {
      const { userId, address: from } = wallet
      this.effect({ type: 'refused', userId, from, call, fault: why, screenedAgainst })
      const command = this.#command
      if ('nowMs' in command) noteRefused(this, why, call, command.nowMs)
    }
    this.noteRefused(call.txId, why)
    this.refuse(token, why)
    if (this.state.joined.size > 0) refuseJoined(this, call.txId, call.keyId, why)
  }

  /** Notes the refusal of a waiting call; its consequences are decided at the end of the turn. */
  noteRefused(txId: TxId, fault: Fault): void {
    const { byTx } = this.state.waiting
    if (byTx.size === 0 || !byTx.has(txId)) return
    this.#refusedRuns ??= new Map()
    this.#refusedRuns.set(txId, fault)
  }

  /** Marks that the command concerns waiting calls; they are advanced at the end of the turn. */
  touchWaiting(nowMs: number): void {
    this.#waitingAtMs = nowMs
  }

  /** When the command touched waiting calls; null when it did not. */
  get waitingAtMs(): number | null {
    return this.#waitingAtMs
  }

  /** Calls that waited and were judged again in this command, with the reasons of their refusal. */
  takeRefusedRuns(): ReadonlyMap<TxId, Fault> | null {
    const taken = this.#refusedRuns
    this.#refusedRuns = null
    return taken
  }

  get hasRefusedRuns(): boolean {
    return this.#refusedRuns !== null
  }

  /** Refuses a call. A signed call has a record, which is dropped by now: the refusal names it. */
  refuseCall(
    token: ReplyToken | null,
    fault: Fault,
    call: Draft | Transaction,
    screenedAgainst: readonly ScreenedAgainst[] = [],
  ): void {
    // The identity provider only knows that something is frozen; this domain may know what.
    const why = (fault.code === 'FROZEN' ? this.whatStops(call) : null) ?? fault
    this.refuseSend(token, 'status' in call ? naming(why, call.txId) : why, call, screenedAgainst)
  }

  /** The lane's next nonce is taken by an authorization. */
  isNextNonceTaken(chainId: number): boolean {
    return this.state.delegations.has(chainId)
  }

  signsAlone({ approval }: Draft): boolean {
    return approval !== undefined
  }

  keptFor(chainId: number, nonce: number): TxId | null {
    return keptFor(this.state, chainId, nonce)
  }

  /**
   * A call that waited is signed only at a lane's next nonce, where the nonce can be kept for it.
   */
  mayFill(draft: Draft, gap: number): boolean {
    return draft.approval === undefined && mayFill(this.state, draft, gap)
  }

  /**
   * Checks a call about to be signed: a freeze or a revocation since its decision stops it. Calls
   * that the lane makes by itself, and replacements, do not depend on a live key.
   */
  whatStops(call: Draft | Transaction): Fault | null {
    const frozen = this.freezeFault(call.lineageId)
    if (frozen !== null || !('proofKey' in call) || call.proofKey === null) return frozen
    return this.endedFault(call.keyId)
  }

  /** Refuses a call of a key that has ended since. */
  endedFault(keyId: KeyId): Fault | null {
    const command = this.#command
    const nowMs = 'nowMs' in command ? command.nowMs : Number.NEGATIVE_INFINITY
    return hasKeyEnded(this.state, keyId, nowMs) ? fault('INVALID_KEY') : null
  }

  /** A frozen key freezes the keys that it made. */
  freezeFault(lineageId: LineageId): Fault | null {
    const { freezes, subWalletId } = this.state
    if (freezes === null) return null
    const { parents } = this.state
    for (let at: LineageId | undefined = lineageId; at !== undefined; at = parents.get(at)) {
      const frozen = freezeOf(freezes, { subWalletId, lineageId: at })
      if (frozen !== null) return frozenFault(frozen)
    }
    return null
  }

  /**
   * Returns the draft to the queue when other calls than it was valued after will be mined before
   * it.
   */
  takesBack(draft: Draft, lane: NonceLane): boolean {
    if (isValuedAfter(this.state, lane, draft)) return false
    this.emit({ type: 'lined-up', txId: draft.txId, first: false })
    if (lane.line[0] === draft.txId) this.lineMoved(lane)
    return true
  }

  /** However a draft ends, the drafts behind it in the queue no longer wait for it. */
  #leaves(txId: TxId): void {
    const chainId = this.state.drafts.get(txId)?.draft.call.chainId
    const lane = chainId === undefined ? undefined : this.state.lanes.get(chainId)
    if (lane !== undefined && lane.line[0] === txId) this.lineMoved(lane)
  }

  /** Marks a queue whose first draft may have changed. */
  lineMoved(lane: NonceLane): void {
    this.#movedLines ??= new Set()
    this.#movedLines.add(lane)
  }

  /**
   * Values the first draft of each changed queue again. Call it last, because the rest of the
   * command decides what each first draft is valued after.
   */
  revalueMovedLines(): void {
    if (this.#movedLines === null) return
    for (const lane of this.#movedLines) this.#revalueFirst(lane)
  }

  #revalueFirst({ line }: NonceLane): void {
    const { drafts, wallet } = this.state
    const [txId] = line
    const draft = txId === undefined ? undefined : drafts.get(txId)?.draft
    if (draft === undefined || wallet === null) return
    const unmined = callsAheadOf(this.state, draft)
    this.effect({ type: 'screen', userId: wallet.userId, draft, unmined, revalues: true })
  }

  askToSign(draft: Draft, nonce: number, replaces: DraftEntry['replaces']): void {
    if (draft.approval !== undefined) this.#bind(draft.txId, nonce)
    this.effect({ type: 'sign', draft, nonce, replaces })
  }

  #bind(txId: TxId, boundNonce: number): void {
    const approval = this.state.waiting.byTx.get(txId)?.approval
    if (approval === undefined || approval.boundNonce === boundNonce) return
    this.emit({ type: 'approval-bound', approval: { ...approval, boundNonce } })
  }

  onSigned(entry: DraftEntry<Draft>, nowMs: number): Transaction {
    const { draft, screenedAgainst } = entry
    const tx = recordOf(this.state, entry, nowMs)
    const { idempotency, basis } = draft
    const newPayees = newPayeesOf(this.state, tx)
    this.emit({ type: 'transaction-signed', tx, idempotency, screenedAgainst, basis })
    noteSigned(this, tx, newPayees)
    useCredits(this, tx)
    if (draft.approval !== undefined) this.touchWaiting(nowMs)
    const approved = allowancesOf(this.state, draft)
    if (approved !== null) this.emit(approved)
    for (const event of limitsCrossed(this.state, tx.keyId, nowMs)) this.emit(event)
    return tx
  }

  askToReplace(tx: Transaction, purpose: ReplacePurpose, nowMs: number): void {
    const feeCapWei = purpose === 'cancel' ? null : feeCapOf(this.state, tx, nowMs)
    this.effect({ type: 'replace', tx, purpose, feeCapWei })
  }

  mayReplace(
    tx: Transaction,
    command: Extract<AccountCommand, { type: 'replacement-signed' }>,
  ): boolean {
    const reservation = reservationFor(this.state, tx, command)
    const extraWei = ceilingsFor(this.state, tx, command)
    if (reservation === null || extraWei === null) return false
    if (reservation !== tx.reservation || extraWei > 0n) {
      const { nowMs: atMs } = command
      this.emit({ type: 'reservation-raised', txId: tx.txId, reservation, extraWei, atMs })
    }
    return true
  }

  /** Drafts the call again, which needs the proof of the key that made it. */
  draftAgain({ tx, token }: OpenEntry<Transaction>): Draft | null {
    const proofKey = this.state.requests.get(tx.txId)?.proofKey ?? null
    const newest = tx.attempts.at(-1)
    if (proofKey === null || newest === undefined) return null
    const { maxFeePerGas, maxPriorityFeePerGas } = newest
    const { approval: _, ...call } = tx
    return {
      ...call,
      maxFeePerGas,
      maxPriorityFeePerGas,
      problem: null,
      basis: null,
      proofKey,
      idempotency: null,
      token,
      signs: 'lost-nonce',
    }
  }

  /** The gas counts against the lineage whose transactions wait. */
  reserveSelfSend(draft: AccountDraft, above: Transaction, nowMs: number): void {
    this.emit({ type: 'reserved', draft: selfSendOf(this.state, draft, above, nowMs) })
  }

  end(tx: Transaction, mined: MinedIn | null, ending: Ending): void {
    const { txId } = tx
    if (ending.status !== 'confirmed') undoCredits(this, tx)
    const spentMicros = mined === null ? 0n : spentBy(tx, mined)
    this.emit({ type: 'transaction-ended', txId, ...ending, spentMicros })
  }

  decision(): Decision<Event, Effect> {
    const { events, effects, replies } = this
    const promptReplies = this.#promptReplies ?? NO_REPLIES
    return { events, effects, replies, promptReplies }
  }
}
