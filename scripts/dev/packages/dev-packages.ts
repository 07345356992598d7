import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/**
 * What the development chains are made of and a published package leaves out: anvil, whose binary
 * is larger than all the rest, and Uniswap's artifacts, which are GPL. A clone has them as
 * development dependencies; elsewhere they are installed on request into a directory of their own,
 * in the versions that the clone has.
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

/** @throws Error of `require` where neither the package's own tree nor the directory has it */
export function resolveDevPackage(request: string): string {
  try {
    return requireHere.resolve(request)
  } catch (error) {
    const directory = devPackagesDirectory()
    if (!existsSync(directory)) throw error
    return createRequire(join(directory, 'package.json')).resolve(request)
  }
}

/** What `npm install` puts into the directory: the packages, pinned, without what they drag in. */
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

/** Of these versions alone: another version of Countersign may want others. */
export function devPackagesDirectory(): string {
  const text = JSON.stringify(devPackagesManifest())
  const version = createHash('sha256').update(text).digest('hex').slice(0, 12)
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(cache, 'countersign', 'dev-chains', version)
}

/** Names of what cannot be found. */
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
