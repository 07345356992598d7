/** The checks of the quorum signer's answers, in their real thread. */
import { randomBytes } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { pointOf, randomScalar, signDigest } from '../../src/quorum-protocol/curve.js'
import {
  createSignatureChecks,
  type SignatureCheck,
  type SignatureChecks,
} from '../../src/service-custody/signature-checks.js'

const BUILT = new URL('../../dist/src/pool/check-signatures.js', import.meta.url)
const ENDING = new URL('fixtures-ending-thread.mjs', import.meta.url)
const BATCH = 32
/** A thread that was ended amid a batch took its process with it about once in a hundred times. */
const CLOSES = 40
const WAIT = { timeout: 20_000, interval: 20 }
const opened: SignatureChecks[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((checks) => checks.close()))
})

function open(entry: URL) {
  const faults: unknown[] = []
  const checks = createSignatureChecks({
    elapsedMs: () => performance.now(),
    onFault: (error) => faults.push(error),
    entry,
  })
  opened.push(checks)
  return { checks, faults }
}

function made(): SignatureCheck {
  const scalar = randomScalar()
  const digest = randomBytes(32)
  return { point: pointOf(scalar), digest, signature: signDigest(digest, scalar) }
}

const batchOf = (length: number) => Array.from({ length }, made)

/** A batch in which every kind of wrong answer is among right ones. */
function mixed(): { batch: SignatureCheck[]; expected: boolean[] } {
  const batch = batchOf(BATCH)
  const expected = batch.map(() => true)
  const wrong = (index: number, change: (check: SignatureCheck) => Partial<SignatureCheck>) => {
    const check = batch[index] as SignatureCheck
    batch[index] = { ...check, ...change(check) }
    expected[index] = false
  }
  wrong(0, () => ({ point: made().point }))
  wrong(3, () => ({ digest: randomBytes(32) }))
  wrong(4, ({ signature }) => ({ signature: flipped(signature, 10) }))
  wrong(17, ({ signature }) => ({ signature: flipped(signature, 40) }))
  wrong(18, ({ signature }) => ({ signature: flipped(signature, 64) }))
  wrong(31, () => ({ signature: Buffer.alloc(65) }))
  return { batch, expected }
}

function flipped(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes)
  copy[at] = (copy[at] ?? 0) ^ 1
  return copy
}

/** Until the thread has loaded, a batch is answered without a turn of this event loop. */
async function untilHandedOver(checks: SignatureChecks): Promise<void> {
  await vi.waitFor(async () => {
    const answer = checks.check(batchOf(BATCH))
    const first = await Promise.race([answer.then(() => 'here'), setImmediate('handed over')])
    await answer
    expect(first).toBe('handed over')
  }, WAIT)
}

describe('signatures are checked in a thread', () => {
  it('each for itself, in the order of the batch', async () => {
    const { checks, faults } = open(BUILT)
    await untilHandedOver(checks)
    const { batch, expected } = mixed()
    expect(await checks.check(batch)).toEqual(expected)
    expect(faults).toEqual([])
  })

  it('batch by batch, also where more of them are under way than one thread takes', async () => {
    const { checks } = open(BUILT)
    await untilHandedOver(checks)
    const batches = Array.from({ length: 24 }, mixed)
    const asked = batches.map(({ batch }) => checks.check(batch))
    expect(checks.read().length).toBe(batches.length)
    const answers = await Promise.all(asked)
    expect(checks.read()).toMatchObject({ length: 0, dropped: 0 })
    expect(checks.read().waitMs).toBeGreaterThan(0)
    expect(answers).toEqual(batches.map(({ expected }) => expected))
  })

  it.each([64, 66, 0, 4_096])('and one of %i bytes makes no other one count', async (length) => {
    const { checks } = open(BUILT)
    await untilHandedOver(checks)
    const batch = batchOf(BATCH)
    const long = Buffer.concat([made().signature, randomBytes(4_096)]).subarray(0, length)
    batch[5] = { ...made(), signature: long }
    const expected = batch.map((_, index) => index !== 5)
    expect(await checks.check(batch)).toEqual(expected)
  })
})

describe('signatures are checked anyway', () => {
  it('where the thread ends with a batch in hand', async () => {
    const { checks, faults } = open(ENDING)
    const { batch, expected } = mixed()
    await vi.waitFor(async () => {
      expect(await checks.check(batch)).toEqual(expected)
      expect(faults.length).toBeGreaterThan(2)
    }, WAIT)
    expect(checks.read().length).toBe(0)
    expect(checks.read().dropped).toBeGreaterThan(0)
  })

  it('where the thread does not start', async () => {
    const { checks, faults } = open(new URL('no-such-module.mjs', import.meta.url))
    const { batch, expected } = mixed()
    await vi.waitFor(async () => {
      expect(await checks.check(batch)).toEqual(expected)
      expect(faults.length).toBeGreaterThan(0)
    }, WAIT)
    expect(await checks.check(batch)).toEqual(expected)
  })

  it('after the end of the thread that close() asks for', async () => {
    const { checks, faults } = open(BUILT)
    await untilHandedOver(checks)
    const { batch, expected } = mixed()
    const underWay = checks.check(batch)
    await checks.close()
    expect(await underWay).toEqual(expected)
    expect(await checks.check(batch)).toEqual(expected)
    expect(faults).toEqual([])
  })

  it('where close() comes amid batches, time and again, and the process goes on', async () => {
    const { batch, expected } = mixed()
    for (let times = 0; times < CLOSES; times++) {
      const { checks, faults } = open(BUILT)
      await untilHandedOver(checks)
      const underWay = Array.from({ length: 3 }, () => checks.check(batch))
      await checks.close()
      expect(await Promise.all(underWay)).toEqual(underWay.map(() => expected))
      expect(faults).toEqual([])
    }
  })

  it('while close() comes before the thread has loaded', async () => {
    const { checks, faults } = open(BUILT)
    const { batch, expected } = mixed()
    const underWay = checks.check(batch)
    await checks.close()
    await setImmediate()
    expect(await underWay).toEqual(expected)
    expect(faults).toEqual([])
  })
})
