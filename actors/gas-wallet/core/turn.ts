import type { Hex, TxId } from '../../../src/domain/ids.js'
import type { Authorization } from '../../../src/domain/sponsorship.js'
import type { AccountTransaction, MinedIn } from '../../../src/domain/transaction.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { AccountCommand, Ending, ReplacePurpose } from '../../account/core/messages.js'
import type { AccountDraft, DraftEntry, OpenEntry } from '../../account/core/state.js'
import type { AccountTurn } from '../../account/core/turn.js'
import { evolve } from './evolve.js'
import { feeCapOf, JAMMED_AFTER_MS, wantedWei } from './held-gas.js'
import type { GasWalletEffect, GasWalletEvent } from './messages.js'
import type { GasAccountState, GasWalletState, ServiceWallet } from './state.js'
import { whyStopped } from './stopped.js'

/**
 * Collects the events and effects of one command. A gas wallet has no keys, caps or callers that
 * wait for a transaction: sub-wallets get updates of their jobs (`decide.ts`).
 */
export class GasTurn implements AccountTurn {
  readonly events: GasWalletEvent[] = []
  readonly effects: GasWalletEffect[] = []
  /**
   * The wei that jobs with a fee too low would cost at a sufficient one, when that exceeds their
   * hold.
   */
  readonly wanted = new Map<TxId, bigint>()
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

  /** Runs before a job gets a nonce; transactions that the gas wallet has signed continue. */
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

  askToReplace(tx: AccountTransaction, wanted: ReplacePurpose, nowMs: number): void {
    const { walletId } = this.#key()
    const authorization = this.#authorizationOf(tx)
    const gas = this.#wallet.jobs.get(tx.txId)?.gas
    let purpose = wanted
    let feeCapWei: bigint | null = null
    if (purpose === 'bump' && gas !== undefined) {
      feeCapWei = feeCapOf(tx, gas)
      const neededWei = wantedWei(tx, gas, feeCapWei)
      if (neededWei !== null) {
        // No budget pays for a higher fee, and every transaction signed after it waits.
        if (nowMs - tx.createdAtMs > JAMMED_AFTER_MS) purpose = 'cancel'
        else this.wanted.set(tx.txId, neededWei)
      }
    }
    if (purpose === 'cancel') feeCapWei = null
    this.effect({ type: 'replace-job', walletId, tx, purpose, feeCapWei, authorization })
  }

  /**
   * A cancellation costs a fraction of its call; without it the nonces above would wait for ever.
   */
  mayReplace(
    tx: AccountTransaction,
    { purpose, fees }: Extract<AccountCommand, { type: 'replacement-signed' }>,
  ): boolean {
    const gas = this.#wallet.jobs.get(tx.txId)?.gas
    const capWei = gas === undefined || purpose === 'cancel' ? null : feeCapOf(tx, gas)
    return capWei === null || fees.maxFeePerGas <= capWei
  }

  /** The service's own grant covers the new draft as it covered the first. */
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
