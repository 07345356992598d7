import { createHash } from 'node:crypto'
import { registryMessage } from '../../src/quorum-protocol/registry.js'

/** One form of what is signed: its bytes, what is signed or hashed over them, and how they are read. */
export interface SignedForm {
  readonly name: string
  readonly bytes: Uint8Array
  /** What a signature, a MAC or a chain is over. */
  readonly message: Uint8Array
  /** Reads recorded bytes and writes them again; null: nothing reads these. */
  readonly again: ((bytes: Uint8Array) => Uint8Array) | null
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** So many bytes that count up from one of them. */
export function bytesFrom(first: number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, at) => (first + at) % 256))
}

export const USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
export const VENUE = '0x2626664c2603336e57b271c5c0b26f421741e481'
export const PAYEE = '0x1111111111111111111111111111111111111111'
export const OTHER = '0x2222222222222222222222222222222222222222'
export const AT_MS = 1_790_000_000_000
export const PROOF_KEY = bytesFrom(0xa0, 32)
export const OWNER_HASH = bytesFrom(0x40, 32)

/** What is signed over bytes that have a row of their own, or over none. */
export function messageOf(name: string, message: Uint8Array): SignedForm {
  return { name, bytes: message, message, again: null }
}

/** The registry's bytes are JSON as its owner wrote it; what is signed over them is recorded. */
export function registryHash(body: Uint8Array): string {
  return sha256Hex(registryMessage(body))
}
