import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'
import { z } from 'zod'

/**
 * Runs solc-js over Solidity files of this repository. Bytecode depends on the sources and the
 * settings below alone: no metadata hash and no CBOR trailer, so that a checkout elsewhere
 * compiles to the same bytes and CREATE2 addresses hold.
 */
const SETTINGS = {
  // P256VERIFY and EIP-7702 need nothing from the compiler; cancun has transient storage.
  evmVersion: 'cancun',
  optimizer: { enabled: true, runs: 1_000_000 },
  viaIR: false,
  metadata: { bytecodeHash: 'none', appendCBOR: false },
} as const

/**
 * Warns once per compilation that transient storage outlives a call. Ours is the reentrancy guard
 * of OpenZeppelin, which clears it at the end of the call: the use that the notice calls safe.
 */
const TRANSIENT_STORAGE_NOTICE = '2394'

const OUTPUTS = [
  'abi',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
]

const compilerOutput = z.object({
  errors: z
    .array(
      z.object({
        severity: z.string(),
        errorCode: z.string().optional(),
        formattedMessage: z.string().default(''),
      }),
    )
    .default([]),
  contracts: z
    .record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          abi: z.array(z.record(z.string(), z.unknown())),
          // Absent throughout when there are errors.
          evm: z
            .object({
              bytecode: z.object({ object: z.string() }),
              deployedBytecode: z.object({
                object: z.string(),
                immutableReferences: z
                  .record(z.string(), z.array(z.object({ start: z.int(), length: z.int() })))
                  .default({}),
              }),
            })
            .optional(),
        }),
      ),
    )
    .default({}),
})

export interface CompiledContract {
  readonly name: string
  /** Of its source, as it was asked for. */
  readonly folder: string
  readonly abi: readonly Readonly<Record<string, unknown>>[]
  /** 0x-prefixed creation code, without constructor arguments. */
  readonly bytecode: `0x${string}`
  readonly runtime: RuntimePart
}

/** The position of the deployed code in the creation code, in bytes. */
export interface RuntimePart {
  readonly offset: number
  readonly length: number
  /** Offsets in the deployed code of the 32-byte words that the constructor fills in. */
  readonly immutables: readonly number[]
}

/** The directory that holds package.json, whether this runs from source or from dist. */
export const PACKAGE_ROOT = findPackageRoot(dirname(fileURLToPath(import.meta.url)))

/**
 * Compiles every `.sol` file directly in the given folders (paths relative to the package root)
 * and returns, by file, the contract that bears the file's name; interfaces and inlined libraries are left out.
 * @throws Error with the compiler's own messages on any error or warning
 */
export function compileFolders(folders: readonly string[]): CompiledContract[] {
  const sources: Record<string, { content: string }> = {}
  for (const folder of folders) {
    for (const file of readdirSync(join(PACKAGE_ROOT, folder)).sort()) {
      if (!file.endsWith('.sol')) continue
      const path = `${folder}/${file}`
      sources[path] = { content: readFileSync(join(PACKAGE_ROOT, path), 'utf8') }
    }
  }
  // Named file by file: for imported packages no code is generated.
  const outputSelection = Object.fromEntries(
    Object.keys(sources).map((path) => [path, { '*': OUTPUTS }]),
  )
  const input = JSON.stringify({
    language: 'Solidity',
    sources,
    settings: { ...SETTINGS, outputSelection },
  })
  const output = compilerOutput.parse(
    JSON.parse(String(solc.compile(input, { import: resolveImport }))),
  )
  const complaints = output.errors.filter(
    (e) => e.severity !== 'info' && e.errorCode !== TRANSIENT_STORAGE_NOTICE,
  )
  if (complaints.length > 0) {
    throw new Error(complaints.map((e) => e.formattedMessage).join('\n'))
  }
  const compiled: CompiledContract[] = []
  for (const path of Object.keys(sources)) {
    const name = path.slice(path.lastIndexOf('/') + 1, -'.sol'.length)
    const contract = output.contracts[path]?.[name]
    if (contract === undefined) throw new Error(`${path} declares no contract named ${name}`)
    const callable = contract.abi.some((entry) => entry.type === 'function')
    const { evm } = contract
    if (evm === undefined || evm.bytecode.object === '' || !callable) continue
    compiled.push({
      name,
      folder: path.slice(0, path.lastIndexOf('/')),
      abi: contract.abi,
      bytecode: `0x${evm.bytecode.object}`,
      runtime: runtimePart(name, evm.bytecode.object, evm.deployedBytecode),
    })
  }
  return compiled
}

const WORD_BYTES = 32

/** The creation code ends with the deployed code, whose immutables are zero there. */
function runtimePart(
  name: string,
  creation: string,
  deployed: {
    readonly object: string
    readonly immutableReferences: Readonly<
      Record<string, readonly { readonly start: number; readonly length: number }[]>
    >
  },
): RuntimePart {
  const at = creation.lastIndexOf(deployed.object)
  const places = Object.values(deployed.immutableReferences).flat()
  if (at < 0 || at % 2 !== 0 || places.some(({ length }) => length !== WORD_BYTES)) {
    throw new Error(`${name}: the deployed code is not where it was expected`)
  }
  const immutables = places.map(({ start }) => start).sort((a, b) => a - b)
  return { offset: at / 2, length: deployed.object.length / 2, immutables }
}

/** solc asks with a path from the package root, or with an npm package's path. */
function resolveImport(path: string): { contents: string } | { error: string } {
  for (const candidate of [join(PACKAGE_ROOT, path), join(PACKAGE_ROOT, 'node_modules', path)]) {
    const inside = relative(PACKAGE_ROOT, candidate)
    if (inside.startsWith(`..${sep}`)) continue
    if (existsSync(candidate)) return { contents: readFileSync(candidate, 'utf8') }
  }
  return { error: `not found: ${path}` }
}

function findPackageRoot(from: string): string {
  if (existsSync(join(from, 'package.json'))) return from
  const parent = dirname(from)
  if (parent === from) throw new Error('no package.json above this file')
  return findPackageRoot(parent)
}
