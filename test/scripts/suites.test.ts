import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { commandOf, ON_REQUEST, SUITES, type Suite } from '../../scripts/suites.mjs'
import { PATHS } from '../docs/documents.js'

/** The table of `npm run test:long`. */

const NAMES = new Set(SUITES.map(({ name }) => name))
const ON_REQUEST_PATHS = Object.entries(ON_REQUEST).map(
  ([variable, path]) => [variable, path.replace(/\/\*\*$/, '')] as const,
)

function suiteOf(name: string): Suite {
  const suite = SUITES.find((row) => row.name === name)
  if (suite === undefined) throw new Error(`there is no suite ${name}`)
  return suite
}

/** As a shell takes it. */
function typed(name: string, form: 'whole' | 'short', environment: Record<string, string> = {}) {
  const { env, script, args } = commandOf(suiteOf(name), form, environment)
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`)
  return [...variables, script, ...args].join(' ')
}

describe('a suite', () => {
  test('has a name of its own', () => {
    expect(NAMES.size).toBe(SUITES.length)
    for (const name of NAMES) expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
  })

  test.each(SUITES)(
    '$name names what is there',
    ({ on, program, files = [], needs = [], short }) => {
      const programs = program === undefined ? [] : [program]
      for (const path of [...files, ...(short?.files ?? []), ...programs]) {
        expect(existsSync(path), path).toBe(true)
      }
      expect(files.length > 0).toBe(program === undefined)
      if (on !== undefined) expect(ON_REQUEST).toHaveProperty(on)
      const installers = readFileSync('scripts/toolchain/system-packages.mjs', 'utf8')
      for (const name of needs) {
        if (name !== 'restate') expect(installers).toContain(`  ${name}: {`)
      }
    },
  )

  test.each(SUITES.filter(({ args }) => args?.includes('-t')))(
    '$name asks for titles that its files have',
    ({ files = [], args = [] }) => {
      const title = new RegExp((args[args.indexOf('-t') + 1] ?? '').replace(/^\^/, "'"))
      const sources = PATHS.filter((path) => files.some((file) => path.startsWith(file)))
      expect(sources.filter((path) => title.test(readFileSync(path, 'utf8')))).not.toEqual([])
    },
  )
})

describe('what runs on request', () => {
  test.each(ON_REQUEST_PATHS)('%s has a suite that runs %s', (variable, path) => {
    expect(existsSync(path)).toBe(true)
    const suites = SUITES.filter(({ on }) => on === variable)
    const runs = ({ program, files = [] }: Suite) =>
      program === undefined
        ? files.some((file) => path.startsWith(file))
        : readFileSync(program, 'utf8').includes(`'${path}'`)
    expect(suites.filter(runs)).not.toEqual([])
  })
})

describe('the command of a suite', () => {
  test('has its switch, its packages, its files and its arguments', () => {
    expect(typed('journal', 'whole')).toBe(
      'JOURNAL=1 JOURNAL_RACES=3000 scripts/run.mjs --test-with postgresql test/journal-postgres test/journal',
    )
    expect(typed('console', 'whole')).toBe(
      'CONSOLE=1 CONSOLE_TIMED=1 scripts/run.mjs --test-with chromium test/console-browser --maxWorkers=1',
    )
    expect(typed('cells-acceptance', 'whole')).toBe('scripts/test-nodes-acceptance.mjs --cells')
  })

  test('is shorter with --short', () => {
    expect(typed('journal', 'short')).toBe(
      'JOURNAL=1 scripts/run.mjs --test-with postgresql test/journal-postgres',
    )
    expect(typed('package', 'short')).toBe(
      'PACKAGE=1 PACKAGE_SHORT=1 scripts/run.mjs --test test/package',
    )
    expect(typed('console', 'short')).toBe(
      'CONSOLE=1 CONSOLE_SHORT=1 scripts/run.mjs --test-with chromium test/console-browser/console.test.ts',
    )
    expect(typed('runtimes', 'short')).toBe('scripts/test-runtimes.mjs --short')
  })

  test('takes variables from the environment before its own, except its switch', () => {
    const environment = { FAULTS_RUNS: '9', FAULTS_WALLETS: '', PACKAGE: '0' }
    expect(typed('faults', 'whole', environment)).toBe(
      'FAULTS_RUNS=9 FAULTS_TRANSACTIONS=2000 FAULTS_WALLETS=20 scripts/run.mjs --test test/faults',
    )
    expect(typed('package', 'whole', environment)).toBe(
      'PACKAGE=1 scripts/run.mjs --test test/package',
    )
  })

  test.each(['whole', 'short'] as const)('needs Restate for the faults of it, %s', (form) => {
    const needs = (environment: Record<string, string>) =>
      commandOf(suiteOf('cluster-faults'), form, environment).args[1]
    expect(needs({})).toBe('postgresql')
    expect(needs({ CLUSTER_FAULTS_ENGINE: 'restate' })).toBe('postgresql,restate')
  })
})

describe('mentions of suites', () => {
  const texts = PATHS.filter((path) => /\.(md|tsx?|mjs|yml)$/.test(path))
    .filter((path) => !/^bench\/results\/|^test\/scripts\//.test(path))
    .map((path) => [path, readFileSync(path, 'utf8')] as const)

  function mentions(what: RegExp) {
    return texts.flatMap(([path, text]) =>
      [...text.matchAll(what)].map(([words, name = '']) => ({ path, words, name })),
    )
  }

  test('are of suites that are there', () => {
    const named = [
      ...mentions(/npm run test:long --[\s*]+([a-z][\w-]*(?::[a-z][\w-]*)*)/g),
      ...mentions(/\bsuite `([^`]+)`/g),
    ]
    expect(named.length).toBeGreaterThan(0)
    expect(named.filter(({ name }) => !NAMES.has(name))).toEqual([])
  })

  test('are of short forms that are there', () => {
    const short = mentions(/test:long -- (\S+) --short/g)
    expect(short.filter(({ name }) => suiteOf(name).short === undefined)).toEqual([])
  })

  test('CI runs suites and short forms that are there', () => {
    const lines = [...readFileSync('.ci/run', 'utf8').matchAll(/^long (\S+)( --short)?$/gm)]
    expect(lines.length).toBeGreaterThan(0)
    for (const [, name = '', short] of lines) {
      if (short !== undefined) expect(suiteOf(name), name).toHaveProperty('short')
      else expect(NAMES).toContain(name)
    }
  })
})
