import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/**
 * `npm run check`: everything about the code that needs no running service. All steps run even
 * when one fails, so that one look shows all there is to mend.
 */
interface Step {
  readonly name: string
  readonly command: readonly [entry: string, ...args: string[]]
}

const STEPS: readonly Step[] = [
  { name: 'format and lint', command: ['@biomejs/biome/bin/biome', 'check', '.'] },
  { name: 'types', command: ['typescript/bin/tsc', '-p', '.'] },
  {
    name: 'layers',
    command: [
      'dependency-cruiser/bin/dependency-cruise.mjs',
      'src',
      'actors',
      'scripts',
      'bench',
      '--output-type',
      'err',
    ],
  },
  { name: 'dead code', command: ['knip/bin/knip.js'] },
]

const failed: string[] = []
for (const { name, command } of STEPS) {
  const [entry, ...args] = command
  const path = `node_modules/${entry}`
  if (!existsSync(path)) throw new Error(`${name}: ${path} is not installed`)
  const startedMs = Date.now()
  const { status } = spawnSync(process.execPath, [path, ...args], { stdio: 'inherit' })
  const seconds = ((Date.now() - startedMs) / 1000).toFixed(1)
  console.log(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`)
  if (status !== 0) failed.push(name)
}
process.exitCode = failed.length === 0 ? 0 : 1
