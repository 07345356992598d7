import { expect, test } from 'vitest'
import { featuresOf, inCluster } from './features.js'
import { keptOutcomes } from './kept-outcomes.js'
import { parted } from './parted.js'
import type { Planted } from './planted.js'
import { PLANTED_WHERE_PARTED } from './planted-in-cluster.js'
import { drawOf } from './random.js'
import { type Outcome, simulate } from './simulation.js'

const CORPUS = [7, 11, 13, 16, 17, 31, 181]

function worldOf(seed: number, planted: Planted | null = null): Promise<Outcome> {
  const features = inCluster(featuresOf(drawOf(seed, 'features')), drawOf(seed, 'cluster'))
  return simulate(seed, planted, parted(features, drawOf(seed, 'parted')))
}

const outcomeOf = keptOutcomes(worldOf)

test.each(CORPUS)(
  'whoever is cut off from whom, and whatever clocks say, the world of seed %i keeps what must hold',
  async (seed) => {
    const { wrong } = await outcomeOf(seed)
    expect(wrong, `npm run simulate -- --parted --seed ${seed}`).toEqual([])
  },
)

test('all of them are parted, clocks are set, and callers ask anywhere', async () => {
  const seen = new Set<string>()
  for (const seed of CORPUS) for (const what of (await outcomeOf(seed)).seen.keys()) seen.add(what)
  expect(HAPPENS.filter((what) => !seen.has(what))).toEqual([])
})

test('a seed has one history', async () => {
  const { traceHash } = await outcomeOf(17)
  expect((await worldOf(17)).traceHash).toBe(traceHash)
})

const BY_NAME = PLANTED_WHERE_PARTED.map((planted) => [planted.what, planted] as const)

test.each(BY_NAME)('an oracle finds it where %s', async (_, planted) => {
  expect((await worldOf(planted.seed, planted)).wrong).not.toEqual([])
  expect((await outcomeOf(planted.seed)).wrong, 'it fails without the fault').toEqual([])
})

const HAPPENS = [
  'sub-wallet confirmed',
  'journal taken',
  'parted all',
  'parted callers',
  'parted journal',
  'parted machine',
  'parted nodes',
  'parted user-side',
  'clock right',
  'clock set',
  'a deposed-owner',
  'heard OUTCOME_UNKNOWN',
  'heard ok',
  'heard silence',
  'heard stopped-by-clock',
  'heard stopped-by-journal',
  'heard stopped-by-standby',
]
