import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import { VERSION } from '../api/version.js'

/**
 * Describes this endpoint and the revisions that it speaks: 2026-07-28 (no handshake, an envelope
 * in each request) and the handshake revisions back to the first Streamable HTTP.
 */

export const MODERN_VERSION = '2026-07-28'
export const HANDSHAKE_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']

export const SERVER_INFO = { name: 'countersign', title: 'Countersign', version: VERSION } as const

export const META_KEYS = {
  protocolVersion: PROTOCOL_VERSION_META_KEY,
  clientInfo: CLIENT_INFO_META_KEY,
  clientCapabilities: CLIENT_CAPABILITIES_META_KEY,
  serverInfo: SERVER_INFO_META_KEY,
} as const

/** `_meta` of a result that repeats the first one (REST: `Idempotency-Replayed: true`). */
export const REPLAYED_META_KEY = 'countersign/idempotency-replayed'

/** Most hosts show this to the model, once for all tools. */
export const INSTRUCTIONS = [
  'A custodial wallet with USD spend caps. Amounts are integer strings in smallest units (wei for',
  'native currency), never whole tokens. Token addresses come from get_token_balances or the user;',
  'never guess one. Check get_limits and simulate before sending. Give each intended payment one',
  'idempotency_key and reuse it when retrying. A status of awaiting_approval means that a person has',
  'to decide: give the user approval.url, follow get_transaction_status, and do not send it again.',
  'Errors are JSON with a stable code.',
].join(' ')

/** The tool list changes only with a release; hosts may cache it this long (milliseconds). */
const TOOL_LIST_TTL_MS = 3_600_000
export const TOOL_LIST_CACHE = { ttlMs: TOOL_LIST_TTL_MS, cacheScope: 'public' } as const
