import { isSecret } from '../auth/api-key.js'
import { bearerKeyOf } from '../auth/presented-key.js'
import { claimedAccountOf } from '../auth/unverified-tokens.js'
import { partitionOfSecret } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import { partitionOf } from '../domain/partition.js'
import type { RequestHead } from './request-head.js'

/** Console operations use a token; all others, and MCP, use a key. */
const OF_CONSOLE = '/api/v1/'
const OF_AGENTS = '/api/'
const MCP = '/mcp'

/**
 * The partition of the user that a request claims to be from. The claim is unchecked: the node that
 * answers checks it, and either has that user or refuses. Ids of quotes, grants and approvals do
 * not name a node, which might be gone; the caller names its user, and the current leader has them.
 * Approvals are in its journal, unconfirmed grants at the identity provider; a quote, valid for a
 * minute, ends with the leader that gave it.
 * @returns null if the request is for no user, or names none
 */
export function partitionOfRequest(
  path: string,
  { xApiKey, authorization }: Pick<RequestHead, 'xApiKey' | 'authorization'>,
): number | null {
  if (path.startsWith(OF_CONSOLE)) {
    const account = claimedAccountOf(authorization)
    return account === '' ? null : partitionOf(account as UserId)
  }
  const secret = path === MCP ? xApiKey || bearerKeyOf(authorization) : xApiKey
  const isOfKey = path.startsWith(OF_AGENTS) || path === MCP
  return isOfKey && isSecret(secret) ? partitionOfSecret(secret) : null
}
