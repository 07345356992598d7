import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { PACKAGE_ROOT } from '../../scripts/contracts/solidity-compiler.js'

/** Compiling with solc-js takes most of it. */
const TIMEOUT_MS = 240_000

it(
  'keeps its promises under fuzzed inputs and random sequences of calls',
  async () => {
    const { code, output } = await forge(['test'])
    expect(output).toContain('invariant_onlyFullySignedIntentsMoveFunds')
    expect(output).toContain('testFuzz_refusesAnyChangedField')
    expect(output).toContain('testFuzz_aFaultyRouterNeedsTheSignature')
    expect(code, output).toBe(0)
  },
  TIMEOUT_MS,
)

/** The platform's binary itself: the package's wrapper would survive as a parent of its own. */
function forge(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const name = `@foundry-rs/forge-${process.platform}-${process.arch === 'x64' ? 'amd64' : process.arch}`
  const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/forge/package.json')
  const manifest = createRequire(wrapper).resolve(`${name}/package.json`)
  const child = spawn(join(dirname(manifest), 'bin', 'forge'), args, {
    cwd: PACKAGE_ROOT,
    env: {
      ...process.env,
      FOUNDRY_CONFIG: 'test/contracts/forge/foundry.toml',
      NO_COLOR: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const killWithParent = () => child.kill('SIGKILL')
  process.once('exit', killWithParent)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      process.removeListener('exit', killWithParent)
      resolve({ code, output })
    })
  })
}
