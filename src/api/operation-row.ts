import type { z } from 'zod'
import type { ErrorCode } from '../errors/catalogue.js'
import { WRITE_REFUSALS } from '../errors/write-refusals.js'

/** A row of the table of agent-facing operations. */
export interface OperationRow {
  /** Verb and noun; the MCP tool's name if it is a tool (CONTRACT.md, "MCP"). */
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** uWebSockets.js pattern; `:name` parameters are input fields. */
  readonly path: string
  readonly permission: 'read' | 'trade'
  /** `rest-and-chosen-mcp`: not a tool of the specification; the operator may list it. */
  readonly surface: 'rest-and-mcp' | 'rest' | 'rest-and-chosen-mcp'
  /** Sponsored calls need the Router; a chain without it is the first reason to refuse them. */
  readonly gas: 'none' | 'agent' | 'sponsored'
  /** Takes an Idempotency-Key. */
  readonly movesValue: boolean
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  readonly output: z.ZodType
  /** Codes beyond those that every authenticated route may answer (`COMMON_ERRORS`). */
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

/** Codes that every write may answer besides `COMMON_ERRORS`. */
export const WRITE_ERRORS = WRITE_REFUSALS

/** Codes that every sponsored call may answer. */
export const SPONSORED_ERRORS = [
  ...WRITE_ERRORS,
  'ROUTER_NOT_AVAILABLE',
] as const satisfies readonly ErrorCode[]
