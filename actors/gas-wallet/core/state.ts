import type { Freezing } from '../../../src/domain/freeze.js'
import type { GasWalletId, LineageId, TxId } from '../../../src/domain/ids.js'
import type { GasJob, GasWallet } from '../../../src/domain/sponsorship.js'
import type { Fault } from '../../../src/errors/fault.js'
import type { AccountState } from '../../account/core/state.js'
import type { ReplyToken } from '../../runtime/actor.js'

/**
 * The state of a gas wallet. Durable are its address, its next nonce and every transaction with
 * signed bytes. Volatile are jobs that are not signed yet; their sub-wallets send them again after
 * a restart.
 */
export interface GasWalletState {
  readonly gasWalletId: GasWalletId
  readonly chainId: number
  readonly account: GasAccountState
  /** The jobs of its drafts and open transactions. */
  readonly jobs: Map<TxId, GasJob>
  /** Why a draft could not be signed, kept until the lane gives the draft up. */
  readonly faults: Map<TxId, Fault>
  /** Returns the present freeze that concerns a job, or null. The shell provides it. */
  freezingOf: (job: GasJob & { readonly lineageId: LineageId }) => Freezing | null
  /** Callers that wait for the key. */
  readonly openers: ReplyToken[]
}

export interface GasAccountState extends AccountState {
  wallet: ServiceWallet | null
}

/** An account that the service owns. */
export type ServiceWallet = Pick<GasWallet, 'walletId' | 'address' | 'epoch'>

/**
 * The most jobs of one gas wallet at a time; beyond this the answer is OVERLOADED. With a window of
 * 16, more would take minutes.
 */
export const JOBS_MAX = 2_000
