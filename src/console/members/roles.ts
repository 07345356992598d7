import type { Output } from '../api.js'
import { useMe } from '../queries.js'

export type Role = Output<'GET', '/api/v1/agent/me'>['role']
export type Power = 'run' | 'approve' | 'enlarge'

/** In the order in which they are offered, with what the service lets them do. */
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

/** What the person's role does not let them is not offered; the service refuses it anyway. */
export function useMay(power: Power): boolean {
  const me = useMe()
  return me.data === undefined || WITH[power].includes(me.data.role)
}
