import type { ApiKey, Permission } from '../domain/api-key.js'
import { mayIn, type Power, type Role, rolesWith } from '../domain/role.js'
import { type Fault, fault } from '../errors/fault.js'
import type { AuthenticatedKey } from './api-key.js'

/**
 * What a key may do, decided once for REST and MCP, in the order of CONTRACT.md, "Order of checks".
 * Null means allowed.
 */

/** Permission, then freezes, which stop what needs `trade`. `trade` includes everything in `read` (CONTRACT.md, "Keys"). */
export function authorizeOperation(
  { key, frozen }: Pick<AuthenticatedKey, 'key' | 'frozen'>,
  operation: { readonly permission: Permission },
): Fault | null {
  if (operation.permission === 'read') return null
  return key.permission === 'trade' ? (frozen ?? null) : fault('PERMISSION_DENIED')
}

/** Of a console route: whether the person's role in the account lets them. */
export function authorizeRole(
  role: Role,
  { needs }: { readonly needs: readonly Power[] },
): Fault | null {
  if (needs.some((power) => mayIn(role, power))) return null
  const roles = rolesWith(needs)
  const message = `Your role in this account is ${role}; this takes ${roles.join(' or ')}.`
  return fault('PERMISSION_DENIED', { role, roles }, message)
}

/**
 * Reads `chain_id` of an input that is not validated yet. A chain that is none of ours is
 * outside every key's list, so it needs no case of its own; a `chain_id` that is no integer is
 * left to the schema.
 */
export function authorizeChain(key: ApiKey, input: unknown): Fault | null {
  if (typeof input !== 'object' || input === null || !('chain_id' in input)) return null
  const chainId = input.chain_id
  if (typeof chainId !== 'number' || !Number.isSafeInteger(chainId) || chainId < 0) return null
  if (key.allowedChains.includes(chainId)) return null
  return fault('CHAIN_NOT_ALLOWED', { chain_id: chainId, allowed_chains: [...key.allowedChains] })
}
