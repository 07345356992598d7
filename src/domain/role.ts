/** What a person may do in an account. The person whose own account it is begins as its owner. */
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
export const POWERS = ['read', 'run', 'approve', 'enlarge'] as const
export type Power = (typeof POWERS)[number]

/** Spec silent: an approver runs nothing and an operator approves nothing; neither has all of the other. */
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

/** Whether the second has a power that the first has not. */
export function isRaised(before: Role, after: Role): boolean {
  return POWERS_OF[after].some((power) => !mayIn(before, power))
}

/**
 * Claims of a console token besides `sub`, which is the person: the account that it is for, and what
 * the person is there. Without them it is for the person's own account, whose owner they are. Named
 * apart from what other issuers may put into their tokens.
 */
export const ACCOUNT_CLAIM = 'countersign_account'
export const ROLE_CLAIM = 'countersign_role'
