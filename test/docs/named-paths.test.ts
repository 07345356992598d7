import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { GATES } from '../../actors/sub-wallet/core/lifecycle.js'
import { brokenPartOf, DOCUMENTS, filesNamedIn, isThere, linksIn } from './documents.js'

describe.each(DOCUMENTS)('%s', (document) => {
  const text = readFileSync(document, 'utf8')

  test('names files that are there', () => {
    const gone = filesNamedIn(text).filter(({ path }) => !isThere(document, path))
    expect(gone).toEqual([])
  })

  test('links to files and headings that are there', () => {
    const broken = linksIn(text).filter(({ path }) => brokenPartOf(document, path) !== null)
    expect(broken).toEqual([])
  })
})

test('a file that is gone is noticed, however it is named', () => {
  const text = 'See `src/main.ts`, `src/{main,gone}.ts`, `gone-*.ts` and `npm run src/gone/`.'
  const gone = filesNamedIn(text).filter(({ path }) => !isThere('README.md', path))
  expect(gone.map(({ path }) => path)).toEqual(['src/gone.ts', 'gone-*.ts', 'src/gone/'])
})

test('a link to a heading that is gone is noticed', () => {
  expect(brokenPartOf('README.md', '#license')).toBe(null)
  expect(brokenPartOf('src/mcp/README.md', '../../README.md#gone')).toBe('README.md#gone')
})

test('the walk of a send names the files of every room it passes', () => {
  const rooms = new Set(
    filesNamedIn(readFileSync('actors/README.md', 'utf8')).flatMap(
      ({ path }) => /^(src|actors)\/[\w-]+(?=\/)/.exec(path)?.slice(0, 1) ?? [],
    ),
  )
  for (const room of ['api', 'auth', 'chains', 'http', 'operations', 'screening', 'store']) {
    expect(rooms).toContain(`src/${room}`)
  }
  for (const room of ['account', 'chain-watcher', 'runtime', 'sub-wallet', 'webhook-endpoint']) {
    expect(rooms).toContain(`actors/${room}`)
  }
})

test('the walk of a send names its gates, in their order', () => {
  const gates = GATES.map(({ name }) => `\`${name}\``).join(', ')
  expect(readFileSync('actors/README.md', 'utf8').replaceAll(/\s+/g, ' ')).toContain(gates)
})
