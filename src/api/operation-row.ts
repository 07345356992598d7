import type { z } from 'zod'
import type { ErrorCode } from '../errors/catalogue.js'

/** A row of the table of agent-facing operations. */
export interface OperationRow {
  /** Verb–noun; the MCP tool's name where `tool` is set (CONTRACT.md, "MCP"). */
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** uWebSockets.js pattern; `:name` parameters are input fields. */
  readonly path: string
  readonly permission: 'read' | 'trade'
  /** `rest-and-chosen-mcp`: no tool of the specification; the operator may have it listed. */
  readonly surface: 'rest-and-mcp' | 'rest' | 'rest-and-chosen-mcp'
  /** Sponsored calls need the Router and are refused first of all where there is none. */
  readonly gas: 'none' | 'agent' | 'sponsored'
  /** Takes an Idempotency-Key. */
  readonly movesValue: boolean
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  /** Codes beyond those every authenticated route may answer (`COMMON_ERRORS`). */
  readonly errors: readonly ErrorCode[]
}

export const COMMON_ERRORS = [
  'INVALID_REQUEST',
  'UNAUTHENTICATED',
  'INVALID_KEY',
  'PERMISSION_DENIED',
  'RATE_LIMITED',
  'OVERLOADED',
  'RECORD_DAMAGED',
  'INTERNAL',
] as const satisfies readonly ErrorCode[]

/** What every write may answer on top of `COMMON_ERRORS`. */
export const WRITE_ERRORS = [
  'CHAIN_NOT_ALLOWED',
  'LIMIT_EXCEEDED',
  'ADDRESS_BLOCKED',
  'PRICE_UNAVAILABLE',
  'CALLDATA_UNDECODABLE',
  'INSUFFICIENT_FUNDS',
  'SIMULATION_REVERTED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
  'DUPLICATE_SUSPECTED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'CHAIN_REJECTED',
  'SCREENING_UNAVAILABLE',
  'COSIGNER_UNAVAILABLE',
  'CHAIN_UNAVAILABLE',
  'WRITES_STOPPED',
  'OUTCOME_UNKNOWN',
] as const satisfies readonly ErrorCode[]

/** What every call may answer whose gas the service pays. */
export const SPONSORED_ERRORS = [
  ...WRITE_ERRORS,
  'ROUTER_NOT_AVAILABLE',
] as const satisfies readonly ErrorCode[]
