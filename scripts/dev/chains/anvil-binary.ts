import { dirname, join } from 'node:path'
import { resolveDevPackage } from '../packages/dev-packages.js'

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' }

/**
 * Returns the native binary: the package's own command is a Node wrapper, a second process to
 * supervise.
 * @throws Error on a platform without a published anvil
 */
export function anvilBinary(): string {
  const architecture = ARCHITECTURES[process.arch]
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`
  try {
    return join(dirname(resolveDevPackage(`${name}/package.json`)), 'bin', 'anvil')
  } catch (cause) {
    throw new Error(`anvil is not installed for ${process.platform}/${process.arch} (${name})`, {
      cause,
    })
  }
}
