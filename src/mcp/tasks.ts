import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { TransactionView } from '../api/transaction.js'
import { callTool, type McpExchange, type ToolBinding } from './call-tool.js'
import { sdkToolResult, type ToolResult } from './tool-result.js'
import { inputsOf, taskOf, waysToWait } from './waiting-call.js'

/**
 * The tasks extension (SEP-2663) for transactions that wait, or waited, for people. A task is its
 * transaction, so nothing else is stored for it and it survives a restart; only a tool creates one.
 */

export interface TaskOperations {
  readonly status: ToolBinding
  readonly withdraw: ToolBinding
}

const TASK_ID_CHARS_MAX = 64
const byId = z.looseObject({ taskId: z.string().max(TASK_ID_CHARS_MAX) })

/** @param exchangeOf returns the request that a server was made for */
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
  // People answer on the page, because a host's report of their answer proves nothing.
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
    // If it was decided in the meantime it cannot be stopped; the next poll of the task shows how
    // it ended.
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

/** Tasks of 2025-11-25 are different, and this endpoint does not declare them. */
function requireEnvelope(envelope: unknown): void {
  if (envelope === undefined)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, 'Method not found')
}

function invalidTask(why: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `No such task: ${why}`)
}
