import type { TxId } from '../../src/domain/ids.js'
import type { Meter } from '../../src/domain/meter.js'
import type { PathMeter, TransactionStep } from '../../src/domain/path-meter.js'
import type { AccountTransaction, Transaction } from '../../src/domain/transaction.js'
import type { ActorShell } from '../runtime/actor.js'
import type { Command, Effect, Event } from './core/messages.js'
import type { SubWalletState } from './core/state.js'

export interface StepFollowers {
  readonly path: Pick<PathMeter, 'step' | 'refused'>
  readonly latency: Meter['latency']
  /** Milliseconds since the epoch. */
  readonly nowMs: () => number
}

/**
 * The same shell; says how far each transaction has come. Steps that are events are told when they
 * are decided; that one is stored, once it is.
 */
export function followSteps(
  shell: ActorShell<SubWalletState, Command, Event, Effect>,
  { path, latency }: StepFollowers,
): ActorShell<SubWalletState, Command, Event, Effect> {
  const tookToBroadcast = latency('broadcast')
  const tookToConfirm = latency('confirmation')

  function note(step: TransactionStep, chainId: number): void {
    path.step(chainId, step)
  }

  function noteOf(step: TransactionStep, state: SubWalletState, txId: TxId): Transaction | null {
    const tx = state.open.get(txId)?.tx ?? state.ended.get(txId) ?? null
    if (tx !== null) note(step, tx.call.chainId)
    return tx
  }

  function follow(state: SubWalletState, event: Event): void {
    switch (event.type) {
      case 'reserved':
        note('reserved', event.draft.call.chainId)
        break
      case 'sponsored-reserved':
        note('reserved', event.draft.chainId)
        break
      case 'queued': {
        const draft = state.drafts.get(event.txId)?.draft
        if (draft !== undefined) note('screened', draft.call.chainId)
        break
      }
      case 'sponsored-waiting': {
        const entry = state.sponsored.get(event.txId)
        if (entry !== undefined) note('screened', entry.chainId)
        break
      }
      case 'transaction-signed':
      case 'sponsored-sent':
        note('signed', event.tx.call.chainId)
        break
      case 'transaction-broadcast': {
        const tx = noteOf('broadcast', state, event.txId)
        if (tx !== null) tookToBroadcast(event.atMs - signedAtMs(tx))
        break
      }
      case 'sponsored-changed':
        if (event.tells === 'transaction.broadcast') note('broadcast', event.tx.call.chainId)
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
        if (status !== 'signed') note(status, call.chainId)
        break
      }
      case 'transaction-reopened':
      case 'sponsored-reopened':
        note('reopened', event.tx.call.chainId)
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
        note('refused', effect.call.call.chainId)
        path.refused(effect.fault.code)
      } else if (effect.type === 'watch' && isNew(effect.tx)) {
        note('stored', effect.tx.call.chainId)
      }
      shell.run(id, effect, self)
    },
  }
}

/** It is watched again with each replacement, and after a start. */
function isNew({ status, attempts, mined }: AccountTransaction): boolean {
  return status === 'signed' && attempts.length === 1 && mined === null
}

function signedAtMs({ attempts, createdAtMs }: Transaction): number {
  return attempts[0]?.signedAtMs ?? createdAtMs
}
