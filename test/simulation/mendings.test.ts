import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { MENDINGS } from './mendings.js'

const ROOT = new URL('../../', import.meta.url)

function textOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(path, ROOT)), 'utf8')
}

test.each(MENDINGS)('$fault: what mends it is where it can be taken out', (one) => {
  for (const { file, mending } of [one, ...(one.also === undefined ? [] : [one.also])]) {
    expect(textOf(file).split(mending)).toHaveLength(2)
  }
})

test('the README names each fault that is found without its mending, and the seed', () => {
  const rows = MENDINGS.map(({ fault, foundBy, seed }) => [fault, foundBy, String(seed)])
  const table = textOf('test/simulation/README.md')
    .split('\n')
    .filter((line) => /^\|.*\| (?:simulator|review) +\|/.test(line))
    .map((line) =>
      line
        .split('|')
        .slice(1, 4)
        .map((cell) => cell.trim()),
    )
  expect(table).toEqual(rows)
})
