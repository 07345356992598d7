import { evolveAccount, foldEnded, foldReopened, foldSigned } from '../../account/core/evolve.js'
import { foldDraft } from '../../account/core/evolve-drafts.js'
import { openOf } from '../../account/core/state.js'
import type { GasWalletEvent } from './messages.js'
import type { GasWalletState } from './state.js'

/** Folds an event into the state, in place. */
export function evolve(state: GasWalletState, event: GasWalletEvent): void {
  const { account } = state
  switch (event.type) {
    case 'gas-wallet-opened':
      account.wallet = event.wallet
      return
    case 'job-taken':
    case 'job-raised':
      state.jobs.set(event.job.txId, event.job)
      return
    case 'reserved':
      foldDraft(account, event.draft, 'screening')
      return
    case 'transaction-signed':
      foldSigned(account, event.tx)
      return
    case 'transaction-reopened':
      foldReopened(account, event.tx, event.atMs)
      return
    case 'transaction-ended': {
      const { txId, status, error, atMs, nonceFreed } = event
      const { tx } = openOf(account, txId)
      const confirmedAtMs = status === 'confirmed' ? atMs : null
      foldEnded(account, { ...tx, status, error, updatedAtMs: atMs, confirmedAtMs }, nonceFreed)
      return
    }
    case 'signature-failed':
      state.faults.set(event.txId, event.fault)
      evolveAccount(account, event)
      return
    default:
      evolveAccount(account, event)
  }
}
