import { describe, expect, test } from 'vitest'
import { decide, type QuotaCommand, type QuotaState } from '../../actors/quotas/decide.js'
import { createQuotaShell } from '../../actors/quotas/shell.js'

const LIMIT = 3

function fresh(webhooks = 0): QuotaState {
  return {
    made: { wallets: 0, keys: 0, webhooks },
    reserved: { wallets: new Set(), keys: new Set(), webhooks: new Set() },
    freed: new Set(),
    uncertain: false,
  }
}

const reserve = (name: string): QuotaCommand => ({
  type: 'reserve',
  quota: 'webhooks',
  name,
  limit: LIMIT,
})
const settle = (
  name: string,
  outcome: Extract<QuotaCommand, { type: 'settle' }>['outcome'],
): QuotaCommand => ({ type: 'settle', quota: 'webhooks', name, outcome })
const free = (id: string): QuotaCommand => ({ type: 'free', quota: 'webhooks', id })

const isTaken = (state: QuotaState, name: string) =>
  decide(state, reserve(name), 1).replies[0]?.result.ok

describe('a user’s counter', () => {
  test('counts what is being made, so that no race passes the limit', () => {
    const state = fresh(1)
    expect([isTaken(state, 'a'), isTaken(state, 'b'), isTaken(state, 'c')]).toEqual([
      true,
      true,
      false,
    ])
    decide(state, settle('a', 'made'), 1)
    expect(isTaken(state, 'c')).toBe(false)
    decide(state, settle('b', 'not-made'), 1)
    expect(isTaken(state, 'c')).toBe(true)
  })

  test('counts an outcome once, and what is freed once', () => {
    const state = fresh(LIMIT)
    decide(state, settle('never reserved', 'not-made'), 1)
    expect(isTaken(state, 'a')).toBe(false)
    decide(state, free('we_1'), 1)
    decide(state, free('we_1'), 1)
    expect([isTaken(state, 'a'), isTaken(state, 'b')]).toEqual([true, false])
  })

  test('refuses what it does not know to be free, until the records say so', () => {
    let stored = LIMIT - 1
    const shell = createQuotaShell({
      refresh: () => {},
      ownedCounts: () => ({ wallets: 0, keys: 0, webhooks: stored }),
    })
    const holder = shell.load('user-1')
    const ask = (command: QuotaCommand) => shell.decide(holder, command, 1).replies[0]?.result.ok
    expect(ask(reserve('a'))).toBe(true)
    ask(settle('a', 'unknown'))
    // It was made all the same.
    stored = LIMIT
    expect(ask(reserve('b'))).toBe(false)
    stored = LIMIT - 1
    const late = shell.load('user-2')
    shell.decide(late, reserve('a'), 1)
    shell.decide(late, settle('a', 'unknown'), 1)
    // It was not: the records are counted before anybody is refused.
    expect(shell.decide(late, reserve('b'), 1).replies[0]?.result.ok).toBe(true)
    expect(shell.decide(late, reserve('c'), 1).replies[0]?.result.ok).toBe(false)
  })
})
