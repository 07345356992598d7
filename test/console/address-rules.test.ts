import { expect, test } from 'vitest'
import { type AddressRulesState, decide } from '../../actors/address-rules/core/decide.js'
import type { AddressRule } from '../../src/domain/address-rule.js'
import type { Address, UserId } from '../../src/domain/ids.js'
import { listAddressRules } from '../../src/operations/console/address-rules.js'
import type { ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { attachPreparedRules, createRulesVersion } from '../../src/screening/prepared-rules.js'
import type { UserRule } from '../../src/screening/user-rules.js'

const LIMIT = 100

function rule(n: number, action: AddressRule['action'] = 'block'): AddressRule {
  const address: Address = `0x${(n + 1).toString(16).padStart(40, '0')}`
  return { address, action, note: null, createdAtMs: n }
}

function put(state: AddressRulesState, entry: AddressRule) {
  return decide(state, { type: 'put', rule: entry, limit: LIMIT, requestId: 'r' }, 1).replies[0]
    ?.result
}

test('a user keeps a bounded number of entries, and may still change or remove them', () => {
  const state: AddressRulesState = { rules: [] }
  for (let n = 0; n < LIMIT; n++) expect(put(state, rule(n))?.ok).toBe(true)
  expect(put(state, rule(LIMIT))).toMatchObject({
    fault: { code: 'QUOTA_EXCEEDED', details: { quota: 'rules', limit: LIMIT } },
  })
  expect(put(state, rule(0, 'allow'))?.ok).toBe(true)
  expect(state.rules).toHaveLength(LIMIT)
  expect(state.rules.at(-1)).toMatchObject({ action: 'allow' })
  const { address } = rule(1)
  const removal = { type: 'delete', address, requestId: 'r', nowMs: 1 } as const
  expect(decide(state, removal, 1).replies[0]?.result.ok).toBe(true)
  expect(decide(state, removal, 1).replies[0]?.result).toMatchObject({
    fault: { code: 'NOT_FOUND' },
  })
  expect(put(state, rule(LIMIT))?.ok).toBe(true)
})

test('a change that one thread makes is seen by the next look of every other', () => {
  const userId = 'user-1' as UserId
  const version = createRulesVersion()
  let stored: readonly UserRule[] = []
  let loads = 0
  const load = () => {
    loads++
    return stored
  }
  const [writer, other] = [attachPreparedRules(version, load), attachPreparedRules(version, load)]
  expect(other.rulesOf(userId)).toBeUndefined()
  expect(other.rulesOf(userId)).toBeUndefined()
  expect(loads).toBe(1)
  stored = [rule(1)]
  writer.changed()
  expect(other.rulesOf(userId)?.block.size).toBe(1)
  expect(other.rulesOf(userId)).toBe(other.rulesOf(userId))
  expect(loads).toBe(2)
})

test('a list that changes between two pages leaves none of the rest out, and gives none twice', () => {
  let rules = Array.from({ length: 6 }, (_, n) => rule(n))
  const list = listAddressRules({
    reader: { users: { addressRules: () => rules } },
  } as unknown as OperationPorts)
  const page = (cursor?: string) => {
    const input = { limit: 2, ...(cursor === undefined ? {} : { cursor }) }
    const answer = list({ userId: 'user-1' } as ConsoleContext, input)
    if ('then' in answer || !answer.ok) throw new Error('a page was refused')
    const { rules: shown, next_cursor } = answer.value
    return { cursor: next_cursor ?? undefined, shown: shown.map(({ address }) => address) }
  }
  const namesOf = (...numbers: number[]) => numbers.map((n): string => rule(n).address)
  const first = page()
  expect(first.shown).toEqual(namesOf(5, 4))
  // What the cursor names is removed; one that was shown, and one of the rest, are set again.
  rules = [
    rule(0),
    rule(2),
    rule(3),
    { ...rule(5), createdAtMs: 6 },
    { ...rule(1), createdAtMs: 7 },
  ]
  const second = page(first.cursor)
  expect(second.shown).toEqual(namesOf(3, 2))
  expect(page(second.cursor)).toEqual({ cursor: undefined, shown: namesOf(0) })
  const context = { userId: 'user-1' } as ConsoleContext
  expect(list(context, { limit: 2, cursor: rule(3).address })).toMatchObject({
    fault: { code: 'INVALID_REQUEST' },
  })
})
