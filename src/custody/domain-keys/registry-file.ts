import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RegistryEnvelope } from '../../quorum-protocol/registry.js'
import { holdRegistry, type RegistryHolder } from '../../quorum-protocol/registry-holder.js'
import { writePublicFile } from './private-file.js'

/**
 * `registry.json`: `{"body": base64 of the signed JSON, "signature": base64}`.
 * @throws Error that names the file
 */
export function readRegistryFile(path: string): RegistryEnvelope {
  const { body, signature } = readJson(path)
  if (typeof body !== 'string' || typeof signature !== 'string') {
    throw new Error(`${path} is not a registry`)
  }
  return { body: Buffer.from(body, 'base64'), signature: Buffer.from(signature, 'base64') }
}

export function writeRegistryFile(path: string, envelope: RegistryEnvelope): void {
  const text = JSON.stringify({
    body: Buffer.from(envelope.body).toString('base64'),
    signature: Buffer.from(envelope.signature).toString('base64'),
  })
  writePublicFile(path, Buffer.from(`${text}\n`))
}

export function readRootKey(path: string): KeyObject {
  const pem = readFileSync(path)
  try {
    return createPublicKey(pem)
  } catch (cause) {
    throw new Error(`${path} is not a public key in PEM`, { cause })
  }
}

/**
 * Opens the present registry, checked against the root that the domain pins.
 * @throws Error that names the file and the reason, also when it is for the other mode
 */
export function openRegistryFile(
  path: string,
  rootPath: string,
  mode: 'dev' | 'live',
): RegistryHolder {
  const envelope = readRegistryFile(path)
  const root = readRootKey(rootPath)
  let holder: RegistryHolder
  try {
    holder = holdRegistry(root, envelope)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${path} against ${rootPath}: ${reason}`, { cause })
  }
  const { environment } = holder.current
  if (environment !== mode) {
    throw new Error(`${path}: the registry is for ${environment}, this process is ${mode}`)
  }
  return holder
}

function readJson(path: string): Record<string, unknown> {
  const text = readFileSync(path, 'utf8')
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (cause) {
    throw new Error(`${path} is not a registry: not JSON`, { cause })
  }
}
