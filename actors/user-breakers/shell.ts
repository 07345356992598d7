import { freezeName } from '../../src/domain/freeze.js'
import type { KeyId, UserId } from '../../src/domain/ids.js'
import type { UserBreakerBook } from '../../src/domain/user-breaker-book.js'
import { NO_USER_TALLY } from '../../src/policy/user-breakers.js'
import { userBreakerJson } from '../../src/policy/user-breakers-json.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Reader } from '../../src/store/reader.js'
import { freezesAddress } from '../addresses.js'
import type { FreezeCommand } from '../freezes/core/messages.js'
import type { ActorShell, Envelope } from '../runtime/actor.js'
import {
  decide,
  type UserBreakersCommand,
  type UserBreakersEffect,
  type UserBreakersEvent,
  type UserBreakersState,
} from './core/decide.js'

interface UserBreakersPorts {
  readonly reader: Reader
  /** The breakers of this thread, on which all sub-wallets of the user live. */
  readonly book: Pick<UserBreakerBook, 'put'>
  readonly tell: (envelope: Envelope) => void
  readonly auditLog: { settleSoon(keyId: KeyId): void }
}

/**
 * Sub-wallets report what they signed before that is durable, so that the count is part of the same
 * commit, or of the next one when a tick is too full. It delays no call.
 */
export function createUserBreakersShell({
  reader,
  book,
  tell,
  auditLog,
}: UserBreakersPorts): ActorShell<
  UserBreakersState,
  UserBreakersCommand,
  UserBreakersEvent,
  UserBreakersEffect
> {
  return {
    kind: 'user-breakers',
    decide,
    load(id) {
      const userId = id as UserId
      const stored = reader.fresh().userBreakers.of(userId)
      const { breakers = [], signed = [], shared = [] } = stored ?? {}
      return { userId, breakers, tally: { ...NO_USER_TALLY, signed, shared } }
    },
    record(writer, { userId, breakers, tally: { signed, shared } }, events) {
      let isChanged = false
      for (const event of events) {
        if (event.type !== 'counted' || event.of === 'signed') isChanged = true
        if (event.type !== 'set') continue
        const { requestId, byPerson, atMs } = event
        const details = {
          breakers: event.breakers.map(userBreakerJson),
          ...(byPerson === undefined ? {} : { by_person: byPerson }),
        }
        writer.appendAudit(auditEntry({ userId, atMs, requestId, type: 'breakers.set', details }))
      }
      if (!isChanged) return
      if (breakers.length === 0) writer.deleteUserBreakers(userId)
      else writer.putUserBreakers({ userId, breakers, signed, shared })
    },
    startsAtOnce: ({ type }) => type === 'trip',
    run(id, effect) {
      const userId = id as UserId
      if (effect.type === 'changed') {
        book.put(userId, effect.breakers)
        return
      }
      const { trip, keyId, requestId } = effect
      const none = { subWalletId: null, lineageId: null, keyId: null }
      const command: FreezeCommand = {
        ...{ type: 'freeze', reason: trip.reason, by: 'breaker', requestId, nowMs: trip.atMs },
        target: { ...none, scope: 'user', name: freezeName('user', null) },
      }
      tell({ ...freezesAddress(userId), command, token: null })
      auditLog.settleSoon(keyId)
    },
    // Refusals are only in memory.
    idle: ({ tally }) => tally.refused.length === 0,
  }
}
