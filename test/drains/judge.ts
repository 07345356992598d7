import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DrainCase, type Played, play, takeAll } from './scene.js'
import { openStage, type Stage } from './stage.js'
import { wealthOf } from './wealth.js'

/** To look at some cases alone: a part of their titles. */
const ONLY = process.env.DRAINS_ONLY ?? ''

/** Cases under way at once: each waits for blocks most of the time, and has a wallet of its own. */
const AT_ONCE = 12
const DAYS_LATER_SECONDS = 3 * 86_400
const USD_MICROS = 1_000_000n
/** Amounts of positions and shares are rounded, each down. */
const ROUNDING_MICROS = 50n

/**
 * Declares one test per case, all of which play on one stack and chain, several at once; and one
 * that lets days go by on the chain and the attackers come back.
 */
export function judgeDrains(tables: readonly (readonly [string, readonly DrainCase[]])[]): void {
  const groups = tables
    .map(([name, cases]) => [name, cases.filter(({ title }) => title.includes(ONLY))] as const)
    .filter(([, cases]) => cases.length > 0)
  const all = groups.flatMap(([, cases]) => cases)
  const results = new Map<DrainCase, Promise<Played>>()
  let stage: Stage

  beforeAll(async () => {
    stage = await openStage()
    const settle = new Map<DrainCase, (played: Promise<Played>) => void>()
    for (const it of all) {
      const result = new Promise<Played>((resolve) => settle.set(it, resolve))
      // Its own test says what went wrong, however long before it that is.
      result.catch(() => undefined)
      results.set(it, result)
    }
    void severalAtOnce(all, async (drain) => {
      const played = play(stage, drain)
      settle.get(drain)?.(played)
      await played.catch(() => undefined)
    })
  })
  afterAll(() => stage?.close())

  async function resultOf(drain: DrainCase): Promise<Played> {
    const played = await results.get(drain)
    if (played === undefined) throw new Error('not played')
    return played
  }

  describe.each(groups)('of %s, nothing leaves that was not counted', (_, cases) => {
    test.for(cases.map((it) => [it.title, it] as const))('%s', async ([, drain]) => {
      judge(drain, await resultOf(drain))
    })
  })

  test('days later the attackers still have no more than was counted', async () => {
    const played = await Promise.allSettled(all.map(resultOf))
    await stage.chain.client.increaseTime({ seconds: DAYS_LATER_SECONDS })
    await stage.chain.client.mine({ blocks: 1 })
    const late: string[] = []
    await severalAtOnce([...played.entries()], async ([i, result]) => {
      const drain = all[i]
      if (drain === undefined || result.status === 'rejected') return
      const { scene, leftMicros, countedMicros, wealthMicros } = result.value
      await takeAll(scene, drain)
      const { wallet: address, account } = scene
      const gone = wealthMicros - (await wealthOf(stage, { address, account }))
      if (gone <= 0n) return
      if (leftMicros + gone > countedMicros + ROUNDING_MICROS) late.push(`${drain.title}: ${gone}`)
    })
    expect(late).toEqual([])
  })
}

function judge(drain: DrainCase, played: Played): void {
  const { scene, leftMicros, countedMicros, usedByKeyMicros } = played
  const said = scene.outcomes.map(({ refusal, status, spend }) => `${refusal ?? status} ${spend}`)
  const books = `left ${leftMicros}, counted ${countedMicros} (${said.join(', ')})`
  expect(countedMicros + ROUNDING_MICROS, books).toBeGreaterThanOrEqual(leftMicros)
  if (drain.expected === 'counted') {
    for (const { refusal, status } of scene.outcomes) {
      const mayFail = drain.mayRunOutOfGas === true && status === 'failed'
      expect([refusal, mayFail ? 'confirmed' : status], books).toEqual([null, 'confirmed'])
    }
    // A drain by which nothing leaves would prove nothing.
    if (drain.harmless !== true && drain.mayRunOutOfGas !== true)
      expect(leftMicros, books).toBeGreaterThan(USD_MICROS)
  } else expect(scene.outcomes.at(-1)?.refusal, books).toBe(drain.expected)
  const { countsOnKey, countedAtMost } = drain
  if (countsOnKey !== undefined) {
    expect(usedByKeyMicros, books).toBeGreaterThanOrEqual(BigInt(countsOnKey) * USD_MICROS)
  }
  if (countedAtMost !== undefined) {
    expect(usedByKeyMicros, books).toBeLessThanOrEqual(BigInt(countedAtMost) * USD_MICROS)
  }
}

async function severalAtOnce<T>(items: readonly T[], run: (item: T) => Promise<void>) {
  const waiting = [...items]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await run(next)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
