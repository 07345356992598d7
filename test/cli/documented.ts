import { readFileSync } from 'node:fs'
import { docsPage } from '../../src/api/docs-page.js'
import { openApiDocument } from '../../src/api/openapi.js'
import type { Io } from '../../src/cli/io.js'
import { nextSteps } from '../../src/cli/live/installation-files.js'
import { runProgram } from '../../src/cli/program.js'
import { DOCUMENTS } from '../docs/documents.js'
import { LIVE_CHOICES } from './live-choices.js'

/** The commands that documents, `/docs` and `live init` name, read out of their text. */

/** Most documents name the same few. */
const answers = new Map<string, Promise<{ code: number; out: string }>>()

export function help(args: readonly string[]): Promise<{ code: number; out: string }> {
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

export interface Named {
  readonly where: string
  readonly words: readonly string[]
  readonly options: readonly string[]
}

/** After the name of the program and up to what is no part of the command any more. */
const CALL = /(?<![\w/.@-])countersign (?=[a-z])((?:(?!countersign ).)*)/g

function commandsIn(where: string, text: string): Named[] {
  const joined = text.replaceAll(/\\[^\n]*\n\s*/g, ' ').replaceAll(/(?<=\[|\|) /g, '')
  return joined.split('\n').flatMap((line) =>
    [...line.matchAll(CALL)].flatMap(([, rest = '']) => {
      // Sentences and tables speak of "countersign" too: what is meant is in code.
      const isCode = /^\s{3,}|^\$ |^[A-Za-z_]*countersign|`[^`]*countersign/.test(line)
      if (!isCode) return []
      const [call = ''] = rest.split(/[`#]|\s{2,}|, | and |; /)
      const tokens = call.trim().split(/\s+/)
      const end = tokens.findIndex((token) => !/^[a-z][a-z0-9|-]*$/.test(token))
      const words = end < 0 ? tokens : tokens.slice(0, end)
      const options = call.match(/(?<![\w-])--[a-z][a-z0-9-]*/g) ?? []
      if (words[0] === undefined || words[0] === '') return []
      // `create|verify` names two.
      const last = words.at(-1)?.split('|') ?? []
      return last.map((word) => ({ where, words: [...words.slice(0, -1), word], options }))
    }),
  )
}

export const documents = DOCUMENTS.filter((path) => !path.startsWith('test/')).flatMap((path) =>
  commandsIn(path, readFileSync(path, 'utf8')),
)
/** `/docs`, of which all that is no text is taken away. */
export const page = commandsIn(
  '/docs',
  docsPage(openApiDocument())
    .replaceAll(/<(code|pre)[^>\n]*>/g, '`')
    .replaceAll(/<[^>\n]+>/g, ''),
)
export const steps = commandsIn('live init', nextSteps(LIVE_CHOICES, '/root/install'))

/** Of the words, those that are commands; the rest are values such as a name. */
export async function pathOf(words: readonly string[]): Promise<{ path: string[]; help: string }> {
  const path: string[] = []
  let { out: text } = await help(['--help'])
  for (const word of words) {
    if (!new RegExp(`^  ${word}(\\s|$)`, 'm').test(text)) break
    path.push(word)
    text = (await help([...path, '--help'])).out
  }
  return { path, help: text }
}
