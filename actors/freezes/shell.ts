import { sleep, type Timers } from '../../src/clock/timers.js'
import type { NewAuditRecord } from '../../src/domain/audit.js'
import type { NewEvent } from '../../src/domain/event.js'
import type { EventType } from '../../src/domain/event-types.js'
import type { Freeze } from '../../src/domain/freeze.js'
import type { FreezeBook } from '../../src/domain/freeze-book.js'
import type { UserId } from '../../src/domain/ids.js'
import { isoTime } from '../../src/domain/iso-time.js'
import { lineagesOn } from '../../src/domain/sub-key.js'
import { FaultError, fault } from '../../src/errors/fault.js'
import type {
  CoSigner,
  FrozenSubject,
  StoppedSubject,
} from '../../src/service-custody/co-signer.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Reader } from '../../src/store/reader.js'
import type { ActorShell } from '../runtime/actor.js'
import { decide } from './core/decide.js'
import type {
  FreezesCommand,
  FreezesEffect,
  FreezesEvent,
  FreezeTarget,
  UnfreezeCommand,
} from './core/messages.js'
import { type FreezesState, freezesState } from './core/state.js'

interface FreezesPorts {
  readonly reader: Reader
  /** The freezes of this thread, on which all sub-wallets of the user live. */
  readonly book: FreezeBook
  readonly coSigner: Pick<CoSigner, 'freeze' | 'unfreeze' | 'refuseWaiting'>
  /** Notifies the front end, before the caller is answered. */
  readonly changed: (userId: UserId, standing: readonly Freeze[]) => void
  readonly log: { warn(context: object, message: string): void }
  readonly timers: Timers
}

/** The reasons that mean that there is nothing there that could sign. */
const NOTHING_THERE: ReadonlySet<unknown> = new Set(['UNKNOWN_KEY', 'UNKNOWN_WALLET'])

export function createFreezesShell(
  ports: FreezesPorts,
): ActorShell<FreezesState, FreezesCommand, FreezesEvent, FreezesEffect> {
  const { reader, book, coSigner, timers } = ports

  function note(id: string, standing: ReadonlyMap<string, Freeze>): void {
    const freezes = [...standing.values()]
    book.put(id as UserId, freezes)
    ports.changed(id as UserId, freezes)
  }

  function stoppedBy({ userId, scope, subWalletId, lineageId }: Freeze): StoppedSubject {
    const { lineageId: own, ...subject } = subjectOf(userId, { scope, subWalletId, lineageId })
    if (own === null || subWalletId === null) return { ...subject, lineageIds: [] }
    return { ...subject, lineageIds: lineagesOn(reader.fresh().keys.ofWallet(subWalletId), own) }
  }

  async function tell(freeze: Freeze): Promise<boolean> {
    try {
      await coSigner.freeze(subjectOf(freeze.userId, freeze))
      return true
    } catch (error) {
      if (error instanceof FaultError && NOTHING_THERE.has(error.fault.details.reason)) return true
      ports.log.warn(
        { err: error, freeze: freeze.name },
        'the identity provider has yet to take it',
      )
      return false
    }
  }

  async function lift(id: string, command: UnfreezeCommand): Promise<FreezesCommand> {
    const { target, consoleToken, authorization } = command
    const lifted = (result: Extract<FreezesCommand, { type: 'lifted' }>['result']) =>
      ({ type: 'lifted', target, result, nowMs: timers.now() }) as const
    try {
      const subject = subjectOf(id as UserId, target)
      const { authorizedBy } = await coSigner.unfreeze({ ...subject, consoleToken, authorization })
      if (authorizedBy === null) throw new Error('a freeze was lifted without a proof')
      return lifted({ ok: true, value: { authorizedBy } })
    } catch (error) {
      const why = error instanceof FaultError ? error.fault : fault('COSIGNER_UNAVAILABLE')
      return lifted({ ok: false, fault: why })
    }
  }

  return {
    kind: 'freezes',
    load: (id) => freezesState(id as UserId, reader.fresh().freezes.ofUser(id as UserId)),
    decide,
    resume: ({ pendingNotices }) => (pendingNotices.size > 0 ? { type: 'resume' } : null),
    record(writer, { userId }, events) {
      for (const event of events) {
        const { freeze } = event
        if (event.type === 'unfrozen') writer.deleteFreeze(userId, freeze.name)
        else writer.putFreeze(freeze)
        if (event.type === 'custody-noted') continue
        writer.appendAudit(auditOf(event))
        writer.appendEvent(eventOf(event))
      }
    },
    startsAtOnce: ({ type }) => type === 'stop',
    run(id, effect, self) {
      switch (effect.type) {
        case 'stop':
          note(id, effect.standing)
          coSigner.refuseWaiting(stoppedBy(effect.freeze), effect.freeze)
          break
        case 'go-on':
          note(id, effect.standing)
          break
        case 'notify':
          void tell(effect.freeze).then((taken) =>
            self({ type: 'notified', name: effect.freeze.name, taken }),
          )
          break
        case 'rest':
          void sleep(timers, effect.delayMs).then(() => self({ type: 'freezes-rested' }))
          break
        case 'lift':
          void lift(id, effect.command).then(self)
          break
      }
    },
    idle: ({ pendingNotices, notifying, resting, lifting }) =>
      pendingNotices.size === 0 && notifying === null && !resting && lifting.size === 0,
  }
}

function subjectOf(
  userId: UserId,
  { scope, subWalletId, lineageId }: Pick<FreezeTarget, 'scope' | 'subWalletId' | 'lineageId'>,
): FrozenSubject {
  return { scope, userId, walletId: scope === 'wallet' ? subWalletId : null, lineageId }
}

type StoredChange = Exclude<FreezesEvent, { type: 'custody-noted' }>

function auditOf(event: StoredChange): NewAuditRecord {
  const { freeze, requestId, byPerson } = event
  return auditEntry({
    userId: freeze.userId,
    subWalletId: freeze.subWalletId,
    keyId: freeze.keyId,
    requestId,
    atMs: event.type === 'frozen' ? freeze.sinceMs : event.atMs,
    type: `${freeze.scope}.${event.type}`,
    details: {
      ...viewOf(freeze),
      ...(event.type === 'unfrozen' ? { authorized_by: event.authorizedBy } : {}),
      ...(byPerson === undefined ? {} : { by_person: byPerson }),
    },
  })
}

function eventOf(event: StoredChange): NewEvent {
  const { freeze } = event
  const { scope, userId, subWalletId, keyId } = freeze
  const type: EventType = `${scope}.${event.type}`
  const names = {
    user: { user_id: userId },
    wallet: { sub_wallet_id: subWalletId },
    key: { key_id: keyId, sub_wallet_id: subWalletId },
  }[scope]
  const by = event.type === 'frozen' ? freeze.by : 'user'
  return {
    eventId: null,
    userId,
    type,
    atMs: event.type === 'frozen' ? freeze.sinceMs : event.atMs,
    subWalletId,
    laneKey: null,
    data: { ...names, ...viewOf(freeze), by },
  }
}

function viewOf({ sinceMs, reason, by }: Freeze) {
  return { since: isoTime(sinceMs), reason, by }
}
