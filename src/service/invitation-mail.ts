import { randomUUID } from 'node:crypto'
import { type MailReach, reaches } from '../operations/console/alert-channels.js'
import type { InvitationMail } from '../operations/console/invitation-mail.js'
import type { Mailer } from '../webhooks/mailer.js'

/**
 * The request of the account's owner waits for the mail server this long; the owner can always send
 * the link instead.
 */
const MAIL_TIMEOUT_MS = 5_000
/** Above this bound no mail is sent, so a slow mail server does not hold up more requests. */
const MAILS_AT_ONCE_MAX = 8

/** @param mail null if the operator configured no mail server; then no invitation is mailed */
export function createInvitationMail(
  mail: (MailReach & { readonly mailer: Mailer }) | null,
): InvitationMail {
  let atWork = 0
  return async ({ email, role, accountId, acceptBefore }) => {
    if (mail === null || !reaches(mail, email) || atWork >= MAILS_AT_ONCE_MAX) return false
    const title = `You are invited to an account, as ${role}`
    const text = `The account is ${accountId}. Sign in to the console by this address and open Members before ${acceptBefore}. If you have no login there yet, ask its operator for one.`
    atWork++
    try {
      await mail.mailer.send(email, randomUUID(), { title, text }, MAIL_TIMEOUT_MS)
      return true
    } catch {
      // The invitation stands. The owner is told to send the link themselves.
      return false
    } finally {
      atWork--
    }
  }
}
