import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { leaveUserSide } from '../../src/cli/commands/cluster/user-side.js'
import { systemTimers } from '../../src/clock/timers.js'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import { noteUnfenced, unfencedEvidence } from '../../src/custody/domain-keys/pending-restore.js'
import {
  freezeInstance,
  instanceFreezePath,
  readInstanceFreeze,
} from '../../src/custody/instance-freeze.js'
import { rotateWrappingKey } from '../../src/custody-tools/maintenance/rotate-wrapping-key.js'
import { writeJournalPermit } from '../../src/disk/journal-permit.js'
import {
  beginning,
  type JournaledStores,
  leaveJournal,
  openJournaledStores,
} from '../../src/identity-provider/journal/stores.js'
import { createUserSideWriter } from '../../src/identity-provider/journal/writer.js'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import {
  acquireFrom,
  copyOf,
  NO_LOG,
  newHome,
  nodeOf,
  openLate,
  openOn,
  rowsIn,
  storeIn,
} from './identity-fixtures.js'

const SLOW = { timeout: 20_000 }
const TIMEOUT_MS = 60_000
const MIB = 1024 * 1024

/** A way to the engine that ends, as its process does. */
function dying(journal: Journal, isDead: (asked: keyof Journal) => boolean): Journal {
  const alive = <Arguments extends unknown[], T>(
    name: keyof Journal,
    ask: (...asked: Arguments) => Promise<T>,
  ) => {
    return (...asked: Arguments): Promise<T> =>
      isDead(name) ? Promise.reject(new Error('killed')) : ask(...asked)
  }
  return {
    ...journal,
    append: alive('append', journal.append),
    read: alive('read', journal.read),
  }
}

test(
  'an acquisition that was broken off before it took back what nobody was told does so the next time',
  async () => {
    const engine = createMemoryEngine()
    const home = await newHome()
    const leader = await openOn(engine, home)
    await leader.write('ledger', { grant: 'v1' })
    await leader.settled()
    const other = await nodeOf(home)
    await leader.kill()
    const late = openLate(home)
    await late.write('ledger', { grant: 'enlarged, and nobody was told' })
    await late.write('evidence', { entry: 'nobody heard of' })
    await late.kill()
    const second = await acquireFrom(engine, other)
    await second.write('ledger', { grant: 'revoked' })
    await second.write('evidence', { entry: 'of the second' })
    await second.settled()
    await second.kill()
    let isTaken = false
    const inner = engine.connect()
    const mortal = dying(
      {
        ...inner,
        async acquire(...asked) {
          const taken = await inner.acquire(...asked)
          isTaken = true
          return taken
        },
      },
      (name) => isTaken && name === 'read',
    )
    writeJournalPermit(home, 'user', (await engine.connect().readHead(0)).epoch)
    await expect(openOn(engine, home, { connect: async () => mortal })).rejects.toThrow('killed')
    const again = await openOn(engine, home)
    await again.settled()
    expect(await rowsIn(home)).toEqual({
      ...{ 'ledger grant': 'revoked', 'evidence entry': 'of the second' },
    })
  },
  TIMEOUT_MS,
)

test(
  'what an owner stored a part of alone is nothing, at each home',
  async () => {
    const engine = createMemoryEngine()
    const home = await newHome()
    let appended = 0
    let limit = Number.POSITIVE_INFINITY
    const mortal = dying(engine.connect(), (name) => name === 'append' && ++appended > limit)
    const leader = await openOn(engine, home, { connect: async () => mortal })
    const [second, third] = [await nodeOf(home), await nodeOf(home)]
    await leader.settled()
    limit = appended + 1
    const long = Object.fromEntries(
      Array.from({ length: 6 }, (_, at) => [`part ${at}`, Buffer.alloc(MIB, at)]),
    )
    await leader.write('evidence', long)
    await Promise.resolve(leader.settled()).catch(() => undefined)
    await leader.kill()
    const next = await acquireFrom(engine, second)
    await next.write('ledger', { small: 1 })
    await next.settled()
    await next.kill()
    await (await acquireFrom(engine, third)).kill()
    expect(await rowsIn(second)).toEqual({ 'ledger small': 1 })
    expect(await rowsIn(third)).toEqual({ 'ledger small': 1 })
  },
  TIMEOUT_MS,
)

test('a home that was copied between the parts of an entry comes to what was told after', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const inner = engine.connect()
  let held = 0
  let goOn = (): void => undefined
  const slow: Journal = {
    ...inner,
    async append(...asked) {
      if (held > 0 && --held === 0) await new Promise<void>((go) => (goOn = go))
      return inner.append(...asked)
    },
  }
  const leader = await openOn(engine, home, { connect: async () => slow })
  await leader.write('ledger', { grant: 'v0' })
  await leader.settled()
  held = 3
  const parts = Array.from({ length: 12 }, (_, at) => [`p${at}`, Buffer.alloc(MIB, at)])
  await leader.write('ledger', { grant: 'trade', ...Object.fromEntries(parts) })
  const settling = leader.settled()
  await vi.waitFor(() => expect(held).toBe(0), SLOW)
  // What was stored before is forgotten meanwhile.
  await sleep(2_000)
  const other = await nodeOf(home)
  goOn()
  await settling
  await leader.write('ledger', { grant: 'revoked' })
  await leader.settled()
  await leader.close()
  await acquireFrom(engine, other)
  expect((await rowsIn(other))['ledger grant']).toBe('revoked')
})

test('a node’s home ends no owner by itself, and keeps nothing that is written past its journal', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  await leader.write('login', { user: 'v1' })
  await leader.settled()
  const other = await nodeOf(home)
  await expect(openOn(engine, other)).rejects.toThrow('cluster take --domain user')
  const standby = openOn(engine, other, { role: 'standby' })
  await sleep(500)
  const command = openLate(other)
  await command.write('login', { user: 'by a command at the standby' })
  await command.kill()
  await leader.write('login', { user: 'v2, told' })
  await leader.settled()
  await leader.close()
  await (await standby).close()
  expect(await rowsIn(other)).toEqual({ 'login user': 'v2, told' })
})

test('each home wraps its data keys by itself: a rotation at one is none at the other', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  const standby = openOn(engine, other, { role: 'standby' })
  await rotateWrappingKey(home, 'user')
  await leader.write('ledger', { after: 1 })
  await leader.settled()
  await leader.close()
  await (await standby).close()
  await rotateWrappingKey(other, 'user')
  const again = await openOn(engine, other)
  expect(await rowsIn(other)).toEqual({ 'ledger after': 1 })
  await again.kill()
})

test('a backup that is not fenced begins no journal, and loses no word of it', async () => {
  const home = await newHome()
  const layout = userSideLayout(home)
  noteUnfenced(layout, 'of-backup')
  await expect(openOn(createMemoryEngine(), home)).rejects.toThrow('custody fence')
  expect(unfencedEvidence(layout)).toBe('of-backup')
})

test('a backup that is put back is brought up to now by its journal, and needs no fence then', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  await leader.settled()
  const backup = copyOf(home)
  await leader.write('ledger', { grant: 'revoked since' })
  await leader.settled()
  await leader.kill()
  noteUnfenced(userSideLayout(backup), 'of-backup')
  await openOn(engine, backup)
  expect(await rowsIn(backup)).toEqual({ 'ledger grant': 'revoked since' })
  expect(unfencedEvidence(userSideLayout(backup))).toBeNull()
  const lost = copyOf(home)
  noteUnfenced(userSideLayout(lost), 'of-backup')
  await leaveJournal(lost)
  await expect(openOn(createMemoryEngine(), lost)).rejects.toThrow('custody fence')
})

test('a home that leaves its journal is frozen where that said so', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  freezeInstance(instanceFreezePath(home, 'user'), 'broken into', 1_790_000_000_000)
  const before = (await engine.connect().readHead(0)).seq
  await vi.waitFor(
    async () => expect((await engine.connect().readHead(0)).seq).toBeGreaterThan(before),
    SLOW,
  )
  await leader.kill()
  const second = await acquireFrom(engine, other)
  await second.kill()
  const path = instanceFreezePath(other, 'user')
  rmSync(path)
  await leaveUserSide(other, { err: () => undefined })
  expect(readInstanceFreeze(path)).toMatchObject({ reason: 'broken into' })
})

/** A writer on the stores of a home, without the rest. */
async function writerOn(home: string, change: (stores: JournaledStores) => JournaledStores) {
  const engine = createMemoryEngine()
  const journal = engine.connect()
  const { epoch } = await journal.acquire(0, 'node', 'claim')
  const stores = change(openJournaledStores(home))
  const plain = (bytes: Uint8Array) => Buffer.from(bytes)
  const writer = createUserSideWriter({
    ...{ journal, partition: 0, stores, sealer: { seal: plain, open: plain }, log: NO_LOG },
    position: { ...beginning('00'.repeat(16), 'claim'), epoch },
    timers: systemTimers(),
    fatal: (error) => {
      throw error
    },
  })
  return { engine, stores, writer }
}

async function recordedHome(): Promise<string> {
  const home = await newHome()
  await (await openOn(createMemoryEngine(), home)).close()
  return home
}

test('what was not forgotten for want of room is forgotten later, and the store is no further till then', async () => {
  const home = await recordedHome()
  let failing = 1
  const { stores, writer } = await writerOn(home, (real) => ({
    ...real,
    all: real.all.map((store) => ({
      ...store,
      commit: (...asked: Parameters<typeof store.commit>) => {
        if (store.name !== 'vault/ledger' || failing-- <= 0) return store.commit(...asked)
        return Promise.reject(new Error('No space left on device'))
      },
    })),
  }))
  const late = openLate(home)
  await late.write('ledger', { grant: 'trade' })
  await writer.settled()
  await vi.waitFor(() => expect(failing).toBeLessThan(1), SLOW)
  const [, , ledger] = stores.all
  expect([...(ledger?.writes.numbers() ?? [])]).toHaveLength(1)
  await late.write('ledger', { grant: 'revoked' })
  await writer.settled()
  await vi.waitFor(() => expect([...(ledger?.writes.numbers() ?? [])]).toHaveLength(0), SLOW)
  await late.kill()
  await writer.close()
  await stores.close()
})

test(
  'answers wait for writes of each opening of a store, in whatever order they are on disk',
  async () => {
    const home = await recordedHome()
    const { engine, stores, writer } = await writerOn(home, (real) => real)
    const [one, two] = [storeIn(home, 'ledger'), storeIn(home, 'ledger')]
    const first = one.openDB<unknown, string>({ name: '90-test' })
    const second = two.openDB<unknown, string>({ name: '91-test' })
    const journal = engine.connect()
    const rounds = 60
    async function bytesStored(): Promise<string> {
      const entries = await journal.read(0, 0, Number.MAX_SAFE_INTEGER)
      return entries.map(({ body }) => Buffer.from(body).toString('latin1')).join()
    }
    async function each(name: string, write: (key: string) => Promise<unknown>): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        const key = `${name}-${round}-`
        await write(key)
        await writer.settled()
        expect(await bytesStored()).toContain(key)
      }
    }
    await Promise.all([
      each('batch', (key) => one.batch(() => void first.put(key, 1))),
      each('condition', (key) => second.ifNoExists(key, () => void second.put(key, 1))),
      each('transaction', (key) => two.transaction(() => void second.put(key, 1))),
    ])
    await writer.close()
    for (const root of [one, two]) await root.close()
    await stores.close()
  },
  TIMEOUT_MS,
)

test('a leader that is killed while it acquires leadership goes on by itself', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  await leader.write('ledger', { grant: 0 })
  await leader.settled()
  const backup = copyOf(home)
  for (let grant = 1; grant < 6; grant++) {
    await leader.write('ledger', { grant })
    await leader.settled()
  }
  await leader.kill()
  const inner = engine.connect()
  let reads = Number.NEGATIVE_INFINITY
  const mortal: Journal = {
    ...inner,
    async acquire(...asked) {
      const taken = await inner.acquire(...asked)
      reads = 0
      return taken
    },
    async read(...asked) {
      if (++reads > 2) throw new Error('killed')
      return (await inner.read(...asked)).slice(0, 1)
    },
  }
  const opening = openOn(engine, backup, { connect: async () => mortal })
  await expect(opening).rejects.toThrow('killed')
  await openOn(engine, backup)
  expect(await rowsIn(backup)).toEqual({ 'ledger grant': 5 })
})

test('one that is killed after an acquisition, and before the next one, goes on by itself', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  await leader.settled()
  await leader.kill()
  const inner = engine.connect()
  for (const isAsked of [true, false, false]) {
    const mortal: Journal = {
      ...inner,
      async acquire(...asked) {
        if (isAsked) await inner.acquire(...asked)
        throw new Error('killed')
      },
    }
    const opening = openOn(engine, home, { connect: async () => mortal })
    await expect(opening).rejects.toThrow('killed')
  }
  expect((await openOn(engine, home)).isLeader()).toBe(true)
})

test('an owner that is unsure when it is told to end says that it leaves', async () => {
  let isAway = false
  const engine = createMemoryEngine(async () => {
    if (isAway) throw new JournalUnavailable('away')
  })
  const leader = await openOn(engine, await newHome())
  await vi.waitFor(() => expect(leader.settled()).toBeNull(), SLOW)
  isAway = true
  await vi.waitFor(() => expect(leader.isLeader()).toBe(false), { ...SLOW, interval: 5 })
  isAway = false
  await leader.close()
  expect((await engine.connect().readHead(0)).beat?.state).toBe('leaves')
})
