import { beforeEach, expect, test } from 'vitest'
import type { Envelope } from '../../actors/runtime/actor.js'
import type {
  UserBreakersCommand,
  UserBreakersEffect,
  UserBreakersEvent,
  UserBreakersState,
} from '../../actors/user-breakers/core/decide.js'
import { createUserBreakersShell } from '../../actors/user-breakers/shell.js'
import type { SubWalletId } from '../../src/domain/ids.js'
import { createUserBreakerBook, type UserBreakerBook } from '../../src/domain/user-breaker-book.js'
import { USER_BREAKER_PRESETS, type Watched } from '../../src/policy/user-breakers.js'
import type { Reader } from '../../src/store/reader.js'
import { KEY_ID, START_MS, wallet } from '../actors/wallet-fixtures.js'
import { World } from './world.js'

const { userId } = wallet
const STRANGER = `0x${'7'.repeat(40)}` as const

type Breakers = World<UserBreakersState, UserBreakersCommand, UserBreakersEvent, UserBreakersEffect>

let world: Breakers
let book: UserBreakerBook
let told: Envelope[]

/** As the worker builds it, on the store of the world. */
function shellOf(reader: Reader) {
  const tell = (envelope: Envelope) => void told.push(envelope)
  return createUserBreakersShell({ reader, book, tell, auditLog: { settleSoon() {} } })
}

beforeEach(async () => {
  told = []
  book = createUserBreakerBook([])
  world = new World({
    load: (reader) => shellOf(reader).load(userId),
    decide: (state, command, token) => shellOf(world.reader).decide(state, command, token),
    record: (writer, state, events) => shellOf(world.reader).record(writer, state, events),
  })
})

async function handle(command: UserBreakersCommand): Promise<void> {
  await world.handle(command, 1)
  for (const effect of world.pending.splice(0)) {
    shellOf(world.reader).run(userId, effect, () => {})
  }
}

function set(preset: keyof typeof USER_BREAKER_PRESETS, nowMs = START_MS): Promise<void> {
  const breakers = USER_BREAKER_PRESETS[preset]
  return handle({ type: 'set', breakers, requestId: 'request-1', nowMs })
}

function pay(n: number): Promise<void> {
  const subWalletId = `sw_${n}` as SubWalletId
  const at = { atMs: START_MS + n, micros: 1n }
  const seen: Watched = { type: 'signed', ...at, subWalletId, newPayees: [STRANGER] }
  return handle({ type: 'watched', seen, keyId: KEY_ID, requestId: `request-${n}` })
}

test('wallets that pay one stranger get their user frozen, also when the process died in between', async () => {
  expect(book.of(userId)).toBeNull()
  await set('strict')
  expect(book.of(userId)).toEqual({ refused: true, signed: true, payees: true })
  for (const n of [1, 2]) {
    await pay(n)
    expect(told).toEqual([])
    world.restart()
  }
  // A start knows whose wallets have to tell.
  expect(createUserBreakerBook(world.reader.userBreakers.all()).of(userId)).not.toBeNull()
  await pay(3)
  const reason = `breaker: 3 sub-wallets paid ${STRANGER} for the first time in 3600 s, where 3 are too many`
  expect(told).toMatchObject([
    {
      ...{ kind: 'freezes', userId },
      command: {
        ...{ type: 'freeze', by: 'breaker', reason, requestId: 'request-3' },
        ...{ nowMs: START_MS + 3, target: { scope: 'user', name: 'user' } },
      },
    },
  ])
  expect(world.loaded().tally).toEqual({ refused: [], signed: [], shared: [] })
})

test('what is set and taken away is in the trail, and leaves nothing stored', async () => {
  await set('usual')
  await set('off', START_MS + 1)
  expect(book.of(userId)).toBeNull()
  expect(world.reader.userBreakers.of(userId)).toBeUndefined()
  const trail = world.reader.audit.ofUser(userId, { limit: 10, cursor: null }, () => true).items
  expect(trail.map(({ type, details }) => [type, (details.breakers as unknown[]).length])).toEqual([
    ['breakers.set', 0],
    ['breakers.set', 4],
  ])
  await pay(1)
  expect(world.reader.userBreakers.of(userId)).toBeUndefined()
})

test('refusals are counted without a write', async () => {
  await set('strict')
  const stored = world.reader.userBreakers.of(userId)
  for (let n = 1; n <= 50; n++) {
    expect(told).toEqual([])
    const seen = { type: 'refused', atMs: START_MS + n } as const
    await handle({ type: 'watched', seen, keyId: KEY_ID, requestId: `request-${n}` })
    if (n < 50) expect(world.reader.userBreakers.of(userId)).toEqual(stored)
  }
  expect(told).toHaveLength(1)
})
