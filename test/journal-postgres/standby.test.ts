import { afterAll, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
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

test('a primary that dies loses nothing it called stored, and once its standby is promoted it stores nothing more', async () => {
  const primary = await createPostgres()
  closing.push(() => primary.remove())
  const standby = await primary.follow(STANDBY)
  closing.push(() => standby.remove())
  primary.sql(`ALTER SYSTEM SET synchronous_standby_names = '${STANDBY}'`)
  primary.sql('SELECT pg_reload_conf()')
  await expect.poll(() => primary.sql('SELECT sync_state FROM pg_stat_replication')).toBe('sync')

  const urls = [primary.url, standby.url]
  const owner = await opened(urls)
  const partitions = [1, 2, 3]
  const places = await Promise.all(
    partitions.map(async (partition) => ({
      partition,
      epoch: (await owner.take(partition, 'first', drawClaim())).epoch,
    })),
  )
  const stored = new Map<number, string[]>(partitions.map((partition) => [partition, []]))
  const count = () => Math.min(...[...stored.values()].map((entries) => entries.length))
  let isOver = false
  const appending = places.map(async (place) => {
    const entries = stored.get(place.partition) ?? []
    while (!isOver) {
      const entry = `partition ${place.partition}, entry ${entries.length + 1}`
      await storedInTheEnd(owner, { ...place, seq: entries.length + 1 }, Buffer.from(entry))
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
    const there = await owner.read(partition, 0, 10_000_000)
    expect(there.map(({ body }) => Buffer.from(body).toString())).toEqual(entries)
  }

  // The old primary comes back and knows of nothing, but it waits for a standby that it has no more:
  // nothing that it has is believed, though it is asked first.
  await primary.start()
  await expect(openPostgresJournal([primary.url], log)).rejects.toThrow(JournalUnavailable)

  const next = await opened(urls)
  const { epoch, seq } = await next.take(1, 'second', drawClaim())
  expect(seq).toBe(stored.get(1)?.length)
  const place = { partition: 1, seq: seq + 1 }
  const zombie = { ...place, epoch: places[0]?.epoch ?? 0 }
  expect(await owner.append(zombie, Buffer.from('z'))).toEqual({ kind: 'fenced', epoch })
  expect(await next.append({ ...place, epoch }, Buffer.from('a'))).toEqual({ kind: 'stored' })
}, 180_000)
