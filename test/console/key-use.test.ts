import { expect, test } from 'vitest'
import { createKeyUseRecorder, type KeyUse } from '../../src/auth/key-use.js'
import type { KeyId } from '../../src/domain/ids.js'

const A = 'key_a' as KeyId
const B = 'key_b' as KeyId

test('a use is known at once to the minute, and written once for many requests', async () => {
  const written: KeyUse[][] = []
  let nowMs = 60_000 * 100 + 1
  const recorder = createKeyUseRecorder({
    write: async (uses) => {
      written.push([...uses])
      return { ok: true }
    },
    nowMs: () => nowMs,
  })
  expect(recorder.lastUsedAtMs(A)).toBeNull()
  for (let i = 0; i < 1_000; i++) recorder.saw(A)
  recorder.saw(B)
  nowMs += 90_000
  recorder.saw(B)
  expect(recorder.lastUsedAtMs(A)).toBe(60_000 * 100)
  expect(recorder.lastUsedAtMs(B)).toBe(60_000 * 101)
  expect(written).toEqual([])
  await recorder.close()
  expect(written).toEqual([
    [
      { keyId: A, atMs: 60_000 * 100 },
      { keyId: B, atMs: 60_000 * 101 },
    ],
  ])
})

test('what could not be written is written the next time', async () => {
  const written: KeyUse[][] = []
  let ok = false
  const recorder = createKeyUseRecorder({
    write: async (uses) => {
      written.push([...uses])
      return { ok }
    },
    nowMs: () => 60_000,
  })
  recorder.saw(A)
  await recorder.close()
  ok = true
  await recorder.close()
  await recorder.close()
  expect(written).toHaveLength(2)
})
