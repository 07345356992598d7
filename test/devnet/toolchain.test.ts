import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scratchDir } from './support/observer.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ECHO = `
const { argv } = process
console.log(JSON.stringify(argv.slice(2)))
if (argv.includes('--fail')) process.exitCode = 7
`

const SCRIPTS = ['run.mjs', 'build.mjs', 'test-long.mjs', 'suites.mjs', 'toolchain'].map(
  (path) => `scripts/${path}`,
)

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

describe('a script started from a clone', () => {
  let scratch: ReturnType<typeof scratchDir>
  let root: string

  beforeEach(() => {
    scratch = scratchDir()
    root = join(scratch.path, 'clone')
    for (const dir of ['src', 'actors', 'bench', 'scripts/dev']) {
      mkdirSync(join(root, dir), { recursive: true })
    }
    for (const path of SCRIPTS) cpSync(join(ROOT, path), join(root, path), { recursive: true })
    // Just the compiler, recorded as installed: no test may ever make npm touch the real modules.
    const lock = '{"packages":{"":{}}}'
    writeFileSync(join(root, 'package.json'), '{"type":"module"}')
    writeFileSync(join(root, 'package-lock.json'), lock)
    mkdirSync(join(root, 'node_modules/.cache'), { recursive: true })
    const stamp = createHash('sha256').update(lock).digest('hex')
    writeFileSync(join(root, 'node_modules/.cache/countersign-install'), stamp)
    for (const name of ['esbuild', '@esbuild']) {
      symlinkSync(join(ROOT, 'node_modules', name), join(root, 'node_modules', name))
    }
    writeFileSync(join(root, 'scripts/dev/echo.ts'), ECHO)
    writeFileSync(join(root, 'src/value.ts'), 'export const value: number = 1\n')
  })
  afterEach(() => scratch.dispose())

  function run(
    args: string[],
    env: NodeJS.ProcessEnv = {},
    path = 'scripts/run.mjs',
  ): Promise<Ran> {
    return new Promise((resolve) => {
      const script = join(root, path)
      const options = { env: { PATH: process.env.PATH, ...env } }
      execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
  }

  test('is built first, gets its arguments, and gives its exit code', async () => {
    const first = await run(['dev/echo', 'one', '--fail'])
    expect(first).toMatchObject({ code: 7, stdout: '["one","--fail"]\n' })
    expect(first.stderr).toContain('built 2 files')
    expect(readFileSync(join(root, 'dist/src/value.js'), 'utf8')).toContain(
      '//# sourceMappingURL=value.js.map',
    )
  })

  test('has stdout to itself, and stderr too when npm is silent', async () => {
    expect(await run(['dev/echo'], { npm_config_loglevel: 'silent' })).toEqual({
      code: 0,
      stdout: '[]\n',
      stderr: '',
    })
  })

  test('builds nothing when nothing changed, and only what changed', async () => {
    await run(['--build'])
    const output = join(root, 'dist/src/value.js')
    const echo = join(root, 'dist/scripts/dev/echo.js')
    const past = new Date('2026-01-01T00:00:00Z')
    for (const path of [output, echo]) utimesSync(path, past, past)
    expect((await run(['--build'])).stderr).toBe('')
    writeFileSync(join(root, 'src/value.ts'), 'export const value: number = 22\n')
    expect((await run(['--build'])).stderr).toContain('built 1 file\n')
    expect(readFileSync(output, 'utf8')).toContain('value = 22')
    expect(statSync(echo).mtimeMs).toBe(past.getTime())
  })

  test('does not see what a removed source left behind', async () => {
    await run(['--build'])
    rmSync(join(root, 'scripts/dev/echo.ts'))
    const ran = await run(['dev/echo'])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain('there is no script dev/echo')
    expect(existsSync(join(root, 'dist/scripts/dev/echo.js.map'))).toBe(false)
  })

  test('fails with file and line when a source does not parse, and recovers', async () => {
    writeFileSync(join(root, 'src/value.ts'), 'export const value: number = \n')
    const broken = await run(['dev/echo'])
    expect(broken.code).toBe(1)
    expect(broken.stderr).toMatch(/value\.ts:2:0: ERROR/)
    writeFileSync(join(root, 'src/value.ts'), 'export const value: number = 3\n')
    expect((await run(['dev/echo'])).code).toBe(0)
  })

  test('may be started many times at once', async () => {
    const ran = await Promise.all(Array.from({ length: 4 }, (_, i) => run(['dev/echo', String(i)])))
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect(ran.map(({ stdout }) => stdout)).toEqual([0, 1, 2, 3].map((i) => `["${i}"]\n`))
    expect(ran.filter(({ stderr }) => stderr.includes('built 2 files'))).toHaveLength(1)
  })

  test('is vitest with the variables and arguments of a suite, and with what follows its name', async () => {
    mkdirSync(join(root, 'node_modules/vitest'))
    writeFileSync(
      join(root, 'node_modules/vitest/vitest.mjs'),
      'console.log(JSON.stringify([process.env.PACKAGE, process.env.PACKAGE_SHORT, ...process.argv.slice(2)]))',
    )
    const args = ['package', '--reporter=json', '--short', '-t', 'a b', '--', '--short']
    const ran = await run(args, {}, 'scripts/test-long.mjs')
    expect({ code: ran.code, given: JSON.parse(ran.stdout) }).toEqual({
      code: 0,
      given: ['1', '1', 'run', 'test/package', '--reporter=json', '-t', 'a b', '--short'],
    })
  })

  test('is not held up by a set-up that died', async () => {
    mkdirSync(join(root, 'dist'))
    writeFileSync(join(root, 'dist/.setup-lock'), '999999999')
    expect((await run(['dev/echo'])).code).toBe(0)
  })
})

test('the lock file names the packages of every platform, so that npm ci takes it anywhere', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const packages: Record<string, { readonly optionalDependencies?: object }> = lock.packages
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !(`${path}/node_modules/${name}` in packages))
      .filter((name) => !(`node_modules/${name}` in packages)),
  )
  expect(missing).toEqual([])
})
