import { chainOfGasWallet, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasWalletId, TxId, UserId } from '../../src/domain/ids.js'
import type { GasWallet } from '../../src/domain/sponsorship.js'
import type { SubWallet } from '../../src/domain/wallet.js'
import type { Reader } from '../../src/store/reader.js'
import type { Transactor } from '../../src/store/transactor.js'
import type { GrantEvent } from '../sub-wallet/core/grant-messages.js'
import type { Event as SubWalletEvent } from '../sub-wallet/core/messages.js'
import type { SponsoredEvent } from '../sub-wallet/core/sponsored-messages.js'
import { emptyState, laneOf, restoredEntry } from '../sub-wallet/core/state.js'
import { SERVICE_PROOF } from './core/decide.js'
import type { GasWalletEvent } from './core/messages.js'
import type { GasWalletState } from './core/state.js'

/** Rebuilds a gas wallet from the store: its address, its nonce, its open transactions. */
export function loadGasWallet(reader: Reader, id: string): GasWalletState {
  reader.refresh()
  const gasWalletId = id as GasWalletId
  const chainId = chainOfGasWallet(gasWalletId)
  const account = emptyState(gasWalletKey(gasWalletId))
  const state: GasWalletState = {
    gasWalletId,
    chainId,
    account,
    jobs: new Map(),
    faults: new Map(),
    openers: [],
  }
  const stored = reader.gasWallet(gasWalletId)
  if (stored === undefined) return state
  account.wallet = serviceWallet(stored)
  const lane = laneOf(account, chainId)
  lane.nextNonce = stored.nextNonce
  lane.ownFrom = stored.ownFrom ?? stored.nextNonce ?? 0
  const open = [...reader.openGasTransactions(gasWalletId)]
  open.sort((a, b) => a.tx.nonce - b.tx.nonce)
  for (const { tx, job } of open) {
    // Whether a node still has it is not known: the same bytes go out again at the next block.
    const entry = restoredEntry(tx, tx.mined === null ? 'unsure' : 'sent')
    entry.proofKey = SERVICE_PROOF
    account.open.set(tx.txId, entry)
    if (tx.mined === null) lane.flight.push(tx.txId)
    if (job !== null) state.jobs.set(tx.txId, job)
  }
  return state
}

/**
 * Writes what durable events changed; volatile ones write nothing. Each type of event has its case:
 * one without does not compile.
 */
export function recordGasWallet(
  transactor: Transactor,
  state: GasWalletState,
  events: readonly GasWalletEvent[],
): void {
  let header = false
  const changed = new Set<TxId>()
  for (const event of events) {
    switch (event.type) {
      case 'gas-wallet-opened':
        header = true
        break
      case 'transaction-signed':
      case 'transaction-reopened':
        header = true
        changed.add(event.tx.txId)
        break
      case 'transaction-renonced':
      case 'transaction-ended':
        header = true
        changed.add(event.txId)
        break
      case 'transaction-broadcast':
      case 'transaction-mined':
      case 'transaction-unmined':
      case 'transaction-replaced':
        changed.add(event.txId)
        break
      case 'lane-synced':
        // One that was read for the first time is read again by the next start.
        if (event.before !== null && event.before !== event.nextNonce) header = true
        break
      case 'gaps-found':
        // Those at the end of the lane are handed out again.
        header = true
        break
      case 'job-taken':
      case 'reserved':
      case 'released':
      case 'queued':
      case 'lined-up':
      case 'nonce-assigned':
      case 'signature-held':
      case 'signature-failed':
      case 'lane-resequenced':
      case 'sending':
      case 'unsure':
      case 'doubted':
      case 'loss-doubted':
      case 'underpriced':
      case 'sent-again':
      case 'ages-from':
      case 'nonce-lost':
      case 'final-block':
      case 'answered':
      case 'replacing':
        break
      default:
        refuseForeign(event)
    }
  }
  const { gasWalletId, account, jobs } = state
  for (const txId of changed) {
    const tx = account.open.get(txId)?.tx ?? account.ended.get(txId)
    if (tx === undefined) throw new Error(`${txId} changed and is nowhere`)
    transactor.putGasTransaction({ gasWalletId, tx, job: jobs.get(txId) ?? null })
  }
  for (const txId of account.ended.keys()) jobs.delete(txId)
  account.ended.clear()
  if (header) putHeader(transactor, state)
}

/** What a lane of its own never comes to: it has no keys, caps, allowances or sponsors. */
type ForeignEvent =
  | SponsoredEvent
  | GrantEvent
  | Extract<
      SubWalletEvent,
      {
        type:
          | 'wallet-created'
          | 'key-put'
          | 'limit-reached'
          | 'allowances-recorded'
          | 'credits-changed'
          | 'idempotency-forgotten'
          | 'lineages-forgotten'
      }
    >

function refuseForeign({ type }: ForeignEvent): never {
  throw new Error(`a gas wallet does not record ${type}`)
}

function putHeader(transactor: Transactor, { gasWalletId, chainId, account }: GasWalletState) {
  const { wallet } = account
  if (wallet === null) throw new Error(`${gasWalletId} has no key to store`)
  const { subWalletId: walletId, address, epoch } = wallet
  const { nextNonce, ownFrom } = laneOf(account, chainId)
  transactor.putGasWallet({ gasWalletId, chainId, walletId, address, epoch, nextNonce, ownFrom })
}

/** The account as the lane's code knows it; its owner is the service. */
export function serviceWallet({
  walletId,
  address,
  epoch,
}: Pick<GasWallet, 'walletId' | 'address' | 'epoch'>): SubWallet {
  return {
    subWalletId: walletId,
    userId: '' as UserId,
    name: 'gas wallet',
    address,
    epoch,
    createdAtMs: 0,
  }
}
