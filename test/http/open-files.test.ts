import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  DESCRIPTORS_RESERVED,
  descriptorsMax,
  descriptorsOpen,
  unreservedDescriptors,
} from '../../src/http/open-files.js'

test('connections leave a reserve, and at least half of few descriptors', () => {
  expect(unreservedDescriptors(65_536)).toBe(65_536 - DESCRIPTORS_RESERVED)
  expect(unreservedDescriptors(2 * DESCRIPTORS_RESERVED)).toBe(DESCRIPTORS_RESERVED)
  expect(unreservedDescriptors(256)).toBe(128)
})

test('a system that names no limit sets none', () => {
  expect(unreservedDescriptors(null)).toBe(Number.POSITIVE_INFINITY)
})

test.runIf(process.platform === 'linux')('what is open is counted, up to what may be', () => {
  const before = descriptorsOpen() ?? 0
  const files = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'))
  const during = descriptorsOpen() ?? 0
  for (const file of files) closeSync(file)
  // Other work of this process may close some meanwhile.
  expect(during).toBeGreaterThan(before + 25)
  expect(descriptorsMax()).toBeGreaterThan(during)
})
