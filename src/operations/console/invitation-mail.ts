import type { Role } from '../../domain/role.js'

interface InvitationTold {
  readonly email: string
  readonly role: Role
  readonly accountId: string
  /** ISO 8601. */
  readonly acceptBefore: string
}

/**
 * Mails an invitation through the operator's mail server.
 *
 * Spec silent: it goes to the address with which the person signs in here, which the operator
 * vouched for, so no owner mails a stranger. It contains no secret, because accepting takes the
 * person's own sign-in and passkey. It contains no link either, which people would learn to follow.
 * @returns false if no mail was sent
 */
export type InvitationMail = (told: InvitationTold) => Promise<boolean>
