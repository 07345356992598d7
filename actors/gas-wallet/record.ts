import { chainOfGasWallet, gasWalletKey } from '../../src/domain/gas-wallets.js'
import type { GasWalletId, TxId } from '../../src/domain/ids.js'
import type { Reader } from '../../src/store/reader.js'
import type { Writer } from '../../src/store/writer.js'
import { withoutDrafts } from '../account/core/lane-nonces.js'
import { laneOf, restoredEntry } from '../account/core/state.js'
import { changedTransaction, changesLane } from '../account/core/written.js'
import type { GasWalletEvent } from './core/messages.js'
import type { GasAccountState, GasWalletState } from './core/state.js'

/** Rebuilds a gas wallet from the store: its address, its nonce and its open transactions. */
export function loadGasWallet(reader: Reader, id: string, cell: number): GasWalletState {
  const gasWalletId = id as GasWalletId
  const chainId = chainOfGasWallet(gasWalletId)
  const account: GasAccountState = {
    accountId: gasWalletKey(gasWalletId, cell),
    wallet: null,
    lanes: new Map(),
    drafts: new Map(),
    open: new Map(),
    ended: new Map(),
    endsRead: new Set(),
  }
  const state: GasWalletState = {
    gasWalletId,
    chainId,
    account,
    jobs: new Map(),
    faults: new Map(),
    freezingOf: () => null,
    openers: [],
  }
  const stored = reader.fresh().gas.wallet(gasWalletId)
  if (stored === undefined) return state
  const { walletId, address, epoch } = stored
  account.wallet = { walletId, address, epoch }
  const lane = laneOf(account, chainId)
  lane.nextNonce = stored.nextNonce
  lane.ownFrom = stored.ownFrom ?? stored.nextNonce ?? 0
  const open = [...reader.gas.open(gasWalletId)]
  open.sort((a, b) => a.tx.nonce - b.tx.nonce)
  for (const { tx, job } of open) {
    // Whether a node still has it is unknown: the same bytes are broadcast again at the next block.
    const entry = restoredEntry(tx, tx.mined === null ? 'indeterminate' : 'sent')
    account.open.set(tx.txId, entry)
    if (tx.mined === null) lane.flight.push(tx.txId)
    if (job !== null) state.jobs.set(tx.txId, job)
  }
  return state
}

/**
 * Writes what durable events changed; volatile ones write nothing. Each type of event has its case
 * here or in `written.ts`; a missing case does not compile.
 */
export function recordGasWallet(
  writer: Writer,
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
      case 'transaction-ended': {
        header = true
        changed.add(event.txId)
        const ended = state.account.ended.get(event.txId)
        if (event.givenUpAt !== null && ended !== undefined) {
          writer.noteGivenUp(ended, event.givenUpAt)
        }
        break
      }
      case 'job-raised':
        changed.add(event.job.txId)
        break
      case 'job-taken':
      case 'reserved':
        break
      default: {
        const txId = changedTransaction(event)
        if (txId !== null) changed.add(txId)
        if (changesLane(event)) header = true
      }
    }
  }
  const { gasWalletId, account, jobs } = state
  for (const txId of changed) {
    const tx = account.open.get(txId)?.tx ?? account.ended.get(txId)
    if (tx === undefined) throw new Error(`${txId} changed but was not found`)
    writer.putGasTransaction({ gasWalletId, tx, job: jobs.get(txId) ?? null })
  }
  for (const txId of account.ended.keys()) jobs.delete(txId)
  account.ended.clear()
  if (header) putHeader(writer, state)
}

function putHeader(writer: Writer, { gasWalletId, chainId, account }: GasWalletState) {
  const { wallet } = account
  if (wallet === null) throw new Error(`${gasWalletId} has no key to store`)
  const { walletId, address, epoch } = wallet
  const { nextNonce, ownFrom } = withoutDrafts(account, laneOf(account, chainId))
  writer.putGasWallet({ gasWalletId, chainId, walletId, address, epoch, nextNonce, ownFrom })
}
