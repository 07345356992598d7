import type { SubWalletId } from '../../src/domain/ids.js'
import type { WatcherCommand } from '../chain-watcher/messages.js'
import type { ActorShell } from '../runtime/actor.js'
import { refusalAudit } from './audit.js'
import { decide } from './decide.js'
import { broadcast } from './effects/broadcast.js'
import { prepareSend } from './effects/prepare-send.js'
import { replace } from './effects/replace.js'
import { screen } from './effects/screen.js'
import { sign } from './effects/sign.js'
import type { Command, Effect, Event } from './messages.js'
import type { SubWalletPorts } from './ports.js'
import { loadState, recordEvents } from './record.js'
import type { SubWalletState } from './state.js'

export function createSubWalletShell(
  ports: SubWalletPorts,
): ActorShell<SubWalletState, Command, Event, Effect> {
  const { reader } = ports

  function watcher(chainId: number, command: WatcherCommand): void {
    ports.tell({ kind: 'chain-watcher', id: String(chainId), command, token: null })
  }

  return {
    kind: 'sub-wallet',
    decide,
    load: (id) => loadState(reader, id as SubWalletId),
    record: recordEvents,
    prepare(state, command) {
      return command.type === 'send' ? prepareSend(ports, state, command) : command
    },
    run(id, effect, self) {
      switch (effect.type) {
        case 'screen':
          screen(ports, effect.draft, self)
          break
        case 'sign':
          sign(ports, id as SubWalletId, effect, self)
          break
        case 'broadcast':
          broadcast(ports, effect.tx, self)
          break
        case 'replace':
          replace(ports, { tx: effect.tx, keyId: effect.tx.keyId, authorization: null }, self)
          break
        case 'watch': {
          const { chainId, txId, subWalletId, from, nonce, attempts } = effect.tx
          const hashes = attempts.map(({ txHash }) => txHash)
          watcher(chainId, { type: 'watch', txId, owner: subWalletId, from, nonce, hashes })
          break
        }
        case 'unwatch':
          watcher(effect.tx.chainId, { type: 'unwatch', txId: effect.tx.txId })
          break
        case 'refused':
          ports.auditLog.note(refusalAudit(effect, id as SubWalletId, ports.nowMs()))
          break
        case 'key-changed':
          ports.keyChanged(effect.secretHash)
          break
      }
    },
    idle: (state) => state.drafts.size === 0 && state.open.size === 0,
  }
}
