import type { ConsoleOperation } from '../../api/console-operations.js'
import type { Output } from '../api.js'

type EventType = Output<'GET', '/api/v1/agent/events'>['events'][number]['type']
type Read = Extract<ConsoleOperation, { method: 'GET' }>['path']

const MOVED: readonly Read[] = ['/api/v1/agent/transactions', '/api/v1/agent/spend']
const SETTLED = [...MOVED, '/api/v1/agent/wallets'] as const
const ASKED = [...MOVED, '/api/v1/agent/approvals'] as const

/** What each event makes stale: queries whose keys begin with one of these. */
const STALE: Readonly<Record<EventType, readonly Read[]>> = {
  'transaction.broadcast': MOVED,
  'transaction.confirmed': SETTLED,
  'transaction.failed': SETTLED,
  'transaction.dropped': SETTLED,
  'key.rotated': ['/api/v1/agent/keys', '/api/v1/agent/spend'],
  'key.revoked': ['/api/v1/agent/keys', '/api/v1/agent/spend'],
  'limit.reached': ['/api/v1/agent/spend'],
  'user.frozen': ['/api/v1/agent/me', '/api/v1/agent/transactions'],
  'user.unfrozen': ['/api/v1/agent/me'],
  'wallet.frozen': ['/api/v1/agent/wallets', '/api/v1/agent/transactions'],
  'wallet.unfrozen': ['/api/v1/agent/wallets'],
  'key.frozen': ['/api/v1/agent/keys', '/api/v1/agent/transactions'],
  'key.unfrozen': ['/api/v1/agent/keys'],
  'approval.requested': ASKED,
  'approval.approved': ASKED,
  'approval.declined': ASKED,
  'approval.expired': ASKED,
  'webhook.test': ['/api/v1/agent/webhooks'],
}

/** @returns null of a type that a newer service has: anything may be stale */
export function staleBy(type: string): readonly string[] | null {
  return Object.hasOwn(STALE, type) ? STALE[type as EventType] : null
}

/** The path itself, and what is below it, such as one transaction. */
export function isBelow(queryPath: unknown, path: string): boolean {
  return typeof queryPath === 'string' && (queryPath === path || queryPath.startsWith(`${path}/`))
}

/**
 * What changes with an event alone. Of the others something does not: when a key was last used, who
 * was refused, how many confirmations there are.
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
