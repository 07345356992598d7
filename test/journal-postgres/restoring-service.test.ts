import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runProgram } from '../../src/cli/program.js'
import { applyRows } from '../../src/store/apply-rows.js'
import { openEnvironment, restoringRow } from '../../src/store/environment.js'
import { journalPart, type StandbyPair, startStandbyPair } from './standby-pair.js'

const WAITS = { timeout: 60_000 }

describe('a standby whose store is half restored', () => {
  let pair: StandbyPair
  beforeAll(async () => {
    pair = await startStandbyPair(1)
  })
  afterAll(() => pair?.stop())

  test('loads its threads however long it takes to restore the rest, and is level afterwards', async () => {
    const { stack, home, env, server } = pair
    const io = {
      env: { ...env, COUNTERSIGN_HOME: stack.home },
      out: () => undefined,
      err: () => undefined,
      isInteractive: false,
    }
    expect(await runProgram(io, ['--json', 'cluster', 'snapshot'])).toBe(0)
    const half = openEnvironment(join(home, 'service', 'store'))
    await applyRows(half, [restoringRow()])
    await half.root.close()
    const holder = new pg.Client(server.url)
    await holder.connect()
    await holder.query('BEGIN')
    // Nobody learns what snapshot there is before this ends.
    await holder.query('LOCK TABLE countersign_journal.snapshots IN ACCESS EXCLUSIVE MODE')
    const { url } = await pair.startStandby(home)
    try {
      await expect
        .poll(() => journalPart(url), WAITS)
        .toMatchObject({ http: 503, standby: true, loaded: true })
      expect(await journalPart(url)).not.toHaveProperty('behind')
    } finally {
      await holder.query('ROLLBACK')
      await holder.end()
    }
    await expect.poll(() => journalPart(url), WAITS).toMatchObject({ http: 503, behind: 0 })
  })
})
