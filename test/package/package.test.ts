import { execFile, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { reserveStackPorts } from '../support/stack-ports.js'
import { otherRuntimes, type Packed, packAndInstall } from './packed.js'

/**
 * The package as others get it. `npm run test:long -- package`; `.ci/run` has its short form, which leaves
 * out what downloads (PACKAGE_SHORT=1).
 */

const run = promisify(execFile)

const isShort = process.env.PACKAGE_SHORT === '1'
const RUN_TIMEOUT_MS = 120_000
const READY_TIMEOUT_MS = 200_000
const POLL_MS = 100
const TSC = join(process.cwd(), 'node_modules/typescript/bin/tsc')
/** Bytes of the client, minified, with all it imports. */
const CLIENT_BYTES_MAX = 20_000

let packed: Packed
let server: Server
let url: string

beforeAll(async () => {
  packed = await packAndInstall()
  server = createServer((request, response) => {
    const isKnown = request.url === '/api/limits' && request.headers['x-api-key'] === 'sk_test_a'
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ daily_limit_usd: '12.00' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server?.close()
  packed?.remove()
})

/** What a program of another project does with the client. */
const PROGRAM = `
import { createClient, ServiceError } from 'countersign/client'
import { verifyWebhook } from 'countersign/client/verify-webhook'

const wallet = createClient({ url: URL_HERE, apiKey: 'sk_test_a', retriesMax: 0 })
const { daily_limit_usd } = await wallet.getLimits()
const refused = await wallet.getSupportedChains().catch((error) => error)
console.log(daily_limit_usd, refused instanceof ServiceError, typeof verifyWebhook)
`
const ANSWER = '12.00 true function'

function writeProgram(): string {
  const path = join(packed.bare, 'program.mjs')
  writeFileSync(path, PROGRAM.replace('URL_HERE', JSON.stringify(url)))
  return path
}

describe('the tarball', () => {
  test('has compiled code and declarations, and neither sources, tests, benches nor maps', () => {
    expect(packed.files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/src/main.js',
        'dist/src/console/assets.json',
        'dist/src/identity-provider/main.js',
        'dist/src/quorum-signer/main.js',
        'dist/src/cli/main.js',
        'dist/types/src/client/client.d.ts',
        'scripts/countersign.mjs',
        'scripts/systemd/countersign-service.service',
      ]),
    )
    const wrong = packed.files.filter(
      (path) => /(?<!\.d)\.ts$|\.map$|\.test\./.test(path) || /^(dist\/)?(test|bench)\//.test(path),
    )
    expect(wrong).toEqual([])
  })

  test('has every file that its programs import, and declares every package', async () => {
    const root = join(packed.project, 'node_modules/countersign')
    const entryPoints = packed.files.filter((path) => /^dist\/.*\.js$/.test(path))
    const { metafile } = await build({
      absWorkingDir: root,
      entryPoints,
      outdir: 'nowhere',
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'silent',
    })
    const { dependencies, optionalDependencies } = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    )
    const declared = new Set(Object.keys({ ...dependencies, ...optionalDependencies }))
    const imported = Object.values(metafile.inputs)
      .flatMap(({ imports }) => imports)
      .filter(({ external, path }) => external === true && !path.startsWith('node:'))
      .map(({ path }) => /^(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? path)
    // Not installed with it: the one command that asks for it says how to get it.
    declared.add('z3-solver')
    expect([...new Set(imported)].filter((name) => !declared.has(name))).toEqual([])
    expect(imported.length).toBeGreaterThan(50)
  })
})

describe('the client', () => {
  test('runs on Node where nothing that the package depends on is installed', async () => {
    const { stdout } = await run(process.execPath, [writeProgram()], { timeout: RUN_TIMEOUT_MS })
    expect(stdout.trim()).toBe(ANSWER)
  })

  if (!isShort) {
    test('runs on Deno and on Bun, which npm brings', async () => {
      const program = writeProgram()
      const { deno, bun } = await otherRuntimes()
      const options = { cwd: packed.bare, timeout: RUN_TIMEOUT_MS }
      const onDeno = await run(
        deno,
        ['run', '--no-prompt', '--allow-net', '--allow-read', program],
        options,
      )
      expect(onDeno.stdout.trim()).toBe(ANSWER)
      const onBun = await run(bun, ['run', program], options)
      expect(onBun.stdout.trim()).toBe(ANSWER)
    })
  }

  test('is bundled for browsers with nothing left to import, and stays small', async () => {
    const { outputFiles, warnings } = await build({
      entryPoints: [writeProgram()],
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
      target: 'es2022',
      logLevel: 'silent',
    })
    expect(warnings).toEqual([])
    const [{ text, contents }] = outputFiles as [(typeof outputFiles)[number]]
    expect(text).not.toMatch(/\bimport\s*[("'{]|\brequire\(/)
    expect(contents.length).toBeLessThan(CLIENT_BYTES_MAX)
  })

  const SETTINGS = [
    { target: 'es2020', module: 'esnext', moduleResolution: 'bundler' },
    { target: 'es2022', module: 'nodenext', moduleResolution: 'nodenext' },
  ]
  test.each(isShort ? SETTINGS.slice(1) : SETTINGS)(
    'has types for $moduleResolution at $target',
    async (settings) => {
      const folder = join(packed.project, settings.moduleResolution)
      mkdirSync(folder)
      writeFileSync(
        join(folder, 'agent.ts'),
        `import { createClient, type Client, verifyWebhook } from 'countersign/client'
import { LimitExceededError } from 'countersign/client/errors'

export async function pay(wallet: Client): Promise<string> {
  try {
    const sent = await wallet.sendTransaction({ chain_id: 1, to: '0xaa', value: '1' })
    return sent.tx_id
  } catch (error) {
    return error instanceof LimitExceededError ? (error.details.resets_at ?? '') : ''
  }
}
const wallet = createClient({ url: 'http://127.0.0.1', apiKey: 'sk_test_a' })
// @ts-expect-error the chain is missing
void wallet.sendTransaction({ to: '0xaa', value: '1' })
async function read(): Promise<void> {
  const limits = await wallet.getLimits()
  const cap: string = limits.daily_limit_usd
  // @ts-expect-error amounts are text
  const amount: number = limits.daily_limit_usd
  void [cap, amount]
}
void [read, verifyWebhook]
`,
      )
      const compilerOptions = { ...settings, strict: true, noEmit: true, types: [] }
      const lib = [settings.target, 'dom', 'dom.iterable']
      const config = { compilerOptions: { ...compilerOptions, lib }, files: ['agent.ts'] }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
      const { stdout } = await run(process.execPath, [TSC, '-p', folder]).catch((error) => error)
      expect(stdout).toBe('')
    },
  )
})

describe('npx countersign', () => {
  const environment = () => ({
    ...process.env,
    XDG_CACHE_HOME: join(packed.project, '.cache'),
  })
  const npx = (args: readonly string[]) =>
    spawnSync('npx', ['--no-install', 'countersign', ...args], {
      cwd: packed.project,
      env: environment(),
      encoding: 'utf8',
      timeout: RUN_TIMEOUT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
    })

  test('tells what it can do', () => {
    const { status, stdout } = npx(['--help'])
    expect(status).toBe(0)
    expect(stdout).toContain('start')
  })

  test('without development chains says what they are and the command, and ends with 2', () => {
    const { status, stderr } = npx(['start'])
    expect(status, stderr).toBe(2)
    expect(stderr).toContain('npx countersign start --install')
    expect(stderr).toContain('@foundry-rs/anvil')
  })

  if (!isShort) {
    test('start --install runs an instance, on which a send confirms', async () => {
      const home = join(packed.project, '.countersign')
      const port = await reserveStackPorts(home)
      const bin = join(packed.project, 'node_modules/.bin/countersign')
      const child = spawn(process.execPath, [bin, 'start', '--install', '--port', String(port)], {
        cwd: packed.project,
        env: environment(),
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
        })
      }
      const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
      try {
        const deadlineMs = Date.now() + READY_TIMEOUT_MS
        while (!existsSync(join(home, 'dev.json'))) {
          if (child.exitCode !== null || Date.now() > deadlineMs) throw new Error(output)
          await delay(POLL_MS)
        }
        const to = '0x000000000000000000000000000000000000dEaD'
        const sent = npx(['send', '--chain', '8453', '--to', to, '--value', '1000', '--wait'])
        expect(sent.status, sent.stderr).toBe(0)
        expect(sent.stdout).toContain('confirmed')
      } finally {
        child.kill('SIGINT')
        await ended
      }
    })
  }
})
