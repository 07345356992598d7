import { type InputRequest, inputRequired } from '@modelcontextprotocol/server'
import { hashRequest } from '../api/parse-idempotency.js'
import type { TransactionView } from '../api/transaction.js'
import type { ToolArguments } from './call-tool.js'
import { META_KEYS } from './protocol.js'
import type { ToolResult } from './tool-result.js'

/**
 * How a client that says so is told of a call that waits for people: as a task that it follows, or
 * by the page to show (URL elicitation). All others get the record, as over REST. Only an envelope
 * (2026-07-28) says what a client can do: requests of the handshake revisions come without one.
 */

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks'
/** Of tasks; people take longer, and the end comes by `transaction.*` events too. */
const POLL_INTERVAL_MS = 2_000

type JsonObject = Readonly<Record<string, unknown>>

/** What the envelope of a request declares of the client. */
export interface WaysToWait {
  readonly tasks: boolean
  readonly url: boolean
}

/** @param envelope `params._meta` that was found valid; null of a handshake revision */
export function waysToWait(envelope: unknown): WaysToWait {
  const capabilities = fieldOf(envelope, META_KEYS.clientCapabilities)
  return {
    tasks: isObject(fieldOf(fieldOf(capabilities, 'extensions'), TASKS_EXTENSION)),
    url: isObject(fieldOf(fieldOf(capabilities, 'elicitation'), 'url')),
  }
}

/**
 * What a client is answered in place of the record of a call that has begun to wait.
 * @returns null where it is answered the record
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
    // What it was made of too, for clients that show the text of whatever comes.
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
 * What a task in `input_required` asks for; its creation does not say it. Whoever is asked again, of
 * other terms, is asked under another name.
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
 * The transaction that a client means which calls again as it was told to, so that nothing is sent
 * a second time. Its state gives no authority: the record is read with the rights of its key.
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

/** Null where no page of the identity provider shows it, or nobody has to. */
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
