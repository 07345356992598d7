import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** What every results file says of the run, beside its figures. */
export interface RunContext {
  readonly at: string
  /** Abbreviated hash, with `+` when files differ from it; null outside a repository. */
  readonly commit: string | null
  readonly node: string
  readonly machine: { readonly cpu: string; readonly cores: number; readonly memoryBytes: number }
  readonly versions: Readonly<Record<string, string>>
}

export interface ResultsFile {
  readonly context: RunContext
  readonly ratios: Readonly<Record<string, number>>
  readonly [part: string]: unknown
}

const RESULTS = join('bench', 'results')
/** Packages whose speed shows in the figures. */
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

export function runContext(): RunContext {
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

/** @returns the path it was written to */
export function writeResults(name: string, content: object | string): string {
  const path = join(RESULTS, name)
  mkdirSync(dirname(path), { recursive: true })
  const text = typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`
  writeFileSync(path, text)
  return path
}

/** @throws Error when the file is missing or is no results file */
export function readResults(path: string): ResultsFile {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (typeof parsed !== 'object' || parsed === null || !('ratios' in parsed)) {
    throw new Error(`${path} holds no ratios; is it a results file of npm run bench?`)
  }
  return parsed as ResultsFile
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
