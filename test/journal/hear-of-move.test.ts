import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  journalMovePath,
  readAskedMove,
  removeAskedMove,
  writeAskedMove,
} from '../../src/disk/journal-move.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { hearOfMove } from '../../src/service/hear-of-move.js'
import { journalMoveOf } from '../../src/store/journal-move.js'
import { closing, newDirectory, startOn } from './journaled-fixtures.js'

const SLOW = { timeout: 10_000 }
const TO = 'abcdef0123456789'

async function owner(role: 'owner' | 'standby', arrives?: () => Promise<void>) {
  const home = newDirectory()
  mkdirSync(join(home, 'service'))
  const { writer, environment } = await startOn(createMemoryEngine(arrives).connect())
  let ends = 0
  const errors: unknown[] = []
  const log = { warn: () => undefined, error: (context: object) => errors.push(context) }
  closing(hearOfMove({ home, role, writer, log, end: () => void ends++ }))
  const { epoch } = writer.owner
  return { home, epoch, environment, errors, ends: () => ends }
}

describe('the owner of a journal that is told to hand it over', () => {
  test('says so in the journal, and ends', async () => {
    const { home, epoch, environment, ends, errors } = await owner('standby')
    writeAskedMove(home, { epoch, to: TO })
    await expect.poll(ends, SLOW).toBe(1)
    expect(journalMoveOf(environment)).toEqual({ epoch, to: TO })
    expect([existsSync(journalMovePath(home)), errors]).toEqual([false, []])
  })

  test('refuses where it would take it back at its next start, and goes on', async () => {
    const { home, epoch, environment, ends } = await owner('owner')
    writeAskedMove(home, { epoch, to: TO })
    await expect
      .poll(() => readAskedMove(home)?.refused, SLOW)
      .toContain('COUNTERSIGN_JOURNAL_ROLE of that service is owner')
    expect([ends(), journalMoveOf(environment)]).toEqual([0, null])
  })

  test('does nothing that an earlier one was told', async () => {
    const { home, epoch, environment, ends } = await owner('standby')
    writeAskedMove(home, { epoch: epoch + 1, to: TO })
    await expect.poll(() => existsSync(journalMovePath(home)), SLOW).toBe(false)
    expect([ends(), journalMoveOf(environment)]).toEqual([0, null])
  })

  test('goes on where that was taken back while the journal was away, and says so there', async () => {
    let isAway = false
    const waiting: (() => void)[] = []
    const { home, epoch, environment, ends } = await owner('standby', () =>
      isAway ? new Promise((arrived) => waiting.push(arrived)) : Promise.resolve(),
    )
    isAway = true
    writeAskedMove(home, { epoch, to: TO })
    await expect.poll(() => waiting.length, SLOW).toBe(1)
    removeAskedMove(home)
    isAway = false
    waiting[0]?.()
    await expect
      .poll(() => environment.spaces.meta.get('journal_position'), SLOW)
      .toMatchObject({
        seq: 2,
      })
    expect([ends(), journalMoveOf(environment)]).toEqual([0, null])
  })
})
