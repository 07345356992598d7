import { describe, expect, test } from 'vitest'
import { takeTurns } from '../../src/operations/console/take-turns.js'
import type { Answer, ConsoleContext } from '../../src/operations/context.js'

const settled = () => new Promise((resolve) => setImmediate(resolve))

/** A handler whose calls end when they are told to. */
function turns() {
  const atWork: { readonly userId: string; end(): void; fail(): void }[] = []
  const handler = takeTurns<null, null>(
    ({ userId }) =>
      new Promise<Answer<null>>((resolve, reject) => {
        const done = (finish: () => void) => () => {
          atWork.splice(atWork.indexOf(call), 1)
          finish()
        }
        const call = {
          userId,
          end: done(() => resolve({ ok: true, value: null })),
          fail: done(() => reject(new Error('broken'))),
        }
        atWork.push(call)
      }),
  )
  const ask = async (userId: string) => {
    const answer = await handler({ userId } as ConsoleContext, null)
    return answer.ok ? 'done' : answer.fault.code
  }
  return { atWork, ask }
}

describe('what takes turns', () => {
  test('two are at work, eight wait, and the others are OVERLOADED at once', async () => {
    const { atWork, ask } = turns()
    const asked = Array.from({ length: 100 }, (_, n) => ask(`user_${n}`))
    await settled()
    expect(atWork).toHaveLength(2)
    expect(await Promise.all(asked.slice(10))).toEqual(Array(90).fill('OVERLOADED'))
    const order: string[] = []
    for (let [call] = atWork; call !== undefined; [call] = atWork) {
      order.push(call.userId)
      call.end()
      await settled()
      expect(atWork.length).toBeLessThanOrEqual(2)
    }
    expect(await Promise.all(asked.slice(0, 10))).toEqual(Array(10).fill('done'))
    expect(order).toEqual(Array.from({ length: 10 }, (_, n) => `user_${n}`))
  })

  test('of one user one is at work and one waits, and another user goes ahead of that one', async () => {
    const { atWork, ask } = turns()
    const own = [ask('a'), ask('a')]
    expect(await ask('a')).toBe('OVERLOADED')
    const other = ask('b')
    await settled()
    expect(atWork.map(({ userId }) => userId)).toEqual(['a', 'b'])
    for (const call of [...atWork]) call.end()
    await settled()
    expect(atWork.map(({ userId }) => userId)).toEqual(['a'])
    atWork[0]?.end()
    expect(await Promise.all([...own, other])).toEqual(['done', 'done', 'done'])
  })

  test('one that throws gives its turn back', async () => {
    const { atWork, ask } = turns()
    const broken = ask('a')
    const next = ask('a')
    await settled()
    atWork[0]?.fail()
    await expect(broken).rejects.toThrow('broken')
    await settled()
    atWork[0]?.end()
    expect(await next).toBe('done')
  })
})
