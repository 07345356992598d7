import { afterAll, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { followJournal, NO_POSITION } from '../../src/store/follow-journal.js'
import { journalPositionOf } from '../../src/store/journal-position.js'
import { doWork, newDirectory, startOn } from '../journal/journaled-fixtures.js'
import { drawClaim } from '../journal/races.js'
import { storedInTheEnd } from '../journal/stored-in-the-end.js'
import { createPostgres } from '../support/postgres-server.js'

const log = { warn: () => undefined }
const STANDBY = 'second'
const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

async function opened(urls: readonly string[]): Promise<Journal> {
  const journal = await openPostgresJournal(urls, log)
  closing.push(() => journal.close())
  return journal
}

/** A server and its synchronous standby. */
async function pair() {
  const primary = await createPostgres()
  closing.push(() => primary.remove())
  const standby = await primary.follow(STANDBY)
  closing.push(() => standby.remove())
  primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`)
  primary.sql('SELECT pg_reload_conf()')
  await expect.poll(() => primary.sql('SELECT sync_state FROM pg_stat_replication')).toBe('sync')
  return { primary, standby }
}

test('a store goes on though the former primary is back, and lacks what the store has', async () => {
  const { primary, standby } = await pair()
  const urls = [primary.url, standby.url]
  const directory = newDirectory()
  const first = await startOn(await opened(urls), { directory })
  await doWork(first, 0, 3)
  await primary.kill()
  standby.promote()
  await doWork(first, 3, 3)
  await first.close()
  await primary.start()

  const second = await startOn(await opened(urls), { directory })
  await doWork(second, 6, 3)
  // One that follows, and comes by whatever failed to the server that lacks what it was told of.
  const follower = await opened([primary.url])
  const { epoch, seq, last } = { ...NO_POSITION, ...journalPositionOf(second.environment) }
  const position = { ...NO_POSITION, epoch, seq, last }
  const behind = followJournal(second.environment, follower, 0, seq + 1, position)
  await expect(behind).rejects.toThrow(JournalUnavailable)
}, 180_000)

test('a primary that dies loses nothing it called stored, and once its standby is promoted it stores nothing more', async () => {
  const { primary, standby } = await pair()
  const urls = [primary.url, standby.url]
  const leader = await opened(urls)
  const partitions = [1, 2, 3]
  const places = await Promise.all(
    partitions.map(async (partition) => ({
      partition,
      epoch: (await leader.acquire(partition, 'first', drawClaim())).epoch,
    })),
  )
  const stored = new Map<number, string[]>(partitions.map((partition) => [partition, []]))
  const count = () => Math.min(...[...stored.values()].map((entries) => entries.length))
  let isOver = false
  const appending = places.map(async (place) => {
    const entries = stored.get(place.partition) ?? []
    while (!isOver) {
      const entry = `partition ${place.partition}, entry ${entries.length + 1}`
      await storedInTheEnd(leader, { ...place, seq: entries.length + 1 }, Buffer.from(entry))
      entries.push(entry)
    }
  })
  await expect.poll(count).toBeGreaterThan(30)

  await primary.kill()
  standby.promote()
  const before = count()
  await expect.poll(count, { timeout: 60_000 }).toBeGreaterThan(before + 10)
  isOver = true
  await Promise.all(appending)
  for (const [partition, entries] of stored) {
    const there = await leader.read(partition, 0, 10_000_000)
    expect(there.map(({ body }) => Buffer.from(body).toString())).toEqual(entries)
  }

  // The old primary comes back and knows of nothing, but it waits for a standby that it has no more.
  await primary.start()
  const left = await opened([primary.url])
  await expect(left.acquire(1, 'misled', drawClaim())).rejects.toThrow(JournalUnavailable)

  const next = await opened(urls.toReversed())
  const { epoch, seq } = await next.acquire(1, 'second', drawClaim())
  expect(seq).toBe(stored.get(1)?.length)
  const place = { partition: 1, seq: seq + 1 }
  const zombie = { ...place, epoch: places[0]?.epoch ?? 0 }
  expect(await leader.append(zombie, Buffer.from('z'))).toEqual({ kind: 'fenced', epoch })
  expect(await next.append({ ...place, epoch }, Buffer.from('a'))).toEqual({ kind: 'stored' })
}, 180_000)
