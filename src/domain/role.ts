/** A person's role in an account. A person is the owner of the person's own account. */
export const ROLES = ['owner', 'approver', 'operator', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/**
 * | power | lets a person |
 * |---|---|
 * | read | see everything of the account |
 * | run | take power away, and run things: freeze, revoke, cancel, webhooks |
 * | approve | let calls through that wait for people |
 * | enlarge | confirm grants, lift freezes, invite, change roles, remove members |
 */
const POWERS = ['read', 'run', 'approve', 'enlarge'] as const
export type Power = (typeof POWERS)[number]

/**
 * Spec silent: an approver operates nothing and an operator approves nothing; neither role includes
 * the other.
 */
const POWERS_OF: Readonly<Record<Role, readonly Power[]>> = {
  owner: POWERS,
  approver: ['read', 'approve'],
  operator: ['read', 'run'],
  viewer: ['read'],
}

export function mayIn(role: Role, power: Power): boolean {
  return POWERS_OF[role].includes(power)
}

/** Roles that have any of the powers. */
export function rolesWith(powers: readonly Power[]): Role[] {
  return ROLES.filter((role) => powers.some((power) => mayIn(role, power)))
}

/** Whether the second role has a power that the first has not. */
export function isRaised(before: Role, after: Role): boolean {
  return POWERS_OF[after].some((power) => !mayIn(before, power))
}

/**
 * Claims of a console token besides `sub`, which is the person: the account of the token, and the
 * person's role in it. Without them the token is for the person's own account. The names avoid
 * claims of other issuers.
 */
export const ACCOUNT_CLAIM = 'countersign_account'
export const ROLE_CLAIM = 'countersign_role'
