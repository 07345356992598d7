import { expect, test } from 'vitest'
import { CORPUS } from './corpus.js'
import { featuresOf } from './features.js'
import { PLANTED } from './planted.js'
import { drawOf } from './random.js'
import { notCalm, shrink } from './shrink.js'
import { type Outcome, simulate } from './simulation.js'

const outcomes = new Map<number, Outcome>()

async function outcomeOf(seed: number): Promise<Outcome> {
  const outcome = outcomes.get(seed) ?? (await simulate(seed))
  outcomes.set(seed, outcome)
  return outcome
}

test.each(CORPUS)('the world of seed %i keeps what must hold', async (seed) => {
  const { wrong } = await outcomeOf(seed)
  expect(wrong, `npm run simulate -- --seed ${seed}`).toEqual([])
})

test('the worlds of the corpus have in them what can happen', async () => {
  const seen = new Set<string>()
  for (const seed of CORPUS) for (const what of (await outcomeOf(seed)).seen.keys()) seen.add(what)
  expect(HAPPENS.filter((what) => !seen.has(what))).toEqual([])
})

test('a seed has one history, whatever ran before it', async () => {
  const [first = 0, second = 0] = CORPUS
  const { traceHash } = await outcomeOf(first)
  expect((await outcomeOf(second)).traceHash).not.toBe(traceHash)
  expect((await simulate(first)).traceHash).toBe(traceHash)
})

/**
 * As whoever wrote them here saw them: a machine on which one differs replays no seed of another's.
 * What changes the service or the worlds may change them, and they are taken anew (`-u`).
 */
test('a seed has one history on every machine', async () => {
  const traces: Record<number, string> = {}
  for (const seed of [5, 98, 136, 511, 1462]) traces[seed] = (await outcomeOf(seed)).traceHash
  expect(traces).toMatchInlineSnapshot(`
    {
      "136": "2dc62ef207003421",
      "1462": "44a3611aacd2a0b0",
      "5": "d29369e30a1b9ec4",
      "511": "11b618f385cdc1e3",
      "98": "5937ec331dd35950",
    }
  `)
})

/** Whose signatures' encodings are as long by both. */
const SIGNED_BY_BOTH = 3

test('a seed has the same history by the real curves as by what stands for them', async () => {
  const features = featuresOf(drawOf(SIGNED_BY_BOTH, 'features'))
  const [real, standIn] = [
    await simulate(SIGNED_BY_BOTH, null, { ...features, hasRealCurves: true }),
    await simulate(SIGNED_BY_BOTH, null, { ...features, hasRealCurves: false }),
  ]
  expect(real.seen.get('sub-wallet signed')).toBeGreaterThan(0)
  expect(real.wrong).toEqual([])
  expect(real.traceHash).toBe(standIn.traceHash)
})

const BY_NAME = PLANTED.map((planted) => [planted.what, planted] as const)

test.each(BY_NAME)('an oracle finds it where %s', async (_, planted) => {
  const { wrong } = await simulate(planted.seed, planted)
  expect(wrong).not.toEqual([])
  const { wrong: withoutIt } = await outcomeOf(planted.seed)
  expect(withoutIt, 'it fails without the fault').toEqual([])
})

test('a failing world shrinks to less that fails in the same way', async () => {
  const planted = PLANTED.find(({ what }) => what === 'a caller is answered twice')
  if (planted === undefined) throw new Error('it is not planted any more')
  const whole = await simulate(planted.seed, planted)
  const least = await shrink(planted.seed, planted, whole.features)
  expect(least?.wrong).toHaveLength(1)
  expect(least?.features.calls).toBeLessThan(whole.features.calls)
  expect(Object.keys(notCalm(least?.features ?? whole.features)).length).toBeLessThan(
    Object.keys(notCalm(whole.features)).length,
  )
})

/** A corpus in which these do not happen proves little. */
const HAPPENS = [
  'start ',
  'the disk',
  'reorg of',
  'an address',
  'the quorum',
  'freezes lifted',
  'a lifting',
  'gas-wallet confirmed',
  'sub-wallet cancel-transaction',
  'sub-wallet confirmed',
  'sub-wallet deadline-passed',
  'sub-wallet nonce-taken',
  'sub-wallet replacement-signed',
  'sub-wallet sign-failed',
  'sub-wallet unmined',
  'answer approve',
  'answer decline',
  'answer make-key',
  'answer rotate-key',
  'answer withdraw',
  'page approve',
  'page decline',
  'sub-wallet approvals-due',
  'sub-wallet end-claim',
  'power 1',
  'kill 1',
  'user-side killed',
  'user-side refused',
  'deliver retry',
  'deliver delivered',
  'webhook-endpoint recover',
  'answer switch-disabled',
]
