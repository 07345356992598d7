import type { TxId } from '../../src/domain/ids.js'
import type { Meter } from '../../src/domain/meter.js'
import type { PathMeter, TransactionStep } from '../../src/domain/path-meter.js'
import type { AccountTransaction, Transaction } from '../../src/domain/transaction.js'
import type { ActorShell } from '../runtime/actor.js'
import type { Command, Effect, Event } from './core/messages.js'
import type { SubWalletState } from './core/state.js'

interface StepFollowers {
  readonly path: Pick<PathMeter, 'step' | 'refused'>
  readonly latency: Meter['latency']
  /** Receives each step, in the order of the decisions; null when nothing reads them. */
  readonly steps: StepReader | null
}

export interface StepReader {
  /** @param code the error code of a refused call, otherwise null */
  note(
    step: TransactionStep,
    chainId: number,
    txId: TxId,
    requestId: string,
    code: string | null,
  ): void
}

/** The transaction that a step belongs to. */
interface Followed {
  readonly txId: TxId
  readonly requestId: string
}

/**
 * Wraps the shell and reports how far each transaction has come. A step is logged when its event is
 * decided; the step that says it is stored, once it is.
 */
export function followSteps(
  shell: ActorShell<SubWalletState, Command, Event, Effect>,
  { path, latency, steps }: StepFollowers,
): ActorShell<SubWalletState, Command, Event, Effect> {
  const tookToBroadcast = latency('broadcast')
  const tookToConfirm = latency('confirmation')

  function note(
    step: TransactionStep,
    chainId: number,
    { txId, requestId }: Followed,
    code: string | null = null,
  ): void {
    path.step(chainId, step)
    steps?.note(step, chainId, txId, requestId, code)
  }

  function noteOf(step: TransactionStep, state: SubWalletState, txId: TxId): Transaction | null {
    const tx = state.open.get(txId)?.tx ?? state.ended.get(txId) ?? null
    if (tx !== null) note(step, tx.call.chainId, tx)
    return tx
  }

  function follow(state: SubWalletState, event: Event): void {
    switch (event.type) {
      case 'reserved':
        // A call that waited was noted when it was first made.
        if (event.draft.approval === undefined) {
          note('reserved', event.draft.call.chainId, event.draft)
        }
        break
      case 'approval-ended':
        if (event.tx.status === 'dropped') note('dropped', event.tx.call.chainId, event.tx)
        break
      case 'sponsored-reserved':
        if (event.draft.approval === undefined) note('reserved', event.draft.chainId, event.draft)
        break
      case 'queued': {
        const draft = state.drafts.get(event.txId)?.draft
        if (draft !== undefined) note('screened', draft.call.chainId, draft)
        break
      }
      case 'sponsored-waiting': {
        const draft = state.sponsored.get(event.txId)?.draft ?? null
        if (draft !== null) note('screened', draft.chainId, draft)
        break
      }
      case 'transaction-signed':
      case 'sponsored-sent':
        note('signed', event.tx.call.chainId, event.tx)
        break
      case 'transaction-broadcast': {
        const tx = noteOf('broadcast', state, event.txId)
        if (tx !== null) tookToBroadcast(event.atMs - signedAtMs(tx))
        break
      }
      case 'sponsored-changed':
        if (event.tells === 'transaction.broadcast')
          note('broadcast', event.tx.call.chainId, event.tx)
        break
      case 'transaction-mined':
        noteOf('mined', state, event.txId)
        break
      case 'transaction-ended': {
        const tx = noteOf(event.status, state, event.txId)
        if (tx !== null && event.status === 'confirmed') {
          tookToConfirm(event.atMs - signedAtMs(tx))
        }
        break
      }
      case 'sponsored-ended': {
        const { status, call } = event.tx
        if (status === 'confirmed') tookToConfirm(event.atMs - signedAtMs(event.tx))
        if (status === 'confirmed' || status === 'failed' || status === 'dropped') {
          note(status, call.chainId, event.tx)
        }
        break
      }
      case 'sponsored-reopened':
        if (event.sponsorship.stage === 'held') break
        note('reopened', event.tx.call.chainId, event.tx)
        break
      case 'transaction-reopened':
        note('reopened', event.tx.call.chainId, event.tx)
        break
      default:
    }
  }

  return {
    ...shell,
    record(transactor, state, events) {
      for (const event of events) follow(state, event)
      shell.record(transactor, state, events)
    },
    run(id, effect, self) {
      if (effect.type === 'refused') {
        const { call, fault } = effect
        note('refused', call.call.chainId, call, fault.code)
        path.refused(fault.code)
      } else if (effect.type === 'watch' && isOwn(effect.tx) && isNew(effect.tx)) {
        note('stored', effect.tx.call.chainId, effect.tx)
      }
      shell.run(id, effect, self)
    },
  }
}

/** An account's message type has less than the sub-wallet stored. */
function isOwn(tx: AccountTransaction): tx is Transaction {
  return 'requestId' in tx
}

/**
 * Whether the transaction is watched for the first time; each replacement and each start watches it
 * again.
 */
function isNew({ status, attempts, mined }: AccountTransaction): boolean {
  return status === 'signed' && attempts.length === 1 && mined === null
}

function signedAtMs({ attempts, createdAtMs }: Transaction): number {
  return attempts[0]?.signedAtMs ?? createdAtMs
}
