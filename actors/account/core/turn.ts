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
 * One command of an account's owner as the account sees it: where its events and effects go, and
 * what it asks its owner about. Drafts and transactions that it hands over are the owner's own.
 */
export interface AccountTurn extends AccountOwner {
  readonly state: AccountState
  /** Folds it at once. */
  emit(event: AccountEvent): void
  effect(effect: AccountEffect): void
}

interface AccountOwner {
  /** True while the chain's next nonce is not for drafts. */
  isNextNonceTaken(chainId: number): boolean
  /**
   * True of a draft that can be signed at one nonce alone: it gets none while those below it are
   * being signed, since it would move down with them.
   */
  signsAlone(draft: AccountDraft): boolean
  /** The draft, or the draft to come, that is to have this nonce and no other; null: none is. */
  keptFor(chainId: number, nonce: number): TxId | null
  /** Whether a draft may have a nonce below others. */
  mayFill(draft: AccountDraft, gap: number): boolean
  /**
   * Before a draft gets its nonce: true where it must not have it now and was taken out of the
   * queue instead.
   */
  takesBack(draft: AccountDraft, lane: NonceLane): boolean
  /** Why nothing new is signed for such a call, and a draft of it is given up; null: nothing. */
  whatStops(call: AccountDraft | AccountTransaction): Fault | null
  askToSign(draft: AccountDraft, nonce: number, replaces: DraftEntry['replaces']): void
  /** Makes the record of a draft that is signed, and emits it. */
  onSigned(entry: DraftEntry, nowMs: number): AccountTransaction
  askToReplace(tx: AccountTransaction, purpose: ReplacePurpose, nowMs: number): void
  /** Whether it may cost what it costs now. */
  mayReplace(
    tx: AccountTransaction,
    command: Extract<AccountCommand, { type: 'replacement-signed' }>,
  ): boolean
  /** Of a stored transaction that lost its nonce; null where nothing allows to sign it again. */
  draftAgain(entry: OpenEntry): AccountDraft | null
  /** Nothing is sent to the account itself, to close a gap that `above` waits for. */
  reserveSelfSend(draft: AccountDraft, above: AccountTransaction, nowMs: number): void
  /** Emits the end of a transaction. `mined` is null where the chain never took it. */
  end(tx: AccountTransaction, mined: MinedIn | null, ending: Ending): void
  /** To the caller that waits, if one does. */
  answerSent(token: ReplyToken | null, tx: AccountTransaction, queuedBehind: TxId | null): void
  /** The same, of what is true by what is stored already, whatever becomes of this command's events. */
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
  if (draft === undefined) throw new Error(`${txId} is queued but is no draft`)
  return draft
}
