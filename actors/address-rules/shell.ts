import type { UserId } from '../../src/domain/ids.js'
import { auditEntry } from '../../src/store/audit-entry.js'
import type { Reader } from '../../src/store/reader.js'
import type { ActorShell } from '../runtime/actor.js'
import {
  type AddressRulesCommand,
  type AddressRulesEffect,
  type AddressRulesEvent,
  type AddressRulesState,
  decide,
} from './core/decide.js'

interface Holder extends AddressRulesState {
  readonly userId: UserId
}

interface AddressRulesPorts {
  readonly reader: Reader
  /** Called once a change is durable, before this thread answers its caller. */
  readonly rulesChanged: () => void
}

export function createAddressRulesShell({
  reader,
  rulesChanged,
}: AddressRulesPorts): ActorShell<
  Holder,
  AddressRulesCommand,
  AddressRulesEvent,
  AddressRulesEffect
> {
  return {
    kind: 'address-rules',
    decide,
    load(id) {
      const userId = id as UserId
      return { userId, rules: reader.fresh().users.addressRules(userId) }
    },
    record(writer, { userId, rules }, events) {
      writer.putAddressRules(userId, rules)
      for (const { type, rule, requestId, byPerson, atMs } of events) {
        writer.appendAudit(
          auditEntry({
            userId,
            atMs,
            requestId,
            type: type === 'set' ? 'address_rule.set' : 'address_rule.removed',
            details: {
              ...{ address: rule.address, action: rule.action, note: rule.note },
              ...(byPerson === undefined ? {} : { by_person: byPerson }),
            },
          }),
        )
      }
    },
    run: () => rulesChanged(),
    idle: () => true,
  }
}
