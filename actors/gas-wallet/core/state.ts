import type { Freezing } from '../../../src/domain/freeze.js'
import type { GasWalletId, LineageId, TxId } from '../../../src/domain/ids.js'
import type { GasJob, GasWallet } from '../../../src/domain/sponsorship.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { AccountState } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * A gas wallet's state. Durable: its address, its next nonce, and every transaction with signed
 * bytes. Volatile: jobs that are not signed yet; whoever asked for one asks again after a restart.
 */
export interface GasWalletState {
  readonly gasWalletId: GasWalletId
  readonly chainId: number
  readonly account: GasAccountState
  /** What its drafts and open transactions are for. */
  readonly jobs: Map<TxId, GasJob>
  /** Why a draft could not be signed, until the lane gives it up. */
  readonly faults: Map<TxId, Fault>
  /** What is frozen of a job's now, as its shell knows it; null: nothing. Not its own. */
  freezingOf: (job: GasJob & { readonly lineageId: LineageId }) => Freezing | null
  /** Callers that wait for the key. */
  readonly openers: ReplyToken[]
}

export interface GasAccountState extends AccountState {
  wallet: ServiceWallet | null
}

/** An account whose owner is the service. */
export type ServiceWallet = Pick<GasWallet, 'walletId' | 'address' | 'epoch'>

/** Jobs of one gas wallet at a time; beyond it OVERLOADED. A window of 16 takes minutes for more. */
export const JOBS_MAX = 2_000
