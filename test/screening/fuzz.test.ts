/**
 * Random calldata, seeded: `SCREENING_FUZZ_RUNS` inputs a property (100,000 in
 * `npm run test:long -- screening-fuzz`), `SCREENING_FUZZ_SEED` to repeat a failure.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Verdict } from '../../src/screening/screener.js'
import { ALL_SHAPES } from '../../src/screening/walk/known-shapes.js'
import { CLEAN, callOf, LISTED, LISTED_HEX, testScreener } from './fixtures.js'
import { calldataOf, cleanAt, PROGRAM_ROWS } from './shape-values.js'

const RUNS = Number(process.env.SCREENING_FUZZ_RUNS ?? 3_000)
const SEED = Number(process.env.SCREENING_FUZZ_SEED ?? 20_261_121)
const TIMEOUT_MS = 1_800_000
/** CPU of all threads, which other work on the machine does not add to. */
const INPUT_MS_MAX = 250
/** What one input leaves on the heap; the pool's thread has the same limit of its own. */
const INPUT_HEAP_BYTES_MAX = 64 * 1024 * 1024

/** 3,000 bytes become 120,000. */
const LARGE_FACTOR = 40

const screener = testScreener()
// Starting the pool's thread costs once and is no input's.
beforeAll(async () => {
  await screener.screen(callOf(Buffer.alloc(8_192, 0x5b)))
})
afterAll(() => screener.close())

const honest = ALL_SHAPES.filter((row) => !PROGRAM_ROWS.has(row.selector)).map((row) =>
  Buffer.from(calldataOf(row, () => cleanAt(2)).slice(2), 'hex'),
)
const listed = Buffer.from(LISTED_HEX, 'hex')

/** A few numbers that make one calldata, so that a failure shrinks to something short. */
const recipe = fc.record({
  seed: fc.nat(),
  body: fc.oneof(
    {
      weight: 50,
      arbitrary: fc.constantFrom('random', 'zeros', 'ascii', 'honest', 'nested', 'mutated'),
    },
    // Past what is walked at once: these go through the pool.
    { weight: 1, arbitrary: fc.constantFrom('large', 'large-known') },
  ),
  length: fc.integer({ min: 0, max: 3_000 }),
  row: fc.nat({ max: honest.length - 1 }),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  form: fc.constantFrom('bytes', 'word', 'lower', 'upper'),
})
type Recipe = typeof recipe extends fc.Arbitrary<infer T> ? T : never

/** Marsaglia's xorshift32: reproducible and fast. */
function randomBytes(seed: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let state = (seed | 1) >>> 0
  for (let i = 0; i < length; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = state & 255
  }
  return bytes
}

function word(value: number): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function multicall(inner: Buffer): Buffer {
  const padding = Buffer.alloc((32 - (inner.length % 32)) % 32)
  const selector = Buffer.from('ac9650d8', 'hex')
  return Buffer.concat([selector, word(32), word(1), word(32), word(inner.length), inner, padding])
}

function bodyOf({ body, seed, length, row }: Recipe): Buffer {
  const base = honest[row] ?? Buffer.alloc(0)
  switch (body) {
    case 'random':
      return randomBytes(seed, length)
    case 'large':
      return randomBytes(seed, length * LARGE_FACTOR)
    case 'large-known':
      return Buffer.concat([base, randomBytes(seed, length * LARGE_FACTOR)])
    case 'zeros':
      return Buffer.alloc(length)
    case 'ascii':
      return Buffer.from(randomBytes(seed, length >> 1).toString('hex'))
    case 'honest':
      return base
    case 'nested':
      return multicall(multicall(base))
    case 'mutated': {
      const bytes = Buffer.from(base)
      for (const flip of randomBytes(seed, 8)) bytes[(flip * 37) % bytes.length] = flip
      return bytes.subarray(0, Math.max(0, bytes.length - (seed % 40)))
    }
  }
}

function hide(bytes: Buffer, { at, form }: Recipe): Buffer {
  const offset = Math.floor(at * bytes.length)
  const hidden = {
    bytes: listed,
    word: Buffer.concat([Buffer.alloc(12), listed]),
    lower: Buffer.from(LISTED_HEX),
    upper: Buffer.from(LISTED.slice(2).toUpperCase()),
  }[form]
  return Buffer.concat([bytes.subarray(0, offset), hidden, bytes.subarray(offset)])
}

async function each(check: (input: Recipe) => Promise<void>): Promise<void> {
  await fc.assert(fc.asyncProperty(recipe, check), { numRuns: RUNS, seed: SEED })
}

async function judge(bytes: Buffer): Promise<Verdict> {
  const cpuBefore = process.cpuUsage()
  const heapBefore = process.memoryUsage().heapUsed
  const verdict = await screener.screen(callOf(bytes))
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(INPUT_HEAP_BYTES_MAX)
  const { user, system } = process.cpuUsage(cpuBefore)
  expect((user + system) / 1_000).toBeLessThan(INPUT_MS_MAX)
  return verdict
}

describe('random calldata', () => {
  it('with a listed address anywhere in it is blocked', { timeout: TIMEOUT_MS }, async () => {
    await each(async (input) => {
      const verdict = await judge(hide(bodyOf(input), input))
      expect(verdict.outcome).toBe('blocked')
    })
  })

  it('without one is never blocked, and honest calldata passes', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await each(async (input) => {
      const verdict = await judge(bodyOf(input))
      expect(verdict.outcome).not.toBe('blocked')
      if (input.body === 'honest' || input.body === 'nested') expect(verdict.outcome).toBe('clean')
    })
  })

  it('with an address that differs in one bit is not blocked', {
    timeout: TIMEOUT_MS,
  }, async () => {
    await each(async (input) => {
      const near = Buffer.from(listed)
      near[input.seed % 20] = (near[input.seed % 20] ?? 0) ^ (1 << (input.seed % 8))
      const target = CLEAN[1] ?? '0x'
      const verdict = await screener.screen(callOf(near, { to: target }))
      expect(verdict.outcome).not.toBe('blocked')
    })
  })
})
