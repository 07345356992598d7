import { expect, test } from 'vitest'
import { newRequestId } from '../../src/http/request-id.js'

test('no two requests share an id, and each is one that a caller could have sent', () => {
  const ids = Array.from({ length: 10_000 }, newRequestId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
})
