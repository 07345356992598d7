import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { TransactionView } from '../api/transaction.js'
import { callTool, type McpExchange, type ToolBinding } from './call-tool.js'
import { sdkToolResult, type ToolResult } from './tool-result.js'
import { inputsOf, taskOf, waysToWait } from './waiting-call.js'

/**
 * The tasks extension (SEP-2663) over transactions that wait, or waited, for people. A task is its
 * transaction, so that nothing is kept for it and it outlives a restart; only a tool makes one.
 */

export interface TaskOperations {
  readonly status: ToolBinding
  readonly withdraw: ToolBinding
}

const TASK_ID_CHARS_MAX = 64
const byId = z.looseObject({ taskId: z.string().max(TASK_ID_CHARS_MAX) })

/** @param exchangeOf the request that a server was made for */
export function serveTasks(
  server: Server,
  operations: TaskOperations,
  exchangeOf: () => McpExchange,
): void {
  async function recordOf(taskId: string, exchange: McpExchange): Promise<ToolResult> {
    const result = await callTool(operations.status, { tx_id: taskId }, exchange)
    if (result.kind === 'refusal') throw invalidTask(result.json)
    if (recordIn(result).approval === undefined) throw invalidTask('it never waited for people')
    return result
  }

  server.setRequestHandler('tasks/get', { params: byId }, async ({ taskId }, context) => {
    requireEnvelope(context.mcpReq.envelope)
    const exchange = exchangeOf()
    const found = await recordOf(taskId, exchange)
    const record = recordIn(found)
    const task = taskOf(record, waysToWait(exchange.envelope).url)
    if (task.status === 'completed') return { ...task, result: completed(found) }
    return task.status === 'input_required' ? { ...task, inputRequests: inputsOf(record) } : task
  })
  // People answer on the page: what a host says that they said is no proof of it.
  server.setRequestHandler('tasks/update', { params: byId }, async ({ taskId }, context) => {
    requireEnvelope(context.mcpReq.envelope)
    await recordOf(taskId, exchangeOf())
    return {}
  })
  server.setRequestHandler('tasks/cancel', { params: byId }, async ({ taskId }, context) => {
    requireEnvelope(context.mcpReq.envelope)
    const exchange = exchangeOf()
    await recordOf(taskId, exchange)
    const result = await callTool(operations.withdraw, { tx_id: taskId }, exchange)
    if (result.kind === 'value') return {}
    // Decided meanwhile, it cannot be stopped any more: the next look at the task says how it ended.
    const { status } = recordIn(await recordOf(taskId, exchange))
    if (status === 'awaiting_approval') throw invalidTask(result.json)
    return {}
  })
}

function completed(found: ToolResult): object {
  return { resultType: 'complete', ...sdkToolResult(found) }
}

function recordIn(result: ToolResult): TransactionView {
  if (result.kind === 'refusal') throw invalidTask(result.json)
  return result.answer.value as TransactionView
}

/** Tasks of 2025-11-25 are other ones, and this endpoint does not declare them. */
function requireEnvelope(envelope: unknown): void {
  if (envelope === undefined)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
}

function invalidTask(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `No such task: ${why}`)
}
