import { DRILLS, type Drill } from '../../../src/domain/drill.js'
import type { TxId } from '../../../src/domain/ids.js'
import type { ActorShell } from '../../runtime/actor.js'
import type { Command, Effect, Event } from '../core/messages.js'
import type { SubWalletState } from '../core/state.js'
import { decodeCommand, type EncodedSend } from '../encoded-send.js'
import type { SubWalletPorts } from '../ports.js'
import { createSubWalletShell } from '../shell.js'
import { createDrillBook } from './drill-book.js'
import { drilledPorts } from './drilled-ports.js'

type Shell = ActorShell<SubWalletState, Command, Event, Effect>

/** A write whose caller requested an injected fault. */
interface DrilledCommand {
  readonly type: 'drilled'
  readonly drill: Drill
  readonly command: EncodedSend | Extract<Command, { type: 'send' | 'sponsor-call' }>
}

/** The effects that show each fault; the first one that starts meets it. */
const SHOWS_IN: Readonly<Record<Drill, ReadonlySet<Effect['type']>>> = {
  'slow-node': new Set(['broadcast']),
  'dropped-broadcast': new Set(['broadcast']),
  reorg: new Set(),
  'feed-stale': new Set(),
  'cosigner-away': new Set(['sign', 'sign-intent']),
  'screening-away': new Set(['screen', 'screen-sponsored']),
}

/** Long enough for a caller that polls to see the confirmation first. */
const REORG_AFTER_MS = 2_000

/**
 * Wraps the shell so that only writes whose caller requested a fault meet one. The decision does
 * not know of it: the fault is in the ports that the effects of that call use. Loaded only in a
 * test environment.
 */
export function createDrilledShell(shell: Shell, ports: SubWalletPorts): Shell {
  const book = createDrillBook()
  const shells = Object.fromEntries(
    DRILLS.map((drill) => [drill, createSubWalletShell(drilledPorts(drill, ports))]),
  ) as Readonly<Record<Drill, Shell>>

  function prepareDrilled(state: SubWalletState, { drill, command: carried }: DrilledCommand) {
    const command = decodeCommand(carried) as Extract<Command, { type: 'send' | 'sponsor-call' }>
    if (drill !== 'feed-stale') book.put(command.txId, drill)
    return shells[drill].prepare?.(state, command) ?? command
  }

  /**
   * Reports a reorg as the chain's watcher would; the watcher then finds the new block by itself.
   */
  function reorganise({ subWalletId, wallet }: SubWalletState, txId: TxId): void {
    if (wallet === null) return
    const { userId } = wallet
    const { timers, tell } = ports
    timers.at(timers.now() + REORG_AFTER_MS, () => {
      const command = { type: 'unmined', txId, nowMs: timers.now() } as const
      tell({ kind: 'sub-wallet', id: subWalletId, userId, command, token: null })
    })
  }

  return {
    ...shell,
    prepare(state, command) {
      const given: Command | DrilledCommand = command
      if (isDrilled(given)) return prepareDrilled(state, given)
      return shell.prepare?.(state, command) ?? command
    },
    decide(state, command, token) {
      const decision = shell.decide(state, command, token)
      if (book.size === 0) return decision
      for (const event of decision.events) {
        if (event.type !== 'transaction-ended') continue
        const { txId, status } = event
        if (status === 'confirmed' && book.of(txId) === 'reorg') reorganise(state, txId)
        book.end(txId)
      }
      return decision
    },
    run(id, effect, self) {
      const txId = book.size === 0 ? null : txIdOf(effect)
      const drill = txId === null ? null : book.of(txId)
      if (txId === null || drill === null || !SHOWS_IN[drill].has(effect.type)) {
        shell.run(id, effect, self)
        return
      }
      book.take(txId)
      shells[drill].run(id, effect, self)
    },
  }
}

function isDrilled(command: Command | DrilledCommand): command is DrilledCommand {
  return command.type === 'drilled'
}

function txIdOf(effect: Effect): TxId | null {
  if ('draft' in effect) return effect.draft.txId
  if ('tx' in effect) return effect.tx.txId
  return null
}
