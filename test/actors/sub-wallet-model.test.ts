import fc from 'fast-check'
import { describe, test } from 'vitest'
import { WalletWorld } from './wallet-world.js'

/** Of one run; enough for lanes to jam and for replacements to come due. */
const STEPS = { minLength: 20, maxLength: 150, size: 'max' } as const
const RUNS = Number(process.env.MODEL_RUNS ?? 150)
/** A dozen sends fill it. */
const CAP_MICROS = 400n

type Step = (world: WalletWorld) => Promise<unknown>

const choice = fc.nat(60)

function step(kind: string, make: (a: number, b: number) => Step, weight: number) {
  const arbitrary = fc
    .tuple(choice, choice)
    .map(([a, b]) => ({ run: make(a, b), toString: () => `${kind}(${a}, ${b})` }))
  return { arbitrary, weight }
}

const everyday = [
  step('send', (a) => (world) => world.send(BigInt(a + 1)), 6),
  step('finish', (a, b) => (world) => world.finishEffect(a, b), 16),
  step('repeat', (a) => (world) => world.repeatOutcome(a), 1),
  step('block', (a) => (world) => world.block(a % 4, 'sees'), 3),
  step('missed block', (a) => (world) => world.block(a % 4, 'misses'), 1),
  step('restart', () => async (world) => world.restart(), 1),
  step('die answering', () => async (world) => world.dieAnswering(), 1),
  step('evict', (a) => async (world) => world.chain.evict(a), 1),
]
const rough = [
  ...everyday,
  step('reorg', (a) => (world) => world.reorg(a % 2 === 0), 1),
  step('outside', () => (world) => world.useFromOutside(), 1),
]

async function play(steps: readonly { readonly run: Step }[]): Promise<void> {
  const world = await WalletWorld.create(CAP_MICROS)
  for (const { run } of steps) await run(world)
  await world.settle()
}

describe('a sub-wallet, in whatever order things happen', () => {
  test('never passes a cap, repeats a nonce, forgets a caller or jams its lane', async () => {
    const steps = fc.array(fc.oneof(...everyday), STEPS)
    await fc.assert(fc.asyncProperty(steps, play), { numRuns: RUNS })
  })

  test('nor when blocks are taken back and its nonces are used from outside', async () => {
    const steps = fc.array(fc.oneof(...rough), STEPS)
    await fc.assert(fc.asyncProperty(steps, play), { numRuns: RUNS })
  })
})
