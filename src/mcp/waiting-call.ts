import { type InputRequest, inputRequired } from '@modelcontextprotocol/server'
import { hashRequest } from '../api/parse-idempotency.js'
import type { TransactionView } from '../api/transaction.js'
import type { ToolArguments } from './call-tool.js'
import { META_KEYS } from './protocol.js'
import type { ToolResult } from './tool-result.js'

/**
 * How a client that supports it learns of a call that waits for people: as a task that it follows,
 * or by a page to show (URL elicitation). Other clients get the record, as over REST. Only an
 * envelope (2026-07-28) tells what a client supports; requests of the handshake revisions have
 * none.
 */

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
/**
 * The poll interval of tasks. People take longer, and `transaction.*` events report the end too.
 */
const POLL_INTERVAL_MS = 2_000

type JsonObject = Readonly<Record<string, unknown>>

/** What the envelope of a request declares about the client. */
interface WaysToWait {
  readonly tasks: boolean
  readonly url: boolean
}

/** @param envelope `params._meta` that was found valid; null for a handshake revision */
export function waysToWait(envelope: unknown): WaysToWait {
  const capabilities = fieldOf(envelope, META_KEYS.clientCapabilities)
  return {
    tasks: isObject(fieldOf(fieldOf(capabilities, 'extensions'), TASKS_EXTENSION)),
    url: isObject(fieldOf(fieldOf(capabilities, 'elicitation'), 'url')),
  }
}

/**
 * What a client is answered instead of the record of a call that has begun to wait.
 * @returns null if it is answered the record
 */
export function waitingResult(
  tool: string,
  args: ToolArguments,
  result: ToolResult,
  envelope: unknown,
): JsonObject | null {
  if (result.kind !== 'value' || result.answer.status !== 202) return null
  const record = result.answer.value as TransactionView
  if (record.status !== 'awaiting_approval') return null
  const { tasks, url } = waysToWait(envelope)
  if (tasks) {
    // Includes the original text, for clients that show the text of any result.
    const content = [{ type: 'text', text: result.json }]
    return { resultType: 'task', ...taskOf(record, url), content }
  }
  const page = url ? pageOf(record) : null
  if (page === null) return null
  return inputRequired({
    inputRequests: { approval: page },
    requestState: stateOf(record.tx_id, tool, args),
  })
}

/**
 * A task, whose id is the transaction's.
 * @param url whether the client shows pages
 */
export function taskOf(record: TransactionView, url: boolean): JsonObject {
  const { tx_id, approval, status, error } = record
  const page = url && status === 'awaiting_approval' ? pageOf(record) : null
  const message = status !== 'awaiting_approval' ? error?.message : approval && waitsFor(approval)
  return {
    taskId: tx_id,
    status: taskStatus(record, page),
    ...(message === undefined ? {} : { statusMessage: message }),
    createdAt: record.created_at,
    lastUpdatedAt: record.updated_at,
    // Records are kept; retention deletes them long after their end.
    ttlMs: null,
    pollIntervalMs: POLL_INTERVAL_MS,
  }
}

/**
 * What a task in `input_required` asks for, which its creation does not contain. If people are
 * asked again, about other terms, the name differs.
 */
export function inputsOf(record: TransactionView): JsonObject {
  const page = pageOf(record)
  return page === null ? {} : { [`approval until ${record.approval?.expires_at}`]: page }
}

function taskStatus({ status }: TransactionView, page: InputRequest | null): string {
  if (status === 'awaiting_approval') return page === null ? 'working' : 'input_required'
  return status === 'withdrawn' ? 'cancelled' : 'completed'
}

/**
 * The transaction meant by a client that calls again as it was told to, so that nothing is sent a
 * second time. The state gives no authority: the record is read with the rights of its key.
 * @returns null for the state of another call
 */
export function transactionOfState(
  state: string,
  tool: string,
  args: ToolArguments,
): string | null {
  const [txId = ''] = state.split('.')
  return state === stateOf(txId, tool, args) ? txId : null
}

function stateOf(txId: string, tool: string, args: ToolArguments): string {
  return `${txId}.${hashRequest(tool, args)}`
}

/** Null if no page of the identity provider shows it, or no person has to decide. */
function pageOf({ approval }: TransactionView): InputRequest | null {
  const url = approval?.url ?? null
  if (approval === undefined || url === null || approval.needed === 0) return null
  return inputRequired.elicitUrl({ message: waitsFor(approval), url })
}

function waitsFor({ needed, rule, url, expires_at, runs_at }: Approval): string {
  const asks = `The rule "${rule}" of this key's policy asks for`
  if (needed === 0) return `${asks} a delay: it is sent at ${runs_at} unless the owner declines.`
  const people = needed === 1 ? 'the approval of a person' : `the approval of ${needed} people`
  return `${asks} ${people}, until ${expires_at}${url === null ? '' : `: ${url}`}.`
}

type Approval = NonNullable<TransactionView['approval']>

function fieldOf(value: unknown, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
