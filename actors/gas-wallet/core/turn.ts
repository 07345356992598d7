import type { Hex } from '../../../src/domain/ids.js'
import type { Authorization } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction, MinedIn } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { Ending, ReplacePurpose } from '../../account/core/messages.js'
import type { AccountDraft, DraftEntry, OpenEntry } from '../../account/core/state.js'
import type { AccountTurn } from '../../account/core/turn.js'
import { evolve } from './evolve.js'
import type { GasWalletEffect, GasWalletEvent } from './messages.js'
import type { GasAccountState, GasWalletState, ServiceWallet } from './state.js'
import { whyStopped } from './stopped.js'

/**
 * Collects what one command leads to. A gas wallet has no keys, caps or callers that wait for a
 * transaction: sub-wallets get updates of their jobs (`decide.ts`).
 */
export class GasTurn implements AccountTurn {
  readonly events: GasWalletEvent[] = []
  readonly effects: GasWalletEffect[] = []
  readonly #wallet: GasWalletState

  constructor(wallet: GasWalletState) {
    this.#wallet = wallet
  }

  get state(): GasAccountState {
    return this.#wallet.account
  }

  emit(event: GasWalletEvent): void {
    evolve(this.#wallet, event)
    this.events.push(event)
  }

  effect(effect: GasWalletEffect): void {
    this.effects.push(effect)
  }

  isNextNonceTaken(): boolean {
    return false
  }

  keptFor(): null {
    return null
  }

  signsAlone(): boolean {
    return false
  }

  mayFill(): boolean {
    return true
  }

  takesBack(): boolean {
    return false
  }

  /** Asked before a job gets a nonce; what the gas wallet has signed goes its way. */
  whatStops({ txId }: Pick<AccountDraft, 'txId'>): Fault | null {
    const job = this.#wallet.jobs.get(txId)
    if (job === undefined || this.#wallet.account.open.has(txId)) return null
    return whyStopped(this.#wallet, job)
  }

  askToSign(draft: AccountDraft, nonce: number, replaces: Hex | null): void {
    const { walletId } = this.#key()
    const authorization = this.#authorizationOf(draft)
    this.effect({ type: 'sign-job', walletId, draft, nonce, replaces, authorization })
  }

  onSigned({ draft, nonce, signed }: DraftEntry, nowMs: number): AccountTransaction {
    if (signed === null) throw new Error(`${draft.txId} was stored unsigned`)
    const { txId, call, gasLimit, createdAtMs } = draft
    const { maxFeePerGas, maxPriorityFeePerGas } = draft
    const tx: AccountTransaction = {
      ...{ txId, from: this.#key().address, call, nonce, gasLimit },
      status: 'signed',
      attempts: [{ ...signed, maxFeePerGas, maxPriorityFeePerGas }],
      ...{ mined: null, error: null, createdAtMs, updatedAtMs: nowMs, confirmedAtMs: null },
    }
    this.emit({ type: 'transaction-signed', tx })
    return tx
  }

  askToReplace(tx: AccountTransaction, purpose: ReplacePurpose): void {
    const { walletId } = this.#key()
    const authorization = this.#authorizationOf(tx)
    this.effect({ type: 'replace-job', walletId, tx, purpose, authorization })
  }

  mayReplace(): boolean {
    return true
  }

  /** The service's own grant covers it as it did the first time. */
  draftAgain({ tx, token }: OpenEntry): AccountDraft | null {
    const newest = tx.attempts.at(-1)
    if (newest === undefined) return null
    const { txId, call, gasLimit, createdAtMs } = tx
    const { maxFeePerGas, maxPriorityFeePerGas } = newest
    return {
      ...{ txId, requestId: txId, call, gasLimit, createdAtMs, token },
      ...{ maxFeePerGas, maxPriorityFeePerGas, signs: 'lost-nonce' },
    }
  }

  reserveSelfSend(draft: AccountDraft): void {
    this.emit({ type: 'reserved', draft })
  }

  end({ txId }: AccountTransaction, _mined: MinedIn | null, ending: Ending): void {
    this.emit({ type: 'transaction-ended', txId, ...ending })
  }

  answerSent(): void {}

  answerPromptly(): void {}

  refuseCall(): void {}

  #key(): ServiceWallet {
    const { account, gasWalletId } = this.#wallet
    if (account.wallet === null) throw new Error(`${gasWalletId} signs without a key`)
    return account.wallet
  }

  #authorizationOf({ txId }: Pick<AccountDraft, 'txId'>): Authorization | null {
    return this.#wallet.jobs.get(txId)?.authorization ?? null
  }
}
