import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

const NPM_TIMEOUT_MS = 300_000
const QUIET = ['--no-audit', '--no-fund', '--loglevel=error']
/** What is in npm's cache is taken from there. */
const INSTALL = ['install', '--prefer-offline', '--ignore-scripts', ...QUIET]

/** The package as `npm publish` would send it, installed as somebody else's dependency. */
export interface Packed {
  readonly tarball: string
  /** Paths inside the package. */
  readonly files: readonly string[]
  /** An empty project with the package and all it depends on. */
  readonly project: string
  /** An empty project with the package's own files and nothing it depends on. */
  readonly bare: string
  remove(): void
}

export async function packAndInstall(): Promise<Packed> {
  const directory = mkdtempSync(join(tmpdir(), 'cs-package-'))
  const packed = await run('npm', ['pack', '--json', '--pack-destination', directory, ...QUIET], {
    timeout: NPM_TIMEOUT_MS,
    maxBuffer: 16 * 1024 * 1024,
  })
  const [{ filename, files }] = JSON.parse(packed.stdout) as [
    { filename: string; files: { path: string }[] },
  ]
  const tarball = join(directory, filename)
  const project = emptyProject(join(directory, 'project'))
  await run('npm', [...INSTALL, tarball], { cwd: project, timeout: NPM_TIMEOUT_MS })
  const bare = emptyProject(join(directory, 'bare'))
  const own = join(bare, 'node_modules', 'countersign')
  mkdirSync(own, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1'])
  return {
    tarball,
    files: files.map(({ path }) => path),
    project,
    bare,
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }),
  }
}

function emptyProject(directory: string): string {
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{"private":true,"type":"module"}\n')
  return directory
}

const DENO = '2.9.6'
const BUN = '1.4.5'

export interface Runtimes {
  readonly deno: string
  readonly bun: string
}

/**
 * Deno and Bun from the packages that npm has of them, kept in the user's cache.
 * @throws Error where there is none for this platform
 */
export async function otherRuntimes(): Promise<Runtimes> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  const directory = join(cache, 'countersign', 'runtimes', `deno-${DENO}-bun-${BUN}`)
  const modules = join(directory, 'node_modules')
  const find = () => ({
    deno: binaryIn(join(modules, '@deno'), 'deno'),
    bun: binaryIn(join(modules, '@oven'), join('bin', 'bun')),
  })
  if (find().deno === null || find().bun === null) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, 'package.json'), '{"private":true}\n')
    const packages = [`deno@${DENO}`, `bun@${BUN}`]
    await run('npm', [...INSTALL, ...packages], { cwd: directory, timeout: NPM_TIMEOUT_MS })
  }
  const { deno, bun } = find()
  if (deno === null || bun === null) {
    throw new Error(`npm has no Deno or no Bun for ${process.platform}/${process.arch}`)
  }
  return { deno, bun }
}

/** The one platform's package that npm chose. */
function binaryIn(scope: string, path: string): string | null {
  if (!existsSync(scope)) return null
  const found = readdirSync(scope).map((name) => join(scope, name, path))
  return found.find((file) => existsSync(file)) ?? null
}
