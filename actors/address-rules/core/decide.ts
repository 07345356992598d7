import type { AddressRule } from '../../../src/domain/address-rule.js'
import type { Address } from '../../../src/domain/ids.js'
import { type Fault, fault } from '../../../src/errors/fault.js'
import { quotaExceeded } from '../../../src/errors/quota-exceeded.js'
import type { Decision, ReplyToken } from '../../runtime/actor.js'

/** One actor per user: the user's own list of addresses to block or to allow. */
export interface AddressRulesState {
  /** Oldest first, one entry per address. The array is replaced and never changed in place. */
  rules: readonly AddressRule[]
}

/** Addresses are EIP-55 checksummed. `requestId` and `byPerson` are for the audit trail. */
export type AddressRulesCommand =
  | {
      readonly type: 'put'
      readonly rule: AddressRule
      /** The most entries that the user may have. */
      readonly limit: number
      readonly requestId: string
      readonly byPerson?: string | undefined
    }
  | {
      readonly type: 'delete'
      readonly address: Address
      readonly requestId: string
      readonly byPerson?: string | undefined
      readonly nowMs: number
    }

export interface AddressRulesEvent {
  readonly type: 'set' | 'removed'
  readonly rule: AddressRule
  readonly requestId: string
  readonly byPerson?: string | undefined
  readonly atMs: number
}

/** Makes the screening of every thread read the rules again. */
export interface AddressRulesEffect {
  readonly type: 'rules-changed'
}

/** Answers with the entry that was set or removed. */
export function decide(
  state: AddressRulesState,
  command: AddressRulesCommand,
  token: ReplyToken | null,
): Decision<AddressRulesEvent, AddressRulesEffect> {
  if (command.type === 'put') {
    const { rule, limit, requestId, byPerson } = command
    const others = state.rules.filter(({ address }) => address !== rule.address)
    if (others.length >= limit) return refuse(token, quotaExceeded('rules', limit))
    const set = { type: 'set', rule, requestId, byPerson, atMs: rule.createdAtMs } as const
    return change(state, set, token)
  }
  const { address, requestId, byPerson, nowMs } = command
  const rule = state.rules.find((known) => known.address === address)
  if (rule === undefined) return refuse(token, fault('NOT_FOUND', { address }))
  return change(state, { type: 'removed', rule, requestId, byPerson, atMs: nowMs }, token)
}

function evolve(state: AddressRulesState, { type, rule }: AddressRulesEvent): void {
  const others = state.rules.filter(({ address }) => address !== rule.address)
  state.rules = type === 'set' ? [...others, rule] : others
}

function change(
  state: AddressRulesState,
  event: AddressRulesEvent,
  token: ReplyToken | null,
): Decision<AddressRulesEvent, AddressRulesEffect> {
  evolve(state, event)
  const replies =
    token === null ? [] : [{ token, result: { ok: true as const, value: event.rule } }]
  return { events: [event], effects: [{ type: 'rules-changed' }], replies }
}

function refuse(token: ReplyToken | null, why: Fault): Decision<never, never> {
  const replies = token === null ? [] : [{ token, result: { ok: false as const, fault: why } }]
  return { events: [], effects: [], replies }
}
