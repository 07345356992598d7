import { randomUUID } from 'node:crypto'
import { type MailReach, reaches } from '../operations/console/alert-channels.js'
import type { InvitationMail } from '../operations/console/invitation-mail.js'
import type { Mailer } from '../webhooks/mailer.js'

/** The owner waits for it, who has a link to send otherwise. */
const MAIL_TIMEOUT_MS = 5_000
/** Beyond it nobody is mailed: a server that is slow holds up no more requests. */
const MAILS_AT_ONCE_MAX = 8

/** @param mail null: the operator has named no server, and nobody is told */
export function createInvitationMail(
  mail: (MailReach & { readonly mailer: Mailer }) | null,
): InvitationMail {
  let atWork = 0
  return async ({ email, role, accountId, acceptBefore }) => {
    if (mail === null || !reaches(mail, email) || atWork >= MAILS_AT_ONCE_MAX) return false
    const title = `You are invited to an account, as ${role}`
    const text = `The account is ${accountId}. Sign in to the console by this address as ever, and see Members, before ${acceptBefore}.`
    atWork++
    try {
      await mail.mailer.send(email, randomUUID(), { title, text }, MAIL_TIMEOUT_MS)
      return true
    } catch {
      // The invitation stands; the owner hears that they have to send the link themselves.
      return false
    } finally {
      atWork--
    }
  }
}
