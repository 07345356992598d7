import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * The native binary itself: the package's own command is a Node wrapper, which would be a second
 * process to watch and to end.
 * @throws Error on a platform anvil is not published for
 */
export function anvilBinary(): string {
  const architecture = ARCHITECTURES[process.arch]
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`
  try {
    const packageJson = createRequire(import.meta.url).resolve(`${name}/package.json`)
    return join(dirname(packageJson), 'bin', 'anvil')
  } catch (cause) {
    throw new Error(`anvil is not installed for ${process.platform}/${process.arch} (${name})`, {
      cause,
    })
  }
}
