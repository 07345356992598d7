import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { GrantWorld } from './grant-world.js'

/** Of one run; enough for changes to pass each other on their way. */
const STEPS = { minLength: 20, maxLength: 120, size: 'max' } as const
const RUNS = Number(process.env.GRANT_RUNS ?? 60)
const CAPS = ['100', '200', '300', '400', 'unlimited']
const CHAINS = [[1], [8453], [1, 8453], [1, 10, 8453]]

type Step = (world: GrantWorld) => unknown

function step(kind: string, weight: number, make: (a: number, b: number) => Step) {
  const arbitrary = fc
    .tuple(fc.nat(60), fc.nat(60))
    .map(([a, b]) => ({ run: make(a, b), toString: () => `${kind}(${a}, ${b})` }))
  return { arbitrary, weight }
}

const cap = (b: number) => ({ daily_limit_usd: CAPS[b % CAPS.length] ?? '100' })
const chains = (b: number) => ({ allowed_chains: CHAINS[b % CHAINS.length] ?? [1] })

const steps = fc.array(
  fc.oneof(
    step('cap', 3, (a, b) => (world) => world.patch(a, cap(b))),
    step('chains', 3, (a, b) => (world) => world.patch(a, chains(b))),
    step('rotate', 2, (a) => (world) => world.rotate(a)),
    step('revoke', 1, (a) => (world) => world.revoke(a)),
    step('carry', 24, (a) => (world) => world.carry(a)),
    step('lose', 2, (a) => (world) => world.lose(a)),
    step('arrive late', 2, (a) => (world) => world.arriveLate(a)),
    step('rest', 4, () => (world) => world.rest()),
    step('die', 1, () => (world) => world.die()),
    step('down', 1, () => (world) => world.userSide('down')),
    step('up', 3, () => (world) => world.userSide('up')),
  ),
  STEPS,
)

describe('what a key may do, in whatever order things happen', () => {
  test('is said current only where both domains hold the same, and is so for every key at rest', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (played) => {
        const world = await GrantWorld.create()
        for (const { run } of played) {
          await run(world)
          await world.audit()
        }
        await world.settle()
      }),
      { numRuns: RUNS },
    )
  })
})

test('a narrowing that was given up and arrives last does not undo the enlargement since', async () => {
  const world = await GrantWorld.create()
  const carryAll = async () => {
    for (let n = 0; n < 20; n++) {
      await world.audit()
      world.rest()
      await world.carry(0)
    }
  }
  world.patch(0, { daily_limit_usd: '100' })
  await world.audit()
  // The question for the version and its answer; then the change itself is given up.
  await world.carry(0)
  await world.audit()
  await world.carry(0)
  await world.audit()
  world.lose(0)
  await carryAll()
  world.patch(0, { daily_limit_usd: '400' })
  await carryAll()
  expect(world.answers.get('ok')).toBe(2)
  await world.arriveLate(0)
  await world.settle()
  expect(world.keys.map(({ dailyLimitMicros }) => dailyLimitMicros)).toEqual([400_000_000n])
})

describe('fifty changes of one key that race', () => {
  test('leave what the last of them made of it, and both domains the same', async () => {
    const world = await GrantWorld.create()
    for (let n = 0; n < 50; n++) {
      if (n % 10 === 9) world.rotate(0)
      else world.patch(0, n % 2 === 0 ? cap(n) : chains(n))
    }
    await world.settle()
    // One key is rotated once: who comes later is told that it has a successor.
    expect(world.keys).toHaveLength(2)
    const [old, next] = world.keys
    expect(next?.rotatedFrom).toBe(old?.keyId)
    const given = [...world.answers.values()].reduce((sum, count) => sum + count, 0)
    expect(given).toBe(50)
  })

  test('end with it when one of them revokes it', async () => {
    const world = await GrantWorld.create()
    for (let n = 0; n < 49; n++) world.patch(0, n % 2 === 0 ? cap(n) : chains(n))
    world.revoke(0)
    await world.settle()
    expect(world.keys.map(({ revokedAtMs }) => revokedAtMs !== null)).toEqual([true])
  })
})
