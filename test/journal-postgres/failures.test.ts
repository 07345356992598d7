import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Journal, JournalUnavailable } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { drawClaim } from '../journal/races.js'
import { storedInTheEnd } from '../journal/stored-in-the-end.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

const log = { warn: () => undefined }
const WAITS_FOR_STANDBY =
  "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'countersign' AND wait_event = 'SyncRep'"
const END_ALL_SQL =
  "SELECT count(pg_terminate_backend(pid)) AS ended FROM pg_stat_activity WHERE application_name = 'countersign'"
const WAITS_FOR_ROW =
  "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'countersign' AND wait_event_type = 'Lock'"
const POLL_MS = 1
const ENTRIES = 200

describe('the journal in a Postgres that fails', () => {
  let server: PostgresServer
  let journal: Journal
  let partition = 0
  const text = (value: string) => Buffer.from(value)
  const read = async (at: number) =>
    (await journal.read(at, 0, 1_000_000)).map(({ body }) => Buffer.from(body).toString())

  beforeAll(async () => {
    server = await createPostgres()
    journal = await openPostgresJournal([server.url], log)
  })
  afterAll(async () => {
    await journal?.close()
    await server?.remove()
  })

  async function owned() {
    const own = ++partition
    const { epoch } = await journal.acquire(own, 'one', drawClaim())
    return { partition: own, at: (seq: number) => ({ partition: own, epoch, seq }) }
  }

  function setStandby(name: string): void {
    server.sql(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    server.sql('SELECT pg_reload_conf()')
  }

  test('an entry whose wait for the standby was broken off is not called stored until a standby has it', async () => {
    const { at, partition: own } = await owned()
    await journal.append(at(1), text('on both'))
    setStandby('nobody')
    try {
      const unknown = expect(journal.append(at(2), text('here alone'))).rejects.toThrow(
        JournalUnavailable,
      )
      await expect.poll(() => server.sql(WAITS_FOR_STANDBY)).toBe('1')
      server.sql(
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign' AND wait_event = 'SyncRep'",
      )
      await unknown
      // It is here, and is not known to be anywhere else: whoever asks again waits.
      expect(await read(own)).toEqual(['on both', 'here alone'])
      let isTold = false
      const again = journal.append(at(2), text('here alone')).finally(() => {
        isTold = true
      })
      await expect.poll(() => server.sql(WAITS_FOR_STANDBY)).toBe('1')
      expect(isTold).toBe(false)
      setStandby('')
      expect(await again).toEqual({ kind: 'stored' })
    } finally {
      setStandby('')
    }
    expect(await read(own)).toEqual(['on both', 'here alone'])
  })

  test('connections that end amid appends lose no entry and store none twice', async () => {
    const { at, partition: own } = await owned()
    const wanted: string[] = []
    const killer = new pg.Client(server.url)
    await killer.connect()
    let isOver = false
    let ended = 0
    const ending = (async () => {
      while (!isOver) {
        const { rows } = await killer.query(END_ALL_SQL)
        ended += Number(rows[0]?.ended)
        // A slow server would store nothing at all between two ends at fixed intervals.
        const stored = wanted.length
        while (!isOver && wanted.length === stored) await sleep(POLL_MS)
      }
    })()
    try {
      for (let seq = 1; seq <= ENTRIES; seq++) {
        await storedInTheEnd(journal, at(seq), text(`entry ${seq}`))
        wanted.push(`entry ${seq}`)
      }
    } finally {
      isOver = true
      await ending
      await killer.end()
    }
    expect(await read(own)).toEqual(wanted)
    expect(ended).toBeGreaterThan(0)
  })

  test('an append whose connection ended while it waited is stored once, by its repetition', async () => {
    const { at, partition: own } = await owned()
    const holder = new pg.Client(server.url)
    await holder.connect()
    try {
      await holder.query('BEGIN')
      await holder.query(
        'SELECT 1 FROM countersign_journal.partitions WHERE partition = $1 FOR UPDATE',
        [own],
      )
      const unknown = expect(journal.append(at(1), text('entry 1'))).rejects.toThrow(
        JournalUnavailable,
      )
      await expect.poll(() => server.sql(WAITS_FOR_ROW)).toBe('1')
      await holder.query(END_ALL_SQL)
      await unknown
    } finally {
      await holder.end()
    }
    await storedInTheEnd(journal, at(1), text('entry 1'))
    expect(await read(own)).toEqual(['entry 1'])
  })

  test('a server that was killed has every entry that it called stored, and its owner goes on', async () => {
    const { at, partition: own } = await owned()
    const stored: string[] = []
    let isKilled = false
    const appending = (async () => {
      for (let seq = 1; !isKilled; seq++) {
        const entry = `entry ${seq}`
        await storedInTheEnd(journal, at(seq), text(entry))
        stored.push(entry)
      }
    })()
    await expect.poll(() => stored.length).toBeGreaterThan(20)
    await server.kill()
    await server.start()
    const before = stored.length
    await expect.poll(() => stored.length).toBeGreaterThan(before + 5)
    isKilled = true
    await appending
    expect(await read(own)).toEqual(stored)
  })

  test('a server that does not wait for its disk is no journal', async () => {
    const careless = await createPostgres({ fsync: 'off' })
    try {
      await expect(openPostgresJournal([careless.url], log)).rejects.toThrow(/fsync is off/)
    } finally {
      await careless.remove()
    }
  })

  test('where no server answers, nothing is opened', async () => {
    const gone = await createPostgres()
    await gone.remove()
    await expect(openPostgresJournal([gone.url], log)).rejects.toThrow(JournalUnavailable)
  })
})
