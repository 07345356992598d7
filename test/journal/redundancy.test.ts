import { expect, test } from 'vitest'
import { parseStandbyNames } from '../../src/journal/postgres-redundancy.js'
import { redundancyReason } from '../../src/service/watch-redundancy.js'

test.each([
  ['', 0, []],
  ['a', 1, ['a']],
  ['a, b', 1, ['a', 'b']],
  ['*', 1, ['*']],
  ['2 (a, b, c)', 2, ['a', 'b', 'c']],
  ['FIRST 1 (a, b)', 1, ['a', 'b']],
  ['any 1 (a,b)', 1, ['a', 'b']],
  ['ANY 2 ("a-1", "b ""2""", c)', 2, ['a-1', 'b "2"', 'c']],
])('of synchronous_standby_names = %j a commit waits for %i', (text, needed, names) => {
  expect(parseStandbyNames(text)).toEqual({ needed, names })
})

test.each([
  [{ needed: 0, connected: 0 }, 'on one machine'],
  [{ needed: 0, connected: 2 }, 'on one machine'],
  [{ needed: 1, connected: 0 }, 'all writes stop until one is back'],
  [{ needed: 1, connected: 1 }, 'losing one stops all writes'],
  [{ needed: 2, connected: 2 }, 'losing one stops all writes'],
])('with %j it is said what a loss does', (seen, words) => {
  const reason = redundancyReason(seen)
  expect(reason).toContain(words)
  // What to do about it is in the sentence.
  expect(reason).toContain('synchronous_standby_names')
})

test('where one standby more than needed can answer, nothing is said', () => {
  expect(redundancyReason({ needed: 1, connected: 2 })).toBeNull()
})
