import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  journalMovePath,
  readAskedMove,
  removeAskedMove,
  writeAskedMove,
} from '../../src/disk/journal-move.js'
import { createMemoryEngine } from '../../src/journal/memory-journal.js'
import { watchHandoverRequests } from '../../src/service/watch-handover-requests.js'
import type { Environment } from '../../src/store/environment.js'
import { journalDrainOf, journalMoveOf, nodeIdOf } from '../../src/store/journal-move.js'
import { newDirectory, startOn } from './journaled-fixtures.js'

const SLOW = { timeout: 10_000 }
const TO = 'abcdef0123456789'

const NODE = 'node-1:8080'

type Link = Parameters<typeof watchHandoverRequests>[0]['link']

async function leader(
  role: 'owner' | 'standby',
  arrives?: () => Promise<void>,
  linkOf: (environment: Environment) => Link = () => null,
) {
  const home = newDirectory()
  mkdirSync(join(home, 'service'))
  const { writer, environment } = await startOn(createMemoryEngine(arrives).connect())
  let ends = 0
  const errors: unknown[] = []
  const log = { warn: () => undefined, error: (context: object) => errors.push(context) }
  const link = linkOf(environment)
  const moves = watchHandoverRequests({
    home,
    node: NODE,
    role,
    writer,
    link,
    log,
    end: () => void ends++,
  })
  onTestFinished(moves.stop)
  const { epoch } = writer.leadership
  return { home, epoch, environment, errors, leave: moves.leave, ends: () => ends }
}

describe('the owner of a journal that is told to hand it over', () => {
  test('says so in the journal, and ends', async () => {
    const { home, epoch, environment, ends, errors } = await leader('standby')
    writeAskedMove(home, { epoch, to: TO })
    await expect.poll(ends, SLOW).toBe(1)
    expect(journalMoveOf(environment)).toEqual({ epoch, to: TO })
    expect([existsSync(journalMovePath(home)), errors]).toEqual([false, []])
  })

  test('refuses where it would take it back at its next start, and goes on', async () => {
    const { home, epoch, environment, ends } = await leader('owner')
    writeAskedMove(home, { epoch, to: TO })
    await expect
      .poll(() => readAskedMove(home)?.refused, SLOW)
      .toContain('COUNTERSIGN_JOURNAL_ROLE of that service is owner')
    expect([ends(), journalMoveOf(environment)]).toEqual([0, null])
  })

  test('does nothing that an earlier one was told', async () => {
    const { home, epoch, environment, ends } = await leader('standby')
    writeAskedMove(home, { epoch: epoch + 1, to: TO })
    await expect.poll(() => existsSync(journalMovePath(home)), SLOW).toBe(false)
    expect([ends(), journalMoveOf(environment)]).toEqual([0, null])
  })

  test('goes on where that was taken back while the journal was away, and says so there', async () => {
    let isAway = false
    const waiting: (() => void)[] = []
    const { home, epoch, environment, ends } = await leader('standby', () =>
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

describe('the owner of a journal that is told to leave it to whoever waits', () => {
  const drain = (epoch: number) => ({ epoch, to: null })
  const refused = (home: string) => expect.poll(() => readAskedMove(home)?.refused, SLOW)

  /** As those that wait answer what they read in the journal, or do not. */
  function nodes(answer: boolean) {
    const heard: unknown[] = []
    const linkOf = (environment: Environment): Link => ({
      async anyWaits(asked) {
        heard.push(asked, journalDrainOf(environment))
        return answer
      },
    })
    return { heard, linkOf }
  }

  test('asks in the journal who waits, and ends once one has said so', async () => {
    const { heard, linkOf } = nodes(true)
    const { home, epoch, environment, ends } = await leader('standby', undefined, linkOf)
    writeAskedMove(home, drain(epoch))
    await expect.poll(ends, SLOW).toBe(1)
    const [asked, question] = heard
    expect(question).toEqual({ epoch, from: nodeIdOf(NODE), asked })
    expect(asked).toMatch(/^[0-9a-f]{32}$/)
    expect([journalDrainOf(environment), existsSync(journalMovePath(home))]).toEqual([
      question,
      false,
    ])
  })

  test('goes on where nobody says so, and takes its question back', async () => {
    const { heard, linkOf } = nodes(false)
    const { home, epoch, environment, ends } = await leader('standby', undefined, linkOf)
    writeAskedMove(home, drain(epoch))
    await refused(home).toContain('No standby reported ready within 5 s')
    expect([ends(), heard.length, journalDrainOf(environment)]).toEqual([0, 2, null])
  })

  test('goes on where no node could say so, without a link', async () => {
    const { home, epoch, environment, ends } = await leader('standby')
    writeAskedMove(home, drain(epoch))
    await refused(home).toContain('COUNTERSIGN_NODE_LINK_FILE')
    expect([ends(), journalDrainOf(environment)]).toEqual([0, null])
  })

  test('asks nobody where it is to end anyway', async () => {
    const { heard, linkOf } = nodes(false)
    const { home, epoch, environment, ends } = await leader('standby', undefined, linkOf)
    writeAskedMove(home, { ...drain(epoch), anyway: true })
    await expect.poll(ends, SLOW).toBe(1)
    expect(heard).toEqual([])
    expect(journalDrainOf(environment)).toEqual({ epoch, from: nodeIdOf(NODE), asked: '' })
  })

  test('goes on, and takes its question back, where that was given up meanwhile', async () => {
    let at = ''
    const linkOf = (): Link => ({
      async anyWaits() {
        removeAskedMove(at)
        return true
      },
    })
    const { home, epoch, environment, ends } = await leader('standby', undefined, linkOf)
    at = home
    writeAskedMove(home, drain(epoch))
    await expect
      .poll(() => environment.spaces.meta.get('journal_position'), SLOW)
      .toMatchObject({ seq: 2 })
    expect([ends(), journalDrainOf(environment)]).toEqual([0, null])
  })

  test('stays, and takes its question back, where it can sign again by the time of an answer', async () => {
    const { environment, ends, leave, epoch } = await leader(
      'standby',
      undefined,
      nodes(true).linkOf,
    )
    let looks = 0
    expect(await leave(() => ++looks < 2)).toBe(false)
    expect([ends(), journalDrainOf(environment), looks]).toEqual([0, null, 2])
    expect(await leave(() => true)).toBe(true)
    expect([ends(), journalDrainOf(environment)]).toMatchObject([1, { epoch }])
  })

  test('refuses where it would take it back at its next start', async () => {
    const { home, epoch, ends } = await leader('owner', undefined, nodes(true).linkOf)
    writeAskedMove(home, drain(epoch))
    await refused(home).toContain('COUNTERSIGN_JOURNAL_ROLE of that service is owner')
    expect(ends()).toBe(0)
  })
})
