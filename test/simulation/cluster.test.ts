import { expect, test } from 'vitest'
import { featuresOf, inCluster, withOutsiders } from './features.js'
import { keptOutcomes } from './kept-outcomes.js'
import type { Planted } from './planted.js'
import { PLANTED_IN_CLUSTER } from './planted-in-cluster.js'
import { drawOf } from './random.js'
import { type Outcome, simulate } from './simulation.js'

const CORPUS = [1, 2, 5, 8, 27, 43, 136, 508]

function worldOf(seed: number, planted: Planted | null = null): Promise<Outcome> {
  const features = inCluster(featuresOf(drawOf(seed, 'features')), drawOf(seed, 'cluster'))
  return simulate(seed, planted, features)
}

const outcomeOf = keptOutcomes(worldOf)

test.each(CORPUS)(
  'whoever owns the journal, the world of seed %i keeps what must hold',
  async (seed) => {
    const { wrong } = await outcomeOf(seed)
    expect(wrong, `npm run simulate -- --cluster --seed ${seed}`).toEqual([])
  },
)

test.each([1, 2, 5, 136])(
  'with calls from outside the world of seed %i keeps what must hold',
  async (seed) => {
    const features = withOutsiders(featuresOf(drawOf(seed, 'features')), drawOf(seed, 'outsiders'))
    const { wrong, seen } = await simulate(seed, null, features)
    expect(wrong, `npm run simulate -- --outsiders --seed ${seed}`).toEqual([])
    expect(seen.get('outsiders made')).toBeGreaterThan(0)
  },
)

test('journals change hands in these worlds, in each way', async () => {
  const seen = new Set<string>()
  for (const seed of CORPUS) for (const what of (await outcomeOf(seed)).seen.keys()) seen.add(what)
  expect(HAPPENS.filter((what) => !seen.has(what))).toEqual([])
})

const BY_NAME = PLANTED_IN_CLUSTER.map((planted) => [planted.what, planted] as const)

test.each(BY_NAME)('an oracle finds it where %s', async (_, planted) => {
  expect((await worldOf(planted.seed, planted)).wrong).not.toEqual([])
  expect((await worldOf(planted.seed)).wrong, 'it fails without the fault').toEqual([])
})

const HAPPENS = [
  'sub-wallet confirmed',
  'gas-wallet confirmed',
  'journal taken',
  'journal cut',
  'journal away',
  'journal left',
  'ended kill',
  'ended power',
  'ended left',
  'ended fenced',
]
