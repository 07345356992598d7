import type { TxId } from '../domain/ids.js'
import { CATALOGUE, type ErrorCode } from './catalogue.js'

/**
 * A refusal as plain data: it crosses threads and processes unchanged and is mapped to the wire
 * once for REST and once for MCP. `details` is public; `internal` is for operators only, and no
 * mapper reads it.
 */
export interface Fault {
  readonly code: ErrorCode
  /** One public sentence a person can act on. */
  readonly message: string
  /** Public facts a machine can act on; wire names (snake_case). */
  readonly details: Readonly<Record<string, unknown>>
  /** For logs only. */
  readonly internal?: string
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault }

export function fault(
  code: ErrorCode,
  details: Readonly<Record<string, unknown>> = {},
  message: string = CATALOGUE[code].message,
  internal?: string,
): Fault {
  return internal === undefined ? { code, message, details } : { code, message, details, internal }
}

/** Returns the same refusal with the id of the transaction stored for it. */
export function naming(f: Fault, txId: TxId): Fault {
  return { ...f, details: { ...f.details, tx_id: txId } }
}

export function ok<T>(value: T): Result<T> {
  return { ok: true, value }
}

export function refuse<T = never>(f: Fault): Result<T> {
  return { ok: false, fault: f }
}

/** Carries a fault through code that throws, such as an adapter deep in a call stack. */
export class FaultError extends Error {
  readonly fault: Fault

  constructor(f: Fault, options?: ErrorOptions) {
    super(f.internal ?? `${f.code}: ${f.message}`, options)
    this.name = 'FaultError'
    this.fault = f
  }
}
