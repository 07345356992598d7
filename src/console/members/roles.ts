import type { Output } from '../api.js'
import { useMe } from '../queries.js'

export type Role = Output<'GET', '/api/v1/agent/me'>['role']
export type Power = 'run' | 'approve' | 'enlarge'

/** Roles in the order in which they are offered, with their permissions. */
export const ROLES: readonly { readonly role: Role; readonly may: string }[] = [
  { role: 'owner', may: 'everything: keys, approvals, members' },
  { role: 'approver', may: 'see everything, and approve or decline calls' },
  { role: 'operator', may: 'see everything, freeze, revoke keys, cancel, and run webhooks' },
  { role: 'viewer', may: 'see everything' },
]

const WITH: Readonly<Record<Power, readonly Role[]>> = {
  run: ['owner', 'operator'],
  approve: ['owner', 'approver'],
  enlarge: ['owner'],
}

/**
 * Actions that the person's role does not allow are not offered; the service would refuse them
 * anyway.
 */
export function useMay(power: Power): boolean {
  const me = useMe()
  return me.data === undefined || WITH[power].includes(me.data.role)
}
