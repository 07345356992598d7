import { mkdirSync, rmSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { userSideLayout } from '../../src/custody/domain-keys/layout.js'
import {
  freezeInstance,
  instanceFreezePath,
  readInstanceFreeze,
} from '../../src/custody/instance-freeze.js'
import { beginJournal } from '../../src/identity-provider/journal/begin-journal.js'
import { leaveJournal, positionIn } from '../../src/identity-provider/journal/stores.js'
import { JournalUnavailable } from '../../src/journal/journal.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { seededRandom } from '../faults/random.js'
import { VirtualTimers } from '../support/virtual-timers.js'
import {
  acquireFrom,
  copyOf,
  NO_LOG,
  newHome,
  nodeOf,
  openLate,
  openOn,
  positionOfAll,
  rowsIn,
  STORES,
} from './identity-fixtures.js'

const SLOW = { timeout: 20_000 }

test('what was written before an answer is in the stores of whoever goes on', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  await leader.write('login', { 'a@example.com': { hash: Buffer.from('argon2') } })
  await leader.write('shares', { wallet: [1, 2, 3], gone: true })
  await leader.write('ledger', { grant: 'v1' })
  await leader.write('evidence', { entry: 7n.toString() })
  await leader.write('ledger', { grant: 'v2' })
  await leader.write('shares', { gone: null })
  await leader.settled()
  await leader.kill()
  await acquireFrom(engine, other)
  expect(await rowsIn(other)).toEqual({
    ...{ 'login a@example.com': { hash: Buffer.from('argon2') }, 'shares wallet': [1, 2, 3] },
    ...{ 'ledger grant': 'v2', 'evidence entry': '7' },
  })
})

test('an answer waits for what was written before it, and for nothing where all is stored', async () => {
  let held: (() => void)[] | null = null
  const engine = createMemoryEngine(
    () => new Promise((go) => (held === null ? go() : held.push(go))),
  )
  const leader = await openOn(engine, await newHome())
  await vi.waitFor(() => expect(leader.settled()).toBeNull(), SLOW)
  held = []
  await leader.write('ledger', { one: 1 })
  let isSettled = false
  const settling = leader.settled()?.then(() => {
    isSettled = true
  })
  await leader.write('evidence', { two: 2 })
  const next = leader.settled()
  expect([settling, next]).not.toContain(null)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(isSettled).toBe(false)
  const waiting = held
  held = null
  for (const go of waiting) go()
  await settling
  await next
  expect(leader.settled()).toBeNull()
})

test('of an owner that dies, what the journal has not is its own as long as nobody has gone on', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const first = await openOn(engine, home)
  await first.write('ledger', { stored: 1 })
  await first.settled()
  await first.kill()
  // Written, as by a command while nobody runs, and in no entry.
  const { write, kill } = openLate(home)
  await write('ledger', { stored: 2, left: 1 })
  await kill()
  const second = await openOn(engine, home)
  expect(await rowsIn(home)).toEqual({ 'ledger stored': 2, 'ledger left': 1 })
  await second.kill()
})

test('where another has gone on, what the journal does not have is taken back', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  await leader.write('ledger', { kept: 1, changed: 1, gone: 1 })
  await leader.settled()
  await leader.kill()
  const late = openLate(home)
  await late.write('ledger', { changed: 2, gone: null, added: 1 })
  await late.write('evidence', { entry: 'nobody heard of' })
  await late.write('ledger', { changed: 3 })
  await late.kill()
  const second = await acquireFrom(engine, other)
  await second.write('ledger', { kept: 2 })
  await second.write('evidence', { entry: 'another' })
  await second.settled()
  await second.kill()
  await acquireFrom(engine, home)
  const expected = {
    ...{ 'ledger kept': 2, 'ledger changed': 1, 'ledger gone': 1 },
    'evidence entry': 'another',
  }
  expect(await rowsIn(home)).toEqual(expected)
  expect(await rowsIn(other)).toEqual(expected)
})

test('one that was taken over from decides nothing more, and hears of it', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  expect(leader.isLeader()).toBe(true)
  await acquireFrom(engine, await nodeOf(home))
  await vi.waitFor(() => expect(leader.failures).toHaveLength(1), SLOW)
  expect(leader.isLeader()).toBe(false)
  await expect(leader.settled()).rejects.toThrow('acquired the journal')
})

test('while the journal is away nothing is decided, and all goes on once it is back', async () => {
  let isAway = false
  const engine = createMemoryEngine(async () => {
    if (isAway) throw new JournalUnavailable('away')
  })
  const leader = await openOn(engine, await newHome())
  isAway = true
  await leader.write('ledger', { during: 1 })
  const settling = leader.settled()
  await vi.waitFor(() => expect(leader.isLeader()).toBe(false), SLOW)
  isAway = false
  await settling
  await vi.waitFor(() => expect(leader.isLeader()).toBe(true), SLOW)
  expect(leader.failures).toEqual([])
})

test('writes that are too long for an entry come in parts, and are there all or not at all', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  const long = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`part ${at}`, Buffer.alloc(1024 * 1024, at)]),
  )
  await leader.write('shares', long)
  await leader.settled()
  const { seq } = await engine.connect().readHead(0)
  expect(seq).toBeGreaterThan(3)
  await leader.kill()
  await acquireFrom(engine, other)
  expect(Object.keys(await rowsIn(other))).toHaveLength(12)
})

test('a home is refused where the journal is not its own, or was set back', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const before = copyOf(home)
  const leader = await openOn(engine, home)
  await leader.write('ledger', { a: 1 })
  await leader.settled()
  await leader.close()
  await expect(openOn(engine, before)).rejects.toThrow('name an empty engine')
  await expect(openOn(engine, before, { role: 'standby' })).rejects.toThrow('made of a home')
  await expect(openOn(createMemoryEngine(), home)).rejects.toThrow('rolled back')
  const strange = await newHome()
  await (await openOn(createMemoryEngine(), strange)).close()
  await expect(openOn(engine, strange)).rejects.toThrow('cannot be opened')
  const ofService = createMemoryEngine()
  const journal = ofService.connect()
  await journal.acquire(0, 'service', 'claim')
  for (const seq of [1, 2, 3]) {
    await journal.append({ partition: 0, epoch: 1, seq }, Buffer.from([2, 0, 0, 0]))
  }
  await expect(openOn(ofService, home)).rejects.toThrow("not an identity provider's")
})

test('a home whose journal another took goes on by its operator’s word alone', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  await (await openOn(engine, home)).kill()
  const other = await nodeOf(home)
  await (await acquireFrom(engine, other)).kill()
  await expect(openOn(engine, home)).rejects.toThrow('cluster take --domain user')
  await acquireFrom(engine, home)
})

test('stores that nothing is written to are not behind what is trimmed', async () => {
  const engine = createMemoryEngine()
  const timers = new VirtualTimers(Date.now())
  const home = await newHome()
  const leader = await openOn(engine, home, { timers })
  await leader.write('ledger', { one: 1 })
  await leader.settled()
  await vi.waitFor(async () => {
    await timers.pass(10_000)
    expect(await positionOfAll(home)).toBe((await engine.connect().readHead(0)).seq)
  }, SLOW)
  await leader.kill()
  const { seq } = await engine.connect().readHead(0)
  await engine.connect().trim(0, seq)
  await openOn(engine, home)
})

test('one that waits reads each entry once, and is not behind once it has all', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  await leader.settled()
  const inner = engine.connect()
  let looks = 0
  let reads = 0
  let progress: unknown = null
  const journal: typeof inner = {
    ...inner,
    readHead(partition) {
      looks++
      return inner.readHead(partition)
    },
    read(...asked) {
      reads++
      return inner.read(...asked)
    },
  }
  const waiting = openOn(engine, copyOf(home), {
    ...{ role: 'standby', connect: async () => journal },
    followed: (next) => {
      progress = next
    },
  })
  // To one store alone: the others do not say at once that it is nothing to them.
  await leader.write('ledger', { grant: 'v1' })
  await leader.settled()
  const { seq } = await inner.readHead(0)
  await vi.waitFor(() => expect(progress).toMatchObject({ stored: seq, applied: seq }), SLOW)
  const [looked, read] = [looks, reads]
  await vi.waitFor(() => expect(looks).toBeGreaterThan(looked + 5), SLOW)
  expect(reads).toBe(read)
  await leader.close()
  await waiting
})

test('a store that was lost is not made up', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  await (await openOn(engine, home)).close()
  const { evidence } = userSideLayout(home)
  rmSync(evidence, { recursive: true })
  mkdirSync(evidence)
  await expect(openOn(engine, home)).rejects.toThrow('vault/evidence')
})

test('a freeze of the operator’s is with whoever takes over, and its end too', async () => {
  const engine = createMemoryEngine()
  const home = await newHome()
  const leader = await openOn(engine, home)
  const other = await nodeOf(home)
  freezeInstance(instanceFreezePath(home, 'user'), 'broken into', 1_790_000_000_000)
  await vi.waitFor(
    async () => expect((await engine.connect().readHead(0)).seq).toBeGreaterThan(1),
    SLOW,
  )
  await leader.kill()
  const second = await acquireFrom(engine, other)
  const path = instanceFreezePath(other, 'user')
  expect(readInstanceFreeze(path)).toMatchObject({ reason: 'broken into' })
  rmSync(path)
  await vi.waitFor(
    async () => expect((await engine.connect().readHead(0)).seq).toBeGreaterThan(2),
    SLOW,
  )
  await second.kill()
  rmSync(instanceFreezePath(home, 'user'))
  await acquireFrom(engine, home)
  expect(readInstanceFreeze(instanceFreezePath(home, 'user'))).toBeNull()
})

test('a home with a journal does not start without it, until it was left', async () => {
  const home = await newHome()
  await (await openOn(createMemoryEngine(), home)).close()
  const without = () =>
    beginJournal({
      ...{ home, mode: 'dev', fileKeys: 'allowed', role: 'owner', node: 'test', file: null },
      metrics: { watchJournal: () => undefined },
      log: { ...NO_LOG, fatal: () => undefined },
    } as never)
  await expect(without()).rejects.toThrow('IDENTITY_JOURNAL_FILE is not set')
  await leaveJournal(home)
  expect(await positionIn(home)).toBeNull()
  expect(await without()).toBeNull()
  // And may begin another.
  await (await openOn(createMemoryEngine(), home)).close()
})

const SEEDS = Number(process.env.IDENTITY_JOURNAL_SEEDS ?? 12)
const STEPS = 14

test(
  'the leader after kills and failovers has all that was settled, and all homes agree',
  async () => {
    for (let seed = 1; seed <= SEEDS; seed++) await live(seed)
  },
  SEEDS * 20_000,
)

/** One life of three homes; what fails names the seed. */
async function live(seed: number): Promise<void> {
  const { integer, pick } = seededRandom(seed)
  const engine = createMemoryEngine()
  const first = await newHome()
  let at = first
  let leader = await openOn(engine, at)
  const homes = [first, await nodeOf(first), await nodeOf(first)]
  const settled = new Map<string, number>()
  const unsure = new Map<string, Set<number | null>>()
  let value = 0
  for (let step = 0; step < STEPS; step++) {
    const written: (readonly [string, number])[] = []
    for (let writes = integer(4); writes > 0; writes--) {
      const store = pick(STORES)
      const key = `key ${integer(5)}`
      value++
      await leader.write(store, { [key]: value })
      written.push([`${store} ${key}`, value])
    }
    const isSettled = integer(3) > 0
    if (isSettled) await leader.settled()
    for (const [key, its] of written) {
      if (isSettled) {
        settled.set(key, its)
        unsure.delete(key)
      } else {
        const before = unsure.get(key) ?? new Set([settled.get(key) ?? null])
        unsure.set(key, before.add(its))
      }
    }
    const next = integer(3)
    if (next === 0) continue
    await leader.kill()
    if (next === 2) {
      at = pick(homes.filter((home) => home !== at))
      leader = await acquireFrom(engine, at)
    } else leader = await openOn(engine, at)
    const rows = await rowsIn(at)
    for (const [key, its] of settled) {
      const may = unsure.get(key) ?? new Set([its])
      expect([...may], `seed ${seed}, step ${step}, ${key}`).toContain(rows[key] ?? null)
    }
    // What the owner has now is what it goes on from: from here on it is stored.
    await leader.settled()
    for (const [key] of unsure) {
      const found = rows[key]
      if (typeof found === 'number') settled.set(key, found)
      else settled.delete(key)
    }
    unsure.clear()
  }
  await leader.settled()
  await leader.kill()
  const all: Record<string, unknown>[] = []
  for (const home of homes) {
    await (await acquireFrom(engine, home)).kill()
    all.push(await rowsIn(home))
  }
  expect(all[1], `seed ${seed}`).toEqual(all[0])
  expect(all[2], `seed ${seed}`).toEqual(all[0])
}
