import { isSecret } from '../auth/api-key.js'
import { claimedAccountOf } from '../auth/unverified-tokens.js'
import { partitionOfSecret } from '../domain/cells.js'
import type { UserId } from '../domain/ids.js'
import { partitionOf } from '../domain/partition.js'
import type { RequestHead } from './request-head.js'

/** Operations by console token; all others, and MCP, go by key. */
const OF_CONSOLE = '/api/v1/'
const OF_AGENTS = '/api/'
const MCP = '/mcp'

/**
 * Whose a request says that it is. Nobody has checked it: whoever answers does, and has that user or
 * refuses. Ids of quotes, grants and approvals name no node, as one would that may be gone: who asks about them
 * says whose they are, and the owner of the moment has them. Approvals lie in its journal, grants that are to be
 * confirmed at the identity provider; a quote, good for a minute, ends with the owner that gave it.
 * @returns null for what is of no user, or says so of none
 */
export function partitionOfRequest(
  path: string,
  { xApiKey, authorization }: Pick<RequestHead, 'xApiKey' | 'authorization'>,
): number | null {
  if (path.startsWith(OF_CONSOLE)) {
    const account = claimedAccountOf(authorization)
    return account === '' ? null : partitionOf(account as UserId)
  }
  const isOfKey = path.startsWith(OF_AGENTS) || path === MCP
  return isOfKey && isSecret(xApiKey) ? partitionOfSecret(xApiKey) : null
}
