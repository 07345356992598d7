import type { ConsoleOperation } from '../../api/console-operations.js'
import { EVENTS, type EventType } from '../../domain/event-types.js'

type Read = Extract<ConsoleOperation, { method: 'GET' }>['path']

/** Names each read of the table as one of the console's own. */
const STALE: Readonly<Record<EventType, { readonly stale: readonly Read[] }>> = EVENTS

/** @returns null for a type that only a newer service has, because anything may be stale */
export function staleBy(type: string): readonly string[] | null {
  return Object.hasOwn(STALE, type) ? STALE[type as EventType].stale : null
}

/** Whether it is the path itself or below it, such as one transaction. */
export function isBelow(queryPath: unknown, path: string): boolean {
  return typeof queryPath === 'string' && (queryPath === path || queryPath.startsWith(`${path}/`))
}

/**
 * Data that changes only with events. Everything else also changes without one: when a key was last
 * used, which calls were refused, the number of confirmations.
 */
const TOLD_OF: readonly Read[] = [
  '/api/v1/agent/approvals',
  '/api/v1/agent/me',
  '/api/v1/agent/spend',
  '/api/v1/agent/spend/totals',
  '/api/v1/agent/transactions',
]

export function isToldOf(queryPath: unknown): boolean {
  return TOLD_OF.some((path) => path === queryPath)
}
