import type { Role } from '../../domain/role.js'

export interface InvitationTold {
  readonly email: string
  readonly role: Role
  readonly accountId: string
  /** ISO 8601. */
  readonly acceptBefore: string
}

/**
 * Tells whom an owner invited by the operator's mail server.
 *
 * Spec silent: it goes to the address by which the person signs in here, which the operator vouched for,
 * so no owner mails a stranger. It holds no secret: to accept takes the person's own sign-in and passkey.
 * Neither does it hold an address to go to, which people would learn to follow.
 * @returns false: nobody was told
 */
export type InvitationMail = (told: InvitationTold) => Promise<boolean>
