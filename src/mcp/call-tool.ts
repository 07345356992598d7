import type { Logger } from 'pino'
import type { OperationRow } from '../api/operation-row.js'
import { invalidAt } from '../api/parse.js'
import { parseIdempotencyKey } from '../api/parse-idempotency.js'
import type { AuthenticatedKey } from '../auth/api-key.js'
import { authorizeOperation } from '../auth/authorize.js'
import { FaultError, fault, ok, type Result, refuse } from '../errors/fault.js'
import type { Answer } from '../operations/context.js'
import { type DrilledHandlers, drilledHandler } from '../operations/drilled-handler.js'
import { type AgentHandler, prepareCall } from '../operations/prepare-call.js'
import { argumentsAsMeant } from './host-arguments.js'
import { withSelectorAlone } from './record-result.js'
import { refusalResult, type ToolResult, toToolResult } from './tool-result.js'
import { IDEMPOTENCY_ARGUMENT } from './tools.js'

/**
 * Runs one tool call: the checks of the REST route in the same order and by the same code, then the
 * operation. It always ends in a result; nothing thrown reaches a client.
 */

/** A tool and its handler. */
export interface ToolBinding {
  readonly row: OperationRow
  readonly handler: AgentHandler
}

/** The authenticated request that a call came in. */
export interface McpCaller {
  readonly caller: AuthenticatedKey
  readonly requestId: string
  readonly logger: Logger
  /** The fault that its header requests; absent if it requests none. */
  readonly drill?: DrillAsked
}

interface DrillAsked {
  /** Not empty. */
  readonly header: string
  readonly drilled: DrilledHandlers | null
}

/** What one HTTP request contributes. */
export interface McpExchange extends McpCaller {
  /** `params._meta` of the message, to be remembered once it was found valid. */
  readonly envelope: unknown
}

export type ToolArguments = Readonly<Record<string, unknown>>

export function callTool(
  { row, handler }: ToolBinding,
  args: ToolArguments,
  mcp: McpCaller,
): ToolResult | Promise<ToolResult> {
  const { caller, requestId } = mcp
  try {
    const denied = authorizeOperation(caller, row)
    if (denied !== null) return refusalResult(denied, requestId)
    const split = splitArguments(row, argumentsAsMeant(row, args))
    if (!split.ok) return refusalResult(split.fault, requestId)
    const { input, idempotencyKey } = split.value
    const call = prepareCall(row, caller, requestId, input, idempotencyKey, 'mcp')
    if (!call.ok) return refusalResult(call.fault, requestId)
    const asked = mcp.drill === undefined || !row.movesValue ? null : drilledBy(mcp.drill, row)
    if (asked !== null && !asked.ok) return refusalResult(asked.fault, requestId)
    const serves = asked === null ? handler : asked.value
    const pending = serves(call.value.context, call.value.input)
    return 'then' in pending ? answerLater(pending, row, mcp) : answer(pending, row, mcp)
  } catch (error) {
    return failure(error, row, mcp)
  }
}

function drilledBy({ drilled, header }: DrillAsked, row: OperationRow): Result<AgentHandler> {
  return drilledHandler(drilled, row, header)
}

async function answerLater(
  pending: Promise<Answer<unknown>>,
  row: OperationRow,
  mcp: McpCaller,
): Promise<ToolResult> {
  try {
    return answer(await pending, row, mcp)
  } catch (error) {
    return failure(error, row, mcp)
  }
}

function answer(
  given: Answer<unknown>,
  row: OperationRow,
  { requestId, logger }: McpCaller,
): ToolResult {
  if (!given.ok && given.fault.internal !== undefined) {
    logger.warn({ requestId, operation: row.name, code: given.fault.code }, given.fault.internal)
  }
  return toToolResult(withSelectorAlone(row, given), requestId)
}

function failure(error: unknown, row: OperationRow, { requestId, logger }: McpCaller): ToolResult {
  if (error instanceof FaultError) return refusalResult(error.fault, requestId)
  logger.error({ requestId, operation: row.name, err: error }, 'tool call failed')
  return refusalResult(fault('INTERNAL'), requestId)
}

interface SplitArguments {
  readonly input: ToolArguments
  readonly idempotencyKey: string | null
}

/**
 * Takes the idempotency key out of a write tool's arguments; for other tools it is an unknown
 * field.
 */
function splitArguments(row: OperationRow, args: ToolArguments): Result<SplitArguments> {
  if (!row.movesValue || !Object.hasOwn(args, IDEMPOTENCY_ARGUMENT)) {
    return ok({ input: args, idempotencyKey: null })
  }
  const { [IDEMPOTENCY_ARGUMENT]: given, ...input } = args
  const key = typeof given === 'string' ? parseIdempotencyKey(given, '') : null
  if (key?.ok === true) return ok({ input, idempotencyKey: key.value })
  return refuse(invalidAt(IDEMPOTENCY_ARGUMENT, 'must be 1 to 255 visible ASCII characters'))
}
