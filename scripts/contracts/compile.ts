import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type CompiledContract,
  compileFolders,
  PACKAGE_ROOT,
  type RuntimePart,
} from './solidity-compiler.js'

/**
 * Compiles the Solidity sources to typed JSON artifacts in `src/contracts/generated`. `--check`
 * writes nothing: it exits with 1 when the committed artifacts differ from the compiled ones, so
 * that an edited or outdated artifact cannot pass review.
 */
const ROUTER_FOLDER = 'src/contracts/router'
type Abi = CompiledContract['abi']

const SOURCE_FOLDERS = [ROUTER_FOLDER, 'src/contracts/devnet']
const GENERATED = join(PACKAGE_ROOT, 'src/contracts/generated')

function main(args: readonly string[]): number {
  const wanted = new Map(compileFolders(SOURCE_FOLDERS).flatMap(filesOf))
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
  console.log(`${wanted.size} files → src/contracts/generated`)
  return 0
}

function readGenerated(file: string): string {
  return readFileSync(join(GENERATED, file), 'utf8')
}

/** "DevPriceFeed" → "dev-price-feed" */
function fileStem(contract: string): string {
  return contract.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-').toLowerCase()
}

/**
 * Returns an artifact as JSON, and its literal types, from which viem derives arguments and
 * results.
 */
function filesOf(contract: CompiledContract): [file: string, text: string][] {
  const stem = fileStem(contract.name)
  const { abi, bytecode } = contract
  const runtime = contract.folder === ROUTER_FOLDER ? contract.runtime : null
  return [
    [`${stem}.json`, jsonOf(abi, bytecode, runtime)],
    [`${stem}.d.json.ts`, declarationOf(contract.name, abi, runtime)],
  ]
}

function jsonOf(abi: Abi, bytecode: string, runtime: RuntimePart | null): string {
  const rows = abi.map((entry) => `    ${JSON.stringify(entry)}`).join(',\n')
  const fields = [`  "abi": [\n${rows}\n  ]`, `  "bytecode": "${bytecode}"`]
  if (runtime !== null) fields.push(`  "runtime": ${JSON.stringify(runtime)}`)
  return `{\n${fields.join(',\n')}\n}\n`
}

/** The JSON of an ABI is also TypeScript's notation of its literal type. */
function declarationOf(name: string, abi: Abi, runtime: RuntimePart | null): string {
  return [
    `// Generated from ${name}.sol by scripts/contracts/compile.ts; do not edit.`,
    'declare const artifact: {',
    '  abi: [',
    ...abi.map((entry) => `    ${JSON.stringify(entry, withoutInternalType)},`),
    '  ]',
    '  /** Creation code, without constructor arguments. */',
    `  bytecode: \`0x\${string}\``,
    ...(runtime === null ? [] : runtimeLines(runtime)),
    '}',
    'export = artifact',
    '',
  ].join('\n')
}

/** The fields for verification on chain. */
function runtimeLines(runtime: RuntimePart): string[] {
  return [
    '  /** The deployed code inside the creation code, in bytes; immutables are words inside it. */',
    `  runtime: ${JSON.stringify(runtime)}`,
  ]
}

function withoutInternalType(key: string, value: unknown): unknown {
  return key === 'internalType' ? undefined : value
}

try {
  process.exitCode = main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
