import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { nextSteps } from '../../src/cli/live/installation-files.js'
import { runProgram } from '../../src/cli/program.js'
import { CHAIN_IDS } from '../../src/domain/chains.js'
import { DOCUMENTS } from '../docs/documents.js'

/** Every command that a document or `live init` names exists, with the options it is named with. */

const GLOBAL_OPTIONS = ['--json', '--url', '--home', '--help']

/** Most documents name the same few. */
const answers = new Map<string, Promise<{ code: number; out: string }>>()

function run(args: readonly string[]): Promise<{ code: number; out: string }> {
  const key = args.join(' ')
  const answer = answers.get(key) ?? runOnce(args)
  answers.set(key, answer)
  return answer
}

async function runOnce(args: readonly string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const io: Io = {
    env: {},
    out: (text) => {
      out += text
    },
    err: () => undefined,
    isInteractive: false,
  }
  return { code: await runProgram(io, args), out }
}

interface Named {
  readonly where: string
  readonly words: readonly string[]
  readonly options: readonly string[]
}

/** After the name of the program and up to what is no part of the command any more. */
const CALL = /(?<![\w/.@-])countersign (?=[a-z])(.*)/g

function commandsIn(where: string, text: string): Named[] {
  const joined = text.replaceAll(/\\[^\n]*\n\s*/g, ' ').replaceAll(/(?<=\[|\|) /g, '')
  return joined.split('\n').flatMap((line) =>
    [...line.matchAll(CALL)].flatMap(([, rest = '']) => {
      // Sentences and tables speak of "countersign" too: what is meant is in code.
      const isCode = /^\s{3,}|^\$ |^[A-Za-z_]*countersign|`[^`]*countersign/.test(line)
      if (!isCode) return []
      const [call = ''] = rest.split(/[`#]|\s{2,}|, | and |; /)
      const tokens = call.trim().split(/\s+/)
      const end = tokens.findIndex((token) => !/^[a-z][a-z0-9-]*$/.test(token))
      const words = end < 0 ? tokens : tokens.slice(0, end)
      const options = call.match(/(?<![\w-])--[a-z][a-z0-9-]*/g) ?? []
      return words[0] === undefined || words[0] === '' ? [] : [{ where, words, options }]
    }),
  )
}

const documents = DOCUMENTS.filter((path) => !path.startsWith('test/')).flatMap((path) =>
  commandsIn(path, readFileSync(path, 'utf8')),
)
const steps = commandsIn(
  'live init',
  nextSteps(
    {
      chains: CHAIN_IDS,
      usdcFeeds: new Map(),
      serviceUrl: new URL('https://wallet.example.com'),
      identityUrl: new URL('https://id.example.com'),
      servicePort: '8080',
      identityPort: '3100',
      home: '/var/lib/countersign',
      fileKeys: false,
      packageRoot: '/opt/countersign',
      node: '/usr/bin/node',
    },
    '/root/install',
  ),
)

/** Of the words, those that are commands; the rest are values such as a name. */
async function pathOf(words: readonly string[]): Promise<{ path: string[]; help: string }> {
  const path: string[] = []
  let { out: help } = await run(['--help'])
  for (const word of words) {
    if (!new RegExp(`^  ${word}(\\s|$)`, 'm').test(help)) break
    path.push(word)
    help = (await run([...path, '--help'])).out
  }
  return { path, help }
}

describe('what documents name', () => {
  test('is enough to mean something', () => {
    expect(documents.length).toBeGreaterThan(15)
    expect(steps.length).toBeGreaterThan(12)
  })

  test.each([...documents, ...steps])('$where: countersign $words', async ({ words, options }) => {
    const { path, help } = await pathOf(words)
    expect(path[0], `no command ${words[0]}`).toBe(words[0])
    expect((await run([...path, '--help'])).code).toBe(0)
    // A group's own commands are listed in its help: nothing that looks like one is missing there.
    const group = /^Commands:$/m.test(help) && words[path.length] !== undefined
    expect(group ? words[path.length] : null, `${path.join(' ')} has no such command`).toBeNull()
    for (const option of options) {
      const known = GLOBAL_OPTIONS.includes(option) || help.includes(`${option} `)
      expect(known, `${path.join(' ')} has no ${option}`).toBe(true)
    }
  })
})

test('help speaks to each kind of user apart', async () => {
  const { out } = await run(['--help'])
  for (const heading of ['To begin:', 'Agents', 'Owners', 'Operators']) {
    expect(out).toContain(heading)
  }
  const operators = out.slice(out.indexOf('Operators'), out.indexOf('Other:'))
  for (const name of ['live', 'doctor', 'users', 'custody'])
    expect(operators).toContain(`  ${name}`)
})
