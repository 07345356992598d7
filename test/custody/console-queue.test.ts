import { describe, expect, test } from 'vitest'
import {
  CONSOLE_AT_WORK_MAX,
  CONSOLE_WAITING_PER_USER_MAX,
  createConsoleQueue,
} from '../../src/service-custody/console-queue.js'

const OVERLOADED = { fault: { code: 'OVERLOADED' } }
const USERS_MAX = 16

/** Work that ends when it is told to; `began` says in which order. */
function work() {
  const began: string[] = []
  const ends: (() => void)[] = []
  return {
    began,
    task: (name: string) => () => {
      began.push(name)
      return new Promise<string>((resolve) => ends.push(() => resolve(name)))
    },
    /** Ends what is at work, and what that lets begin, until nothing is. */
    async endAll() {
      for (let end = ends.shift(); end !== undefined; end = ends.shift()) {
        end()
        await new Promise(setImmediate)
      }
    },
  }
}

describe('the line of console work', () => {
  test('a user who asks for much delays another by what is at work alone', async () => {
    const queue = createConsoleQueue(() => performance.now())
    const { began, task, endAll } = work()
    const flood = Array.from({ length: CONSOLE_WAITING_PER_USER_MAX }, (_, i) =>
      queue.run('flooder', task(`flood ${i}`)),
    )
    const honest = queue.run('honest', task('honest'))
    expect(began.indexOf('honest')).toBeLessThan(CONSOLE_AT_WORK_MAX)
    expect(began).toContain('honest')
    await endAll()
    expect(await honest).toBe('honest')
    expect(await Promise.all(flood)).toHaveLength(CONSOLE_WAITING_PER_USER_MAX)
  })

  test('users with much waiting take turns', async () => {
    const queue = createConsoleQueue(() => performance.now())
    const { began, task, endAll } = work()
    for (const user of ['a', 'b', 'c']) {
      for (let i = 0; i < 20; i++) void queue.run(user, task(user))
    }
    await endAll()
    const counts = (names: readonly string[]) =>
      ['a', 'b', 'c'].map((user) => names.filter((name) => name === user).length)
    // At any time no user is ahead by more than what one may have at work, and a turn.
    for (let n = 1; n <= began.length; n++) {
      const [most, least] = [Math.max, Math.min].map((of) => of(...counts(began.slice(0, n))))
      if (n <= 45) expect(Number(most) - Number(least)).toBeLessThanOrEqual(3)
    }
    expect(counts(began)).toEqual([20, 20, 20])
  })

  test('beyond the bound of a user nothing is begun, and others are taken', async () => {
    const queue = createConsoleQueue(() => performance.now())
    const { began, task, endAll } = work()
    const asked = Array.from({ length: CONSOLE_WAITING_PER_USER_MAX + 10 }, (_, i) =>
      queue.run('flooder', task(`flood ${i}`)).catch((error: unknown) => error),
    )
    const other = queue.run('other', task('other'))
    await endAll()
    const answers = await Promise.all(asked)
    const refused = answers.filter((answer) => typeof answer !== 'string')
    expect(refused).toHaveLength(8)
    for (const answer of refused) expect(answer).toMatchObject(OVERLOADED)
    expect(began).toHaveLength(CONSOLE_WAITING_PER_USER_MAX + 2 + 1)
    expect(await other).toBe('other')
  })

  test('when all lines together are full, the longest loses its last to who has none', async () => {
    const queue = createConsoleQueue(() => performance.now())
    const { began, task, endAll } = work()
    const all = Array.from({ length: USERS_MAX + 1 }, (_, user) =>
      Array.from({ length: CONSOLE_WAITING_PER_USER_MAX }, () =>
        queue.run(`user ${user}`, task(`user ${user}`)).catch((error: unknown) => error),
      ),
    ).flat()
    const late = queue.run('late', task('late'))
    await endAll()
    expect(await late).toBe('late')
    const answers = await Promise.all(all)
    const done = answers.filter((answer) => typeof answer === 'string')
    expect(began).toHaveLength(done.length + 1)
    const refused = answers.filter((answer) => typeof answer !== 'string')
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) expect(answer).toMatchObject(OVERLOADED)
  })

  test('what waited too long is refused instead of begun', async () => {
    let now = 0
    const queue = createConsoleQueue(() => now)
    const { began, task, endAll } = work()
    const first = [queue.run('a', task('1')), queue.run('a', task('2'))]
    const third = queue.run('a', task('3')).catch((error: unknown) => error)
    now = 31_000
    await endAll()
    expect(await Promise.all(first)).toEqual(['1', '2'])
    expect(await third).toMatchObject(OVERLOADED)
    expect(began).toEqual(['1', '2'])
  })

  test('work that fails frees its place', async () => {
    const queue = createConsoleQueue(() => performance.now())
    const failing = () => Promise.reject(new Error('no'))
    const failed = Array.from({ length: 50 }, () => queue.run('a', failing).catch(() => 'failed'))
    expect(await Promise.all(failed)).toEqual(Array(50).fill('failed'))
    expect(await queue.run('a', async () => 'done')).toBe('done')
  })
})
