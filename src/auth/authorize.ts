import type { ApiKey, Permission } from '../domain/api-key.js'
import { CHAIN_COUNT, isChainId } from '../domain/chains.js'
import { mayIn, type Power, type Role, rolesWith } from '../domain/role.js'
import { type Fault, fault } from '../errors/fault.js'
import type { AuthenticatedKey } from './api-key.js'

/**
 * Decides what a key may do, once for REST and MCP, in the order of CONTRACT.md, "Order of checks".
 * Null means allowed.
 */

/**
 * Checks the permission, then freezes, which stop what needs `trade`. `trade` includes `read`
 * (CONTRACT.md, "Keys").
 */
export function authorizeOperation(
  { key, frozen }: Pick<AuthenticatedKey, 'key' | 'frozen'>,
  operation: { readonly permission: Permission },
): Fault | null {
  if (operation.permission === 'read') return null
  return key.permission === 'trade' ? (frozen ?? null) : fault('PERMISSION_DENIED')
}

/** Checks whether the person's role in the account allows a console route. */
export function authorizeRole(
  role: Role,
  { needs }: { readonly needs: readonly Power[] },
): Fault | null {
  if (needs.some((power) => mayIn(role, power))) return null
  const roles = rolesWith(needs)
  const message = `Your role in this account is ${role}; this needs ${roles.join(' or ')}.`
  return fault('PERMISSION_DENIED', { role, roles }, message)
}

const NO_KEYS_CHAIN = `The chain is not one of the ${CHAIN_COUNT} supported chains, so no API key can be allowed on it.`

/**
 * Reads `chain_id` of an input that is not validated yet. An unsupported chain is outside every
 * key's list, so it needs no case of its own; the schema handles a `chain_id` that is not an
 * integer.
 */
export function authorizeChain(key: ApiKey, input: unknown): Fault | null {
  if (typeof input !== 'object' || input === null || !('chain_id' in input)) return null
  const chainId = input.chain_id
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 0) return null
  if (key.allowedChains.includes(chainId)) return null
  const details = { chain_id: chainId, allowed_chains: [...key.allowedChains] }
  return isChainId(chainId)
    ? fault('CHAIN_NOT_ALLOWED', details)
    : fault('CHAIN_NOT_ALLOWED', details, NO_KEYS_CHAIN)
}
