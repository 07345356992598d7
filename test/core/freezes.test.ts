import { describe, expect, test } from 'vitest'
import { decide, evolve } from '../../actors/freezes/core/decide.js'
import type {
  FreezesCommand,
  FreezesEffect,
  FreezeTarget,
  Lifted,
} from '../../actors/freezes/core/messages.js'
import { type FreezesState, freezesState } from '../../actors/freezes/core/state.js'
import type { Freeze } from '../../src/domain/freeze.js'
import { createFreezeBook } from '../../src/domain/freeze-book.js'
import type { KeyId, LineageId, SubWalletId, UserId } from '../../src/domain/ids.js'
import { fault, ok, type Result, refuse } from '../../src/errors/fault.js'

const USER = 'user_1' as UserId
const WALLET = 'sw_1' as SubWalletId
const LINEAGE = 'key_1' as LineageId
const TARGET: FreezeTarget = {
  scope: 'key',
  name: `key:${LINEAGE}`,
  subWalletId: WALLET,
  lineageId: LINEAGE,
  keyId: 'key_2' as KeyId,
}
const LIFTED: Result<Lifted> = ok({ authorizedBy: 'passkey' })

/** One user's freezes, with what each step asked for. */
class Freezer {
  state: FreezesState = freezesState(USER, [])
  effects: FreezesEffect['type'][] = []
  stored = new Map<string, Freeze>()
  #tokens = 0

  /** @returns what the caller was answered, or the code that it was refused with; null: it waits */
  tell(command: FreezesCommand): unknown {
    const token = ++this.#tokens
    const { events, effects, replies } = decide(this.state, command, token)
    this.effects = effects.map(({ type }) => type)
    for (const event of events) {
      if (event.type === 'unfrozen') this.stored.delete(event.freeze.name)
      else this.stored.set(event.freeze.name, event.freeze)
    }
    const reply = replies.find((it) => it.token === token)
    if (reply === undefined) return null
    return reply.result.ok ? reply.result.value : reply.result.fault.code
  }

  freeze(nowMs: number): unknown {
    const said = { reason: 'lost', by: 'user', requestId: 'r', nowMs } as const
    return this.tell({ type: 'freeze', target: TARGET, ...said })
  }

  unfreeze(): unknown {
    const asked = { requestId: 'r', consoleToken: 't', authorization: null }
    return this.tell({ type: 'unfreeze', target: TARGET, ...asked })
  }

  notified(taken: boolean): unknown {
    return this.tell({ type: 'notified', name: TARGET.name, taken })
  }

  lifted(result: Result<Lifted>): unknown {
    return this.tell({ type: 'lifted', target: TARGET, result, nowMs: 9 })
  }

  crash(): void {
    this.state = freezesState(USER, [...this.stored.values()])
  }
}

function frozen(): Freezer {
  const freezer = new Freezer()
  freezer.freeze(1)
  freezer.notified(true)
  return freezer
}

describe('a freeze', () => {
  test('stops this side before anything is durable, and then the identity provider is notified', () => {
    const freezer = new Freezer()
    expect(freezer.freeze(1)).toMatchObject({ sinceMs: 1, custody: 'pending' })
    expect(freezer.effects).toEqual(['stop', 'notify'])
  })

  test('of what is frozen is answered with the first time', () => {
    const freezer = frozen()
    expect(freezer.freeze(2)).toMatchObject({ sinceMs: 1 })
    expect(freezer.effects).toEqual([])
  })

  test('is sent again until it is acknowledged, across a crash', () => {
    const freezer = new Freezer()
    freezer.freeze(1)
    freezer.notified(false)
    expect(freezer.effects).toEqual(['rest'])
    freezer.tell({ type: 'freezes-rested' })
    expect(freezer.effects).toEqual(['notify'])
    freezer.crash()
    freezer.tell({ type: 'resume' })
    expect(freezer.effects).toEqual(['notify'])
    freezer.notified(true)
    expect(freezer.stored.get(TARGET.name)).toMatchObject({ custody: 'current' })
    freezer.crash()
    freezer.tell({ type: 'resume' })
    expect(freezer.effects).toEqual([])
  })
})

describe('lifting a freeze', () => {
  test('is refused until the identity provider has the freeze', () => {
    const freezer = new Freezer()
    freezer.freeze(1)
    expect(freezer.unfreeze()).toBe('COSIGNER_UNAVAILABLE')
  })

  test('lets nothing go on before the identity provider has lifted it', () => {
    const freezer = frozen()
    expect(freezer.unfreeze()).toBeNull()
    expect(freezer.effects).toEqual(['lift'])
    expect(freezer.state.byName.size).toBe(1)
    freezer.lifted(LIFTED)
    expect(freezer.effects).toEqual(['go-on'])
    expect(freezer.stored.size).toBe(0)
  })

  test('that the user has yet to confirm changes nothing', () => {
    const freezer = frozen()
    freezer.unfreeze()
    freezer.lifted(refuse(fault('AUTHORIZATION_REQUIRED')))
    expect(freezer.effects).toEqual([])
    expect(freezer.stored.get(TARGET.name)).toMatchObject({ sinceMs: 1, custody: 'current' })
  })

  test.each(['is not known', 'is lost in a crash'])(
    'whose outcome %s leaves it frozen, there too',
    (how) => {
      const freezer = frozen()
      freezer.unfreeze()
      if (how === 'is not known') freezer.lifted(refuse(fault('COSIGNER_UNAVAILABLE')))
      else {
        freezer.crash()
        freezer.tell({ type: 'resume' })
      }
      expect(freezer.effects).toEqual(['notify'])
      expect(freezer.state.byName.size).toBe(1)
    },
  )

  test('loses to a freeze that comes meanwhile', () => {
    const freezer = frozen()
    freezer.unfreeze()
    expect(freezer.freeze(5)).toMatchObject({ sinceMs: 1 })
    freezer.lifted(LIFTED)
    expect(freezer.effects).toEqual(['notify'])
    expect(freezer.state.byName.size).toBe(1)
  })

  test('that comes to nothing does not pass for the identity provider’s word on a freeze since', () => {
    const freezer = new Freezer()
    freezer.unfreeze()
    expect(freezer.freeze(5)).toMatchObject({ custody: 'pending' })
    freezer.lifted(refuse(fault('AUTHORIZATION_REQUIRED')))
    expect(freezer.effects).toEqual(['notify'])
    expect(freezer.stored.get(TARGET.name)).toMatchObject({ sinceMs: 5, custody: 'pending' })
  })

  test('is asked of the identity provider where nothing is frozen here, as after a restore', () => {
    const freezer = new Freezer()
    expect(freezer.unfreeze()).toBeNull()
    expect(freezer.effects).toEqual(['lift'])
  })
})

describe('what is frozen', () => {
  const freeze: Freeze = {
    ...TARGET,
    userId: USER,
    sinceMs: 1,
    reason: null,
    by: 'user',
    custody: 'current',
  }
  const key = { userId: USER, subWalletId: WALLET, lineageId: LINEAGE }

  test('is its own lineage, wallet or user and nobody else', () => {
    const book = createFreezeBook([freeze], () => null)
    expect(book.freezeOf(key)).toMatchObject({ scope: 'key' })
    expect(book.freezeOf({ ...key, lineageId: 'key_9' as LineageId })).toBeNull()
    expect(book.freezeOf({ ...key, userId: 'user_2' as UserId })).toBeNull()
    book.put(USER, [])
    expect(book.freezeOf(key)).toBeNull()
  })

  test('is everything while the operator says so', () => {
    const whole = { scope: 'instance', sinceMs: 1, reason: null, by: 'operator' } as const
    const book = createFreezeBook([freeze], () => whole)
    expect(book.freezeOf({ ...key, userId: 'user_2' as UserId })).toEqual(whole)
  })

  test('is the same after its events were folded again', () => {
    const freezer = frozen()
    const again = freezesState(USER, [])
    evolve(again, { type: 'frozen', freeze, requestId: 'r' })
    expect([...again.byName.keys()]).toEqual([...freezer.state.byName.keys()])
  })
})
