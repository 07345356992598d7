import type { ScreenedAgainst } from '../../../src/domain/audit.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { AccountTransaction, MinedIn } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { ReplyToken } from '../../runtime/actor.js'
import type {
  AccountCommand,
  AccountEffect,
  AccountEvent,
  Ending,
  ReplacePurpose,
} from './messages.js'
import type { AccountDraft, AccountState, DraftEntry, NonceLane, OpenEntry } from './state.js'

/**
 * One command as the account sees it: it collects events and effects and asks the owner for
 * decisions. The drafts and transactions that it hands over have the owner's types.
 */
export interface AccountTurn extends AccountOwner {
  readonly state: AccountState
  /** Folds the event at once. */
  emit(event: AccountEvent): void
  effect(effect: AccountEffect): void
}

interface AccountOwner {
  /** True while the chain's next nonce is reserved and not for drafts. */
  isNextNonceTaken(chainId: number): boolean
  /**
   * True for a draft that can be signed only at one nonce: it gets none while drafts below it are
   * being signed, because it would move down with them.
   */
  signsAlone(draft: AccountDraft): boolean
  /** The draft, or the future draft, that this nonce is kept for; null when it is kept for none. */
  keptFor(chainId: number, nonce: number): TxId | null
  /** Whether a draft may have a nonce below others. */
  mayFill(draft: AccountDraft, gap: number): boolean
  /**
   * Runs before a draft gets its nonce: true when it must not have the nonce now and was taken out
   * of the queue instead.
   */
  takesBack(draft: AccountDraft, lane: NonceLane): boolean
  /**
   * Why nothing new is signed for such a call and its draft is given up; null when nothing stops
   * it.
   */
  whatStops(call: AccountDraft | AccountTransaction): Fault | null
  askToSign(draft: AccountDraft, nonce: number, replaces: DraftEntry['replaces']): void
  /** Makes the record of a signed draft, and emits it. */
  onSigned(entry: DraftEntry, nowMs: number): AccountTransaction
  askToReplace(tx: AccountTransaction, purpose: ReplacePurpose, nowMs: number): void
  /** Whether the caps allow what it costs now. */
  mayReplace(
    tx: AccountTransaction,
    command: Extract<AccountCommand, { type: 'replacement-signed' }>,
  ): boolean
  /**
   * The new draft of a stored transaction that lost its nonce; null when it may not be signed
   * again.
   */
  draftAgain(entry: OpenEntry): AccountDraft | null
  /** Drafts an empty self-send to close a gap that `above` waits for. */
  reserveSelfSend(draft: AccountDraft, above: AccountTransaction, nowMs: number): void
  /** Emits the end of a transaction. `mined` is null when the chain never took it. */
  end(tx: AccountTransaction, mined: MinedIn | null, ending: Ending): void
  /** Answers the caller that waits, if there is one. */
  answerSent(token: ReplyToken | null, tx: AccountTransaction, queuedBehind: TxId | null): void
  /**
   * Answers with what is already true by the stored state, whatever becomes of this command's
   * events.
   */
  answerPromptly(token: ReplyToken, tx: AccountTransaction): void
  refuseCall(
    token: ReplyToken | null,
    fault: Fault,
    call: AccountDraft | AccountTransaction,
    screenedAgainst?: readonly ScreenedAgainst[],
  ): void
}

export function queuedDraft({ drafts }: AccountState, txId: TxId): AccountDraft {
  const draft = drafts.get(txId)?.draft
  if (draft === undefined) throw new Error(`${txId} is queued but is not a draft`)
  return draft
}
