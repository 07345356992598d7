import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { PROGRAMS } from '../../bench/programs.js'
import { chooseProgram } from '../../scripts/become-program.js'
import { PATHS } from '../docs/documents.js'

/** `npm run bench -- NAME` and `npm run dev -- NAME`. */

const programs = { command: 'npm run some --', does: { walk: 'walks', sit: 'sits' }, usual: null }

function run(
  script: string,
  ...args: string[]
): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    )
  })
}

describe('a command with a name as its first argument', () => {
  test('becomes the program, which gets the other arguments', () => {
    expect(chooseProgram(programs, ['sit', 'down', '--help'])).toEqual({
      kind: 'program',
      name: 'sit',
      args: ['down', '--help'],
    })
  })

  test('becomes the usual program without a name', () => {
    const usual = { ...programs, usual: 'walk' }
    for (const args of [[], ['--fast']]) {
      expect(chooseProgram(usual, args)).toEqual({ kind: 'program', name: 'walk', args })
    }
  })

  test.each([
    [['stand'], 'npm run some -- has no stand: there are walk, sit'],
    [['constructor'], 'npm run some -- has no constructor: there are walk, sit'],
    [[], 'npm run some -- needs a name: walk, sit'],
    [['--fast'], 'npm run some -- needs a name: walk, sit'],
  ])('%j is refused', (args, problem) => {
    expect(chooseProgram(programs, args)).toEqual({ kind: 'refused', problem })
  })

  test('lists the programs with --help', () => {
    const choice = chooseProgram(programs, ['--help'])
    expect(choice.kind === 'help' && choice.text).toMatch(/^ {2}walk {3}walks\n {2}sit {4}sits$/m)
  })
})

describe('npm run bench', () => {
  const names = Object.keys(PROGRAMS)

  test('names every program of the folder', () => {
    const files = readdirSync('bench').filter((file) => file.endsWith('.ts'))
    const named = files.flatMap((file) => {
      const [, name] =
        /readOptions\(\{\n {2}name: '(\w+)'/.exec(readFileSync(`bench/${file}`, 'utf8')) ?? []
      if (name !== undefined) expect(file).toBe(`${name}.ts`)
      return name ?? []
    })
    expect(new Set(named)).toEqual(new Set(names))
  })

  test('names every program in its README', () => {
    const [list = ''] = readFileSync('bench/README.md', 'utf8').split('\n## ')
    const listed = (list.match(/^- `.*?:/gm) ?? []).flatMap((line) =>
      [...line.matchAll(/`(\w+)[^`]*`/g)].map(([, name]) => name),
    )
    expect(new Set(listed)).toEqual(new Set(names))
  })

  test('lists them, refuses another, and leaves --help after a name to the program', async () => {
    const [list, other, own, usual] = await Promise.all([
      run('dist/bench/main.js', '--help'),
      run('dist/bench/main.js', 'wirte'),
      run('dist/bench/main.js', 'compare', '--help'),
      run('dist/bench/main.js', '--rounds', 'many'),
    ])
    expect(list.code).toBe(0)
    for (const [name, measures] of Object.entries(PROGRAMS)) {
      expect(list.out).toMatch(new RegExp(`^  ${name} +\\S`, 'm'))
      expect(list.out).toContain(measures)
    }
    expect(other).toMatchObject({ code: 2, out: '' })
    expect(other.err).toContain('has no wirte: there are run, write')
    expect(own.out).toMatch(/^npm run bench -- compare <before\.json> <after\.json> \[options\]\n/)
    expect(usual).toMatchObject({ code: 2, out: '' })
    expect(usual.err).toContain('npm run bench -- run --help')
  }, 60_000)
})

describe('npm run dev', () => {
  test('becomes its programs, and refuses others', async () => {
    const [help, other] = await Promise.all([
      run('dist/scripts/dev.js', 'fund', '--help'),
      run('dist/scripts/dev.js', 'find'),
    ])
    expect(help).toMatchObject({ code: 0 })
    expect(help.out).toContain('Usage: npm run dev -- fund [options]')
    expect(other).toMatchObject({ code: 2, out: '' })
    expect(other.err).toContain('npm run dev -- has no find: there are fund, reset, token')
  }, 60_000)
})

test('documents and sources name benches and development programs that are there', () => {
  const known = new Set([...Object.keys(PROGRAMS), 'fund', 'reset', 'token'])
  const unknown = PATHS.filter((path) =>
    /^(?!bench\/results|test\/scripts).*\.(md|ts|mjs)$/.test(path),
  )
    .flatMap((path) => {
      const text = readFileSync(path, 'utf8')
      const mentions = text.matchAll(/npm run (?:--silent )?(?:bench|dev) --[\s*]+([a-z]\w*)/g)
      return [...mentions].map(([words, name = '']) => ({ path, words, name }))
    })
    .filter(({ name }) => !known.has(name))
  expect(unknown).toEqual([])
})
