import { chainOfGasWallet } from '../../src/domain/gas-wallets.js'
import type { GasWalletId } from '../../src/domain/ids.js'
import { walletUsersOf } from '../../src/store/wallet-users.js'
import { broadcast } from '../account/effects/broadcast.js'
import { replace } from '../account/effects/replace.js'
import { sign } from '../account/effects/sign.js'
import type { WatcherCommand } from '../chain-watcher/core/messages.js'
import { givenUpOf, watchOf } from '../chain-watcher/watch-of.js'
import type { ActorShell } from '../runtime/actor.js'
import { decide } from './core/decide.js'
import type { GasWalletCommand, GasWalletEffect, GasWalletEvent } from './core/messages.js'
import type { GasWalletState } from './core/state.js'
import { makeKey } from './effects/make-key.js'
import { prepareJob } from './effects/prepare-job.js'
import type { GasWalletPorts } from './ports.js'
import { loadGasWallet, recordGasWallet } from './record.js'
import { unreportedJobs } from './unreported-jobs.js'

export function createGasWalletShell(
  ports: GasWalletPorts,
): ActorShell<GasWalletState, GasWalletCommand, GasWalletEvent, GasWalletEffect> {
  const { reader } = ports
  const userOf = walletUsersOf(reader)

  function watcher(id: string, command: WatcherCommand): void {
    const chainId = String(chainOfGasWallet(id as GasWalletId))
    ports.tell({ kind: 'chain-watcher', id: chainId, userId: null, command, token: null })
  }

  return {
    kind: 'gas-wallet',
    decide,
    load(id) {
      const state = loadGasWallet(reader, id, ports.cell)
      state.freezingOf = ({ subWalletId, lineageId }) =>
        ports.freezes.freezeOf({ userId: userOf(subWalletId), subWalletId, lineageId })
      return state
    },
    record: recordGasWallet,
    prepare(state, command) {
      if (command.type === 'open') {
        const unreported = { jobs: unreportedJobs(reader, state), nowMs: ports.timers.now() }
        return { ...command, unreported }
      }
      if (command.type === 'sponsor') return prepareJob(ports, state, command)
      return command
    },
    run(id, effect, self) {
      switch (effect.type) {
        case 'make-key':
          makeKey(ports, id as GasWalletId, self)
          break
        case 'sign-job': {
          const { walletId, authorization, draft, nonce, replaces } = effect
          const signer = { walletId, keyId: null, proofKey: null, authorization }
          sign(ports, signer, draft, nonce, replaces, self)
          break
        }
        case 'replace-job': {
          const { walletId, tx, purpose, feeCapWei, authorization } = effect
          const replaced = { walletId, tx, purpose, feeCapWei, keyId: null, authorization }
          replace(ports, replaced, self)
          break
        }
        case 'broadcast':
          broadcast(ports, effect, self)
          break
        case 'read-end': {
          const { txId } = effect
          const found = reader.ifSound(() => reader.fresh().gas.transaction(txId))
          const { tx: stored, job } = found ?? { tx: null, job: null }
          self({ type: 'end-read', txId, stored, job, nowMs: ports.timers.now() })
          break
        }
        case 'watch':
          watcher(id, watchOf(id as GasWalletId, effect.tx))
          break
        case 'unwatch':
          watcher(id, { type: 'unwatch', txId: effect.tx.txId })
          break
        case 'give-up':
          watcher(id, givenUpOf(id as GasWalletId, effect.tx, effect.height))
          break
        case 'tell':
          ports.tell({
            kind: 'sub-wallet',
            id: effect.subWalletId,
            userId: userOf(effect.subWalletId),
            command: effect.update,
            token: null,
          })
          break
      }
    },
    // A gas wallet lives as long as its thread.
    idle: () => false,
  }
}
