import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * `npm run check`: every check of the code that needs no running service. All steps run even when
 * one fails, so that one run shows every fault.
 */
interface Step {
  readonly name: string
  readonly command: readonly [path: string, ...args: string[]]
}

const STEPS: readonly Step[] = [
  { name: 'format and lint', command: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'] },
  { name: 'types', command: ['node_modules/typescript/bin/tsc', '-p', '.'] },
  {
    name: 'types of the console',
    command: ['node_modules/typescript/bin/tsc', '-p', 'src/console'],
  },
  { name: 'size of the console', command: ['scripts/toolchain/console-budget.mjs'] },
  {
    name: 'layers',
    command: [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'src',
      'actors',
      'scripts',
      'bench',
      '--output-type',
      'err',
    ],
  },
  {
    name: 'deterministic core',
    command: [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'src/domain',
      'src/errors',
      'actors',
      '--config',
      '.dependency-cruiser.core.cjs',
      '--output-type',
      'err',
    ],
  },
  {
    name: 'reach of the quorum signer',
    command: [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      'src/quorum-signer',
      '--config',
      '.dependency-cruiser.quorum-signer.cjs',
      '--output-type',
      'err',
    ],
  },
  { name: 'contract artifacts', command: ['dist/scripts/contracts/compile.js', '--check'] },
  { name: 'lock file, conflict markers, subjects', command: ['dist/scripts/committed/check.js'] },
  { name: 'files that a change touches', command: ['dist/scripts/count-changes.js'] },
  { name: 'dead code', command: ['node_modules/knip/bin/knip.js'] },
]

const failed: string[] = []
for (const { name, command } of STEPS) {
  const [path, ...args] = command
  if (!existsSync(path)) throw new Error(`${name}: ${path} is missing`)
  const startedMs = Date.now()
  const { status } = spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' })
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`)
  if (status !== 0) failed.push(name)
}
process.exitCode = failed.length === 0 ? 0 : 1
