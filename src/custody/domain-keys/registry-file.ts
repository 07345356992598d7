import { createPublicKey, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { RegistryEnvelope } from '../protocol/registry.js'
import { writePublicFile } from './private-file.js'

/** `registry.json`: `{"body": base64 of the signed JSON, "signature": base64}`. */
export function readRegistryFile(path: string): RegistryEnvelope {
  const { body, signature } = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
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
  return createPublicKey(readFileSync(path))
}
