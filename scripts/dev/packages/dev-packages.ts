import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * The packages of the development chains that a published package omits: anvil, whose binary is
 * larger than everything else, and Uniswap's artifacts, which are GPL. A clone has them as
 * development dependencies; other installations put them into a separate directory on request, in
 * the clone's versions.
 */
const NAMES = [
  '@foundry-rs/anvil',
  '@uniswap/v3-core',
  '@uniswap/v3-periphery',
  '@uniswap/swap-router-contracts',
] as const

const packageFile = z.object({
  devDependencies: z.record(z.string(), z.string()),
  overrides: z.record(z.string(), z.unknown()),
})

const requireHere = createRequire(import.meta.url)

/** @throws Error of `require` when neither the package's own tree nor the directory has it */
export function resolveDevPackage(request: string): string {
  try {
    return requireHere.resolve(request)
  } catch (error) {
    const directory = devPackagesDirectory()
    if (!existsSync(directory)) throw error
    return createRequire(join(directory, 'package.json')).resolve(request)
  }
}

/**
 * Returns the manifest for `npm install` in the directory: the packages, pinned, without their
 * dependencies.
 */
export function devPackagesManifest(): object {
  const { devDependencies, overrides } = ownPackage()
  return {
    private: true,
    description: 'Development chains of Countersign; may be deleted, and is installed again.',
    dependencies: Object.fromEntries(NAMES.map((name) => [name, devDependencies[name]])),
    overrides: Object.fromEntries(
      NAMES.flatMap((name) => (name in overrides ? [[name, overrides[name]]] : [])),
    ),
  }
}

/** The directory of these versions: another version of Countersign may need others. */
export function devPackagesDirectory(): string {
  const text = JSON.stringify(devPackagesManifest())
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(cache, 'countersign', 'dev-chains', version)
}

/** Returns the names of missing packages. */
export function missingDevPackages(): string[] {
  return NAMES.filter((name) => {
    try {
      resolveDevPackage(`${name}/package.json`)
      return false
    } catch {
      return true
    }
  })
}

function ownPackage() {
  let directory = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(directory, 'package.json'))) directory = dirname(directory)
  return packageFile.parse(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')))
}
