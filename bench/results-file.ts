import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { BenchRun } from './options.js'
import { say } from './say.js'

/** What every results file tells about the run, besides its figures. */
export interface RunContext {
  readonly at: string
  /** Abbreviated hash, with `+` if files differ from it; null outside a repository. */
  readonly commit: string | null
  readonly node: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryBytes: number }
  readonly versions: Readonly<Record<string, string>>
}

export interface ResultsFile {
  /** As it was typed, such as `npm run bench -- write`. */
  readonly bench: string
  readonly context: RunContext
  readonly ratios: Readonly<Record<string, number>>
  readonly [part: string]: unknown
}

/** The results of one run. */
interface Findings {
  /** Each figure that has a yardstick in the same run, as a share of it. */
  readonly ratios: Readonly<Record<string, number>>
  readonly [part: string]: unknown
}

const RESULTS = join('bench', 'results')
/** Packages whose speed affects the figures. */
const PACKAGES = [
  'uWebSockets.js',
  'lmdb',
  'secp256k1',
  'msgpackr',
  'undici',
  'fastify',
  'libsql',
  'viem',
]

function runContext(): RunContext {
  const processors = cpus()
  return {
    at: new Date().toISOString(),
    commit: commit(),
    node: process.version,
    machine: {
      cpu: processors[0]?.model.trim() ?? 'unknown',
      cores: processors.length,
      memoryBytes: totalmem(),
    },
    versions: packageVersions(),
  }
}

/** @returns the path of the written file */
export function writeResults(name: string, content: object | string): string {
  const path = join(RESULTS, name)
  mkdirSync(dirname(path), { recursive: true })
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
  writeFileSync(path, text)
  return path
}

/** Writes the results file of a run, and prints it or its tables. */
export function publish(
  run: BenchRun,
  findings: Findings,
  tables: string | ((context: RunContext) => string),
): void {
  const { command: bench, values: options, results: name, output } = run
  if (name === null) throw new Error(`${bench} has no results file`)
  const context = runContext()
  const results = { bench, context, options, ...findings }
  const path = writeResults(name, results)
  const text = typeof tables === 'string' ? tables : tables(context)
  console.log(output === 'json' ? JSON.stringify(results, null, 2) : text)
  say(path)
}

const RESULTS_FILE = z.looseObject({
  bench: z.string(),
  context: z.looseObject({
    commit: z.string().nullable(),
    node: z.string(),
    machine: z.looseObject({ cpu: z.string(), cores: z.number() }),
  }),
  ratios: z.record(z.string(), z.number()),
})
/** Results files have some kilobytes. */
const FILE_BYTES_MAX = 64 * 1_024 * 1_024

/** @throws Error of one line if the file is missing or not a results file */
export function readResults(path: string): ResultsFile {
  const parsed = RESULTS_FILE.safeParse(jsonOf(path))
  if (parsed.success) return parsed.data as unknown as ResultsFile
  const [issue] = parsed.error.issues
  throw new Error(
    `${path} is no results file of a bench: ${issue?.path.join('.')} ${issue?.message}`,
  )
}

function jsonOf(path: string): unknown {
  let text: string
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new Error('it is too long')
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`${path} cannot be read: ${messageOf(error)}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`${path} is no JSON: ${messageOf(error)}`)
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function packageVersions(): Record<string, string> {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    dependencies: Record<string, string>
    devDependencies: Record<string, string>
  }
  const all = { ...devDependencies, ...dependencies }
  return Object.fromEntries(PACKAGES.map((name) => [name, all[name] ?? 'missing']))
}

function commit(): string | null {
  try {
    const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? '+' : ''}`
  } catch {
    return null
  }
}
