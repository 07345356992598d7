import { z } from 'zod'
import type { Fault } from '../errors/fault.js'

/** The error body (CONTRACT.md, "Errors"), which REST answers and MCP returns as text. */
export const errorResponse = z.looseObject({
  error: z.looseObject({
    code: z.string().describe('stable; what a program acts on'),
    message: z.string().describe('one sentence a person can act on'),
    details: z.record(z.string(), z.unknown()).describe('facts a program can act on; may be empty'),
    request_id: z.string().describe('to be quoted to the operator'),
  }),
})

export type ErrorResponse = z.infer<typeof errorResponse>

/** Contains nothing of `internal`. */
export function errorBody(refusal: Fault, requestId: string): ErrorResponse {
  return {
    error: {
      code: refusal.code,
      message: refusal.message,
      details: refusal.details,
      request_id: requestId,
    },
  }
}
