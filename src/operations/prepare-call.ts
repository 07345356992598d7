import type { OperationRow } from '../api/operation-row.js'
import { parseInput } from '../api/parse.js'
import { hashRequest } from '../api/parse-idempotency.js'
import type { AuthenticatedKey } from '../auth/api-key.js'
import { authorizeChain } from '../auth/authorize.js'
import { ok, type Result, refuse } from '../errors/fault.js'
import type { AgentContext, Answer } from './context.js'

/**
 * Turns the raw input of a caller with a key into the operation's call: `allowed_chains`, then the
 * schema, then the context. REST and MCP share this, so that neither can be more lenient. Key, rate
 * and permission were checked before (CONTRACT.md, "Order of checks").
 */

export type AgentHandler = (
  context: AgentContext,
  input: never,
) => Answer<unknown> | Promise<Answer<unknown>>

interface PreparedCall {
  readonly context: AgentContext
  /** The handler's input type is inferred from the row's schema. */
  readonly input: never
}

/** @returns refusals: `CHAIN_NOT_ALLOWED`, `INVALID_REQUEST` */
export function prepareCall(
  row: OperationRow,
  caller: AuthenticatedKey,
  requestId: string,
  raw: unknown,
  idempotencyKey: string | null,
  by: 'rest' | 'mcp' = 'rest',
): Result<PreparedCall> {
  const denied = authorizeChain(caller.key, raw)
  if (denied !== null) return refuse(denied)
  const input = parseInput(row.input, raw)
  if (!input.ok) return input
  const context: AgentContext = {
    requestId,
    key: caller.key,
    proofKey: caller.proofKey,
    idempotency:
      idempotencyKey === null
        ? null
        : { key: idempotencyKey, bodyHash: hashRequest(row.name, input.value) },
    guardsDuplicates: by === 'mcp',
  }
  return ok({ context, input: input.value as never })
}
