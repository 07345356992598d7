import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { headingsOf, PATHS } from './documents.js'

/** Comments give the source of a rule, which has to be one that their reader has. */

const SOURCES = PATHS.filter(
  (path) => /\.(ts|mjs|cjs|sol)$/.test(path) && !path.startsWith('test/docs/'),
)

/** A comment without its line breaks. */
function unwrapped(path: string): string {
  return readFileSync(path, 'utf8').replaceAll(/\n\s*\*?\s*/g, ' ')
}

test('what comments cite of the contract is in it', () => {
  const headings = new Set(headingsOf(readFileSync('src/api/CONTRACT.md', 'utf8')))
  const cited = SOURCES.flatMap((path) =>
    [...unwrapped(path).matchAll(/CONTRACT\.md(?:, "([^"]+)")?/g)].map(([, heading]) => ({
      path,
      heading: heading ?? '',
    })),
  )
  expect(cited.filter(({ heading }) => !headings.has(heading))).toEqual([])
  expect(cited.length).toBeGreaterThan(20)
})

test('no comment cites a document that is not in the repository', () => {
  const elsewhere = /\b(?:API\.md|SPEC\b(?! silent)|DESIGN(?: §|\.md))/
  expect(SOURCES.filter((path) => elsewhere.test(unwrapped(path)))).toEqual([])
})
