import type { AuthorizerKind } from './certificate.js'

/** A passkey or key that may confirm a user's grants. */
export interface Authorizer {
  /** 16 bytes. */
  readonly id: Uint8Array
  readonly kind: AuthorizerKind
  readonly label: string
  readonly createdAtMs: number
  readonly credentialId: Uint8Array
  readonly publicKey: Uint8Array
}

/** `aut_` and 32 hex digits. */
export function authorizerName(id: Uint8Array): string {
  return `aut_${Buffer.from(id).toString('hex')}`
}

/** 16 bytes; null when it is not a name. */
export function authorizerIdOfName(name: string): Buffer | null {
  return /^aut_[0-9a-f]{32}$/.test(name) ? Buffer.from(name.slice(4), 'hex') : null
}
