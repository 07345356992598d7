import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { flag, number, numbers, word, words } from '../../bench/option-kinds.js'
import { readCall } from '../../bench/options.js'

const usage = {
  name: 'write',
  takes: 'a minute',
  disk: 'none',
  results: 'some.json',
  runsOn: 'any',
  options: {
    callers: numbers('callers', {
      steps: 'whole',
      min: 1,
      max: 4_096,
      byDefault: [1, 32],
      countMin: 1,
      countMax: 3,
    }),
    seconds: number('how long', { steps: 'any', min: 0.5, max: 60, byDefault: 4 }),
    rate: number('a second', { steps: 'any', min: 1, max: 9, byDefault: null }),
    cells: numbers('at once', {
      ...{ steps: 'whole', min: 1, max: 9, byDefault: [], countMin: 1, countMax: 3 },
    }),
    only: words('which', ['limits', 'transaction']),
    chain: word('over', ['sink', 'anvil']),
    short: flag('less of it'),
  },
} as const

function called(...args: string[]) {
  return readCall(usage, args)
}

describe('the options of a bench', () => {
  test('are their defaults when nothing is given', () => {
    expect(called()).toMatchObject({
      kind: 'run',
      run: {
        values: {
          callers: [1, 32],
          seconds: 4,
          rate: null,
          cells: [],
          only: ['limits', 'transaction'],
          chain: 'sink',
          short: false,
        },
        output: 'tables',
      },
    })
  })

  test('are read in both ways of writing them', () => {
    const args = ['--callers', '8,9', '--seconds=0.5', '--only', 'limits', '--short', '--json']
    args.push('--chain', 'anvil')
    expect(called(...args)).toMatchObject({
      kind: 'run',
      run: {
        values: { callers: [8, 9], seconds: 0.5, only: ['limits'], chain: 'anvil', short: true },
        output: 'json',
      },
    })
  })

  test.each([
    [['--secnds', '4'], 'there is no option --secnds'],
    [['--constructor'], 'there is no option --constructor'],
    [['-s'], 'there is no option -s'],
    [['more'], 'there is no place for the argument more'],
    [['--seconds'], '--seconds needs a value'],
    [['--seconds', 'NaN'], '--seconds must be 0.5 to 60, not "NaN"'],
    [['--seconds', '-1'], '--seconds must be 0.5 to 60, not "-1"'],
    [['--seconds', '0'], '--seconds must be 0.5 to 60, not "0"'],
    [['--seconds', '1e1'], '--seconds must be 0.5 to 60, not "1e1"'],
    [['--seconds='], '--seconds must be 0.5 to 60, not ""'],
    [['--chain', 'moon'], '--chain knows no "moon", only sink, anvil'],
    [['--callers', '1.5'], '--callers must be whole, 1 to 4096, not "1.5"'],
    [['--callers', '1,,2'], '--callers must be whole, 1 to 4096, not ""'],
    [['--callers', '1,2,3,4'], '--callers takes 1 to 3 numbers with commas between'],
    [['--only', 'limit'], '--only knows no "limit", only limits, transaction'],
    [['--short=yes'], '--short takes no value'],
  ])('%j is refused in one line', (args, problem) => {
    expect(called(...args)).toEqual({ kind: 'refused', problem })
  })

  test('help says what each is, its bounds and its default', () => {
    const call = called('--help')
    expect(call).toMatchObject({ kind: 'help' })
    const text = call.kind === 'help' ? call.text : ''
    expect(text).toContain('bench/results/some.json')
    expect(text).toMatch(/--seconds N +how long, 0\.5 to 60 \(default 4\)/)
    expect(text).toMatch(/--cells N,N +at once, whole, 1 to 9 \(default none\)/)
    expect(text).toMatch(/--json +print/)
  })
})

describe('bench -- compare', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-compare-'))
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  let files = 0

  function file(content: string): string {
    const path = join(directory, `${files++}.json`)
    writeFileSync(path, content)
    return path
  }

  function results(bench: string, ratios: object): string {
    const machine = { cpu: 'x', cores: 2 }
    return file(JSON.stringify({ bench, context: { commit: 'abc', node: 'v20', machine }, ratios }))
  }

  function compare(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return new Promise((resolve) => {
      execFile(process.execPath, ['dist/bench/compare.js', ...args], (error, out, err) => {
        resolve({ code: error === null ? 0 : Number(error.code), out, err })
      })
    })
  }

  test('says how two files differ, and in one line what is wrong with them', async () => {
    const read = results('npm run bench -- read', { x: 0.5 })
    const [ok, older, json, other, missing, broken, none, one] = await Promise.all([
      compare(read, results('npm run bench -- read', { x: 0.25 })),
      compare(results('npm run bench:read', { x: 1 }), read),
      compare(read, read, '--json'),
      compare(read, results('npm run bench -- write', { x: 0.5 })),
      compare(read, join(directory, 'missing.json')),
      compare(read, file('{"ratios":')),
      compare(read, results('npm run bench -- read', { x: 'fast' })),
      compare(read),
    ])
    for (const compared of [ok, older]) {
      expect(compared).toMatchObject({ code: 0, err: '' })
      expect(compared.out).toContain('-50.0 %')
    }
    expect(JSON.parse(json.out)).toEqual({ x: { before: 0.5, after: 0.5, change: 0 } })
    for (const [refused, line] of [
      [other, /one is of npm run bench -- read, the other of npm run bench -- write/],
      [missing, /missing\.json cannot be read/],
      [broken, /is no JSON/],
      [none, /is no results file of a bench: ratios\.x/],
      [one, /the argument after\.json is missing/],
    ] as const) {
      expect(refused).toMatchObject({ code: 2, out: '' })
      expect(refused.err).toMatch(line)
      expect(refused.err.trim().split('\n')).toHaveLength(1)
    }
  }, 60_000)
})
