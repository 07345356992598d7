/**
 * Spec silent: this includes open invitations. Each signature checks every member's authorizers.
 */
export const MEMBERS_MAX = 32

/** The changes of a person's place in an account. */
export const MEMBER_ACTIONS = ['invite', 'accept', 'change', 'remove'] as const
export type MemberAction = (typeof MEMBER_ACTIONS)[number]
