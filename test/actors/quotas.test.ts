import { describe, expect, test } from 'vitest'
import type { Actors } from '../../actors/protocols.js'
import { decide, type QuotaCommand, type QuotaState } from '../../actors/quotas/core/decide.js'
import { createQuotaShell } from '../../actors/quotas/shell.js'
import { systemTimers } from '../../src/clock/timers.js'
import type { KeyId } from '../../src/domain/ids.js'
import { fault, ok } from '../../src/errors/fault.js'
import { outcomeUnknown } from '../../src/errors/outcome-unknown.js'
import { withinQuota } from '../../src/operations/console/quotas.js'
import type { Answer, ConsoleContext } from '../../src/operations/context.js'
import type { OperationPorts } from '../../src/operations/ports.js'
import { openRealStore } from './real-store.js'
import { apiKey, LINEAGE_ID, START_MS, USER_ID } from './wallet-fixtures.js'

const LIMIT = 3

function fresh(webhooks = 0): QuotaState {
  return {
    made: { wallets: 0, keys: 0, webhooks },
    reserved: { wallets: new Set(), keys: new Set(), webhooks: new Set() },
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
const FREE: QuotaCommand = { type: 'free' }

const isTaken = (state: QuotaState, name: string) =>
  decide(state, reserve(name), 1).replies[0]?.result.ok

/** A counter of a user who has so many webhooks in the store; answers whether it took the command. */
function counterOver(stored: () => number) {
  const shell = createQuotaShell(() => ({ wallets: 0, keys: 0, webhooks: stored() }))
  const holder = shell.load('user-1')
  return (command: QuotaCommand) => shell.decide(holder, command, 1).replies[0]?.result.ok
}

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

  test('counts an outcome once', () => {
    const state = fresh(LIMIT)
    decide(state, settle('never reserved', 'not-made'), 1)
    expect(isTaken(state, 'a')).toBe(false)
  })

  test('gives what is freed away while others are being made', () => {
    let stored = LIMIT
    const ask = counterOver(() => stored)
    stored = LIMIT - 2
    ask(FREE)
    expect(['a', 'b', 'c'].map((name) => ask(reserve(name)))).toEqual([true, true, false])
    stored = LIMIT - 3
    ask(FREE)
    expect(['c', 'd'].map((name) => ask(reserve(name)))).toEqual([true, false])
  })

  test.each([
    ['after it was loaded', LIMIT],
    ['before it was loaded', LIMIT - 1],
  ])('gives what was freed %s to one, however often it hears of it', (_, storedAtLoad) => {
    let stored = storedAtLoad
    const ask = counterOver(() => stored)
    stored = LIMIT - 1
    ask(FREE)
    ask(FREE)
    expect([ask(reserve('a')), ask(reserve('b'))]).toEqual([true, false])
    stored = LIMIT
    ask(settle('a', 'made'))
    expect(ask(reserve('b'))).toBe(false)
  })

  test('gives all that went with what was freed to others', () => {
    let stored = LIMIT
    const ask = counterOver(() => stored)
    stored = 0
    ask(FREE)
    const asked = Array.from({ length: LIMIT + 1 }, (_, n) => ask(reserve(`${n}`)))
    expect(asked).toEqual([...Array(LIMIT).fill(true), false])
  })

  test('has keys in it that people made, and none that a key made, which end by themselves', async () => {
    const store = await openRealStore()
    const sub = { keyId: 'key_00000000000000000000000002' as KeyId, parentLineageId: LINEAGE_ID }
    await store.write((writer) => {
      writer.putApiKey(apiKey())
      writer.putApiKey(apiKey({ ...sub, endsAtMs: START_MS + 1 }))
    })
    expect(store.reader.users.ownedCounts(USER_ID).keys).toBe(1)
    await store.close()
  })

  test('refuses what it does not know to be free, until the records say so', () => {
    let stored = LIMIT - 1
    const ask = counterOver(() => stored)
    expect(ask(reserve('a'))).toBe(true)
    ask(settle('a', 'unknown'))
    // It was made anyway.
    stored = LIMIT
    expect(ask(reserve('b'))).toBe(false)
    stored = LIMIT - 1
    const late = counterOver(() => stored)
    late(reserve('a'))
    late(settle('a', 'unknown'))
    // It was not: the records are counted before anybody is refused.
    expect([late(reserve('b')), late(reserve('c'))]).toEqual([true, false])
  })
})

/** The counter of a user with nothing, behind a client that may have no room for another caller. */
class BusyService {
  /** `full`: nothing is sent; `silent`: no reply comes of what was. */
  callers: 'room' | 'full' | 'silent' = 'room'
  stored = 0
  readonly #shell = createQuotaShell(() => ({ wallets: 0, keys: 0, webhooks: this.stored }))
  readonly #counter = this.#shell.load(USER_ID)
  readonly #actors: Actors = {
    ask: (async (_, command) => {
      if (this.callers === 'full') return { ok: false, fault: fault('OVERLOADED') }
      const { replies } = this.#shell.decide(this.#counter, command as QuotaCommand, 1)
      const result = replies[0]?.result
      const isAnswered = this.callers === 'room' && result !== undefined
      return isAnswered ? result : { ok: false, fault: outcomeUnknown('journal') }
    }) as Actors['ask'],
    tell: (_, command) => {
      this.#shell.decide(this.#counter, command as QuotaCommand, null)
    },
  }

  create(handler: () => Answer<null>): Promise<Answer<null>> | Answer<null> {
    const ports = { actors: this.#actors, quotas: { webhooks: LIMIT }, timers: systemTimers() }
    const context = { userId: USER_ID } as ConsoleContext
    return withinQuota(ports as unknown as OperationPorts, 'webhooks', handler)(context, null)
  }

  /** How many more of them there is room for. */
  async room(): Promise<number> {
    this.callers = 'room'
    let made = 0
    const make = () => {
      this.stored++
      return ok(null)
    }
    while ((await this.create(make)).ok) made++
    return made
  }
}

describe('a place in a quota', () => {
  test('is given back however many callers wait by then', async () => {
    const service = new BusyService()
    for (let n = 0; n < LIMIT; n++) {
      service.callers = 'room'
      const refused = await service.create(() => {
        service.callers = 'full'
        return { ok: false, fault: fault('OVERLOADED') }
      })
      expect(refused).toMatchObject({ fault: { code: 'OVERLOADED' } })
    }
    expect(await service.room()).toBe(LIMIT)
  })

  test('is given back where its reservation was never answered', async () => {
    const service = new BusyService()
    service.callers = 'silent'
    const refused = await service.create(() => ok(null))
    // Its place is given back, so that nothing was done.
    expect(refused).toMatchObject({ fault: { code: 'WRITES_STOPPED' } })
    expect(await service.room()).toBe(LIMIT)
  })

  test('is kept by what was made without anybody hearing of it', async () => {
    const service = new BusyService()
    await service.create(() => {
      service.stored++
      return { ok: false, fault: outcomeUnknown('journal') }
    })
    expect(await service.room()).toBe(LIMIT - 1)
  })

  test('is not given back by one that never had it', async () => {
    const service = new BusyService()
    expect(await service.room()).toBe(LIMIT)
    for (const callers of ['full', 'room', 'silent'] as const) {
      service.callers = callers
      await service.create(() => ok(null))
    }
    expect(await service.room()).toBe(0)
  })
})
