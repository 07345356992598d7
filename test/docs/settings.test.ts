import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { describe, expect, test } from 'vitest'
import { withSettings } from '../../scripts/settings/table.js'
import { readConfig, SERVICE_VARIABLES, workersFor } from '../../src/config/env.js'
import { type Reader, VARIABLES } from '../../src/config/variables.js'
import { readProcessEnvironment } from '../../src/custody/process-environment.js'
import { readIdentitySettings } from '../../src/identity-provider/settings.js'
import { PATHS } from './documents.js'

/** The settings in the guide are those that the code reads, by name, reader and default, and no others. */

const NAMES = new Set(VARIABLES.map(({ name }) => name))
/** A page for programs of others shows how they read theirs. */
const NOT_OURS = 'src/api/docs-guides.ts'
const SOURCES = PATHS.filter((path) => /^(src|actors)\/.*\.ts$/.test(path) && path !== NOT_OURS)

/** Names that a source takes from an environment, whatever the way. */
function namesReadIn(text: string): string[] {
  const property = text.matchAll(/\benv(?:ironment)?\??\.([A-Z][A-Z0-9_]+)\b/g)
  const literal = text.matchAll(
    /['"`]((?:COUNTERSIGN|IDENTITY|CONSOLE|OTEL|UV|UWS|LIBUS)_[A-Z0-9_]+)['"`]/g,
  )
  const inBrackets = text.matchAll(/\benv(?:ironment)?\[['"]([A-Z][A-Z0-9_]*)['"]\]/g)
  const taken = [...text.matchAll(/\{([^{}]*)\}\s*(?::[^=;]*)?=\s*(?:\w+\.)?env\b/g)].flatMap(
    ([, names = '']) => names.match(/\b[A-Z][A-Z0-9_]+\b/g) ?? [],
  )
  return [...[...property, ...literal, ...inBrackets].map(([, name = '']) => name), ...taken]
}

const namesOf = (reader: Reader) =>
  VARIABLES.filter(({ readers }) => readers.includes(reader)).map(({ name }) => name)

describe('the list of settings', () => {
  test('is the one in the guide', () => {
    const guide = readFileSync('OPERATIONS.md', 'utf8')
    expect(withSettings(guide), 'run node scripts/run.mjs settings/write').toBe(guide)
  })

  test('has each name once, with a meaning of one line', () => {
    expect(NAMES.size).toBe(VARIABLES.length)
    for (const { meaning } of VARIABLES) expect(meaning).not.toMatch(/[|\n]/)
  })

  test('has every variable that a source reads', () => {
    const unlisted = SOURCES.flatMap((path) =>
      namesReadIn(readFileSync(path, 'utf8'))
        .filter((name) => !NAMES.has(name))
        .map((name) => `${path}: ${name}`),
    )
    expect(unlisted).toEqual([])
  })

  test('has none that no source reads', () => {
    const read = new Set(
      SOURCES.filter((path) => path !== 'src/config/variables.ts').flatMap((path) => [
        ...namesReadIn(readFileSync(path, 'utf8')),
        ...(path === 'src/config/env.ts' ? SERVICE_VARIABLES : []),
      ]),
    )
    expect([...NAMES].filter((name) => !read.has(name))).toEqual([])
  })

  test('gives the service what the service reads', () => {
    expect(namesOf('service').toSorted()).toEqual(SERVICE_VARIABLES.toSorted())
  })

  test('names the defaults that the code takes', () => {
    const defaults = Object.fromEntries(
      VARIABLES.flatMap(({ name, usual }) => (typeof usual === 'string' ? [[name, usual]] : [])),
    )
    expect(readConfig(defaults).config).toEqual(readConfig({}).config)
    expect(readIdentitySettings(defaults)).toEqual(readIdentitySettings({}))
    expect(readProcessEnvironment(defaults)).toEqual(readProcessEnvironment({}))
    expect(readConfig({}).config.workers).toBe(workersFor(availableParallelism()))
    // Another value of each makes a difference, so that agreement means something.
    expect(readConfig({ ...defaults, PORT: '8081' }).config).not.toEqual(readConfig({}).config)
  })
})

test('a variable is found however it is read', () => {
  const text = `
    const a = process.env.AN_A
    const b = env?.A_B ?? io.env['A_C']
    const { A_D = '', A_E: e } = io.env
    const f = lookUp('COUNTERSIGN_F')`
  expect(namesReadIn(text).toSorted()).toEqual([
    'AN_A',
    'A_B',
    'A_C',
    'A_D',
    'A_E',
    'COUNTERSIGN_F',
  ])
})
