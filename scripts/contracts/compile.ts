import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CompiledContract,
  compileFolders,
  PACKAGE_ROOT,
  type RuntimePart,
} from './solidity-compiler.js'

/**
 * Compiles the Solidity sources to typed modules in `src/contracts/generated`.
 * `--check` writes nothing: it exits with 1 when what is committed differs from what the sources
 * compile to, so that an artifact edited by hand or left behind cannot pass review.
 */
const ROUTER_FOLDER = 'src/contracts/router'
const SOURCE_FOLDERS = [ROUTER_FOLDER, 'src/contracts/devnet']
const GENERATED = join(PACKAGE_ROOT, 'src/contracts/generated')

function main(args: readonly string[]): number {
  const wanted = new Map(compileFolders(SOURCE_FOLDERS).map((c) => [fileName(c.name), render(c)]))
  const present = existsSync(GENERATED) ? readdirSync(GENERATED) : []
  if (args.includes('--check')) {
    const stale = [...new Set([...wanted.keys(), ...present])].filter(
      (file) => !present.includes(file) || readGenerated(file) !== wanted.get(file),
    )
    for (const file of stale) console.error(`src/contracts/generated/${file} is not up to date`)
    if (stale.length > 0) console.error('run: node scripts/run.mjs contracts/compile')
    return stale.length === 0 ? 0 : 1
  }
  mkdirSync(GENERATED, { recursive: true })
  for (const file of present) if (!wanted.has(file)) rmSync(join(GENERATED, file))
  for (const [file, text] of wanted) writeFileSync(join(GENERATED, file), text)
  console.log(`${wanted.size} contracts → src/contracts/generated`)
  return 0
}

function readGenerated(file: string): string {
  return readFileSync(join(GENERATED, file), 'utf8')
}

/** "DevPriceFeed" → "dev-price-feed.ts" */
function fileName(contract: string): string {
  return `${contract.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()}.ts`
}

function render(contract: CompiledContract): string {
  const name = contract.name.charAt(0).toLowerCase() + contract.name.slice(1)
  return [
    `// Generated from ${contract.name}.sol by scripts/contracts/compile.ts; do not edit.`,
    `export const ${name}Abi = ${JSON.stringify(contract.abi, null, 2)} as const`,
    '',
    '/** Creation code, without constructor arguments. */',
    `export const ${name}Bytecode =\n  '${contract.bytecode}'`,
    '',
    ...(contract.folder === ROUTER_FOLDER ? runtimeLines(name, contract.runtime) : []),
  ].join('\n')
}

/** For what is verified on chain. */
function runtimeLines(name: string, { offset, length, immutables }: RuntimePart): string[] {
  return [
    '/** The deployed code inside the creation code, in bytes; immutables are words inside it. */',
    `export const ${name}Runtime = {`,
    `  offset: ${offset},`,
    `  length: ${length},`,
    `  immutables: [${immutables.join(', ')}],`,
    '} as const',
    '',
  ]
}

try {
  process.exitCode = main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
