import { afterEach, expect, test } from 'vitest'
import type { Journal } from '../../src/journal/journal.js'
import { openPostgresJournal } from '../../src/journal/postgres-journal.js'
import { redundancyReason } from '../../src/service/watch-redundancy.js'
import { createPostgres, type PostgresServer } from '../support/postgres-server.js'

const SLOW = { timeout: 60_000 }
const TIMEOUT_MS = 180_000
const RELOAD = 'SELECT pg_reload_conf()'
const log = { warn: () => undefined }

const servers: PostgresServer[] = []
const journals: Journal[] = []
afterEach(async () => {
  for (const journal of journals.splice(0)) await journal.close()
  for (const server of servers.splice(0)) await server.remove()
}, TIMEOUT_MS)

/** A primary whose commits wait for one of these, and a role of the journal's alone that appends. */
async function withStandbys(...names: readonly string[]) {
  const primary = await createPostgres()
  servers.push(primary)
  const standbys: PostgresServer[] = []
  for (const name of names) standbys.push(await primary.follow(name))
  servers.push(...standbys)
  primary.sql('CREATE ROLE plain LOGIN')
  primary.sql('GRANT CREATE ON DATABASE postgres TO plain')
  primary.sql(`ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (${names.join(', ')})'`)
  primary.sql(RELOAD)
  const url = new URL(primary.url)
  url.username = 'plain'
  const journal = await openPostgresJournal([url.href], log)
  journals.push(journal)
  const { epoch } = await journal.acquire(0, 'test', 'a claim')
  let seq = 0
  const append = () =>
    journal.append({ partition: 0, epoch, seq: ++seq }, Buffer.from(`entry ${seq}`))
  return { primary, standbys, journal, append }
}

test('of two standbys one may be away: an append waits for the other alone', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { standbys, journal, append } = await withStandbys('one', 'two')
  await expect.poll(() => journal.redundancy?.(), SLOW).toEqual({ needed: 1, connected: 2 })
  for (const standby of standbys) {
    standby.freeze()
    const begunMs = performance.now()
    expect(await append()).toEqual({ kind: 'stored' })
    expect(performance.now() - begunMs).toBeLessThan(5_000)
    standby.thaw()
  }
})

test('a lone standby that is away holds up appends, which is said with the step that lets them go on', {
  timeout: TIMEOUT_MS,
}, async () => {
  const { primary, standbys, journal, append } = await withStandbys('one')
  await expect.poll(() => journal.redundancy?.(), SLOW).toEqual({ needed: 1, connected: 1 })
  await standbys[0]?.kill()
  await expect.poll(() => journal.redundancy?.(), SLOW).toEqual({ needed: 1, connected: 0 })
  const said = redundancyReason({ needed: 1, connected: 0 }) ?? ''
  let isStored = false
  const waits = append().then((answer) => {
    isStored = true
    return answer
  })
  const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await expect.poll(() => primary.sql(waiting), SLOW).toBe('1')
  expect(isStored).toBe(false)
  for (const step of [/ALTER SYSTEM SET \w+ = ''/, /SELECT pg_reload_conf\(\)/]) {
    primary.sql(step.exec(said)?.[0] ?? 'no step')
  }
  expect(await waits).toEqual({ kind: 'stored' })
  expect(await journal.redundancy?.()).toEqual({ needed: 0, connected: 0 })
})
