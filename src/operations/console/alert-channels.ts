import type { ConsoleInput } from '../../api/console-operations.js'
import type { EventType } from '../../domain/event.js'
import type { EndpointKind } from '../../domain/webhook.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AlertSecret } from '../../webhooks/alert-request.js'
import { generateWebhookSecret } from '../../webhooks/signature.js'
import type { WebhookTargets } from '../../webhooks/target-address.js'
import { validateWebhookUrl } from '../../webhooks/webhook-url.js'

/** What people want to be woken for, where a channel has no filter. */
export const DEFAULT_ALERT_TYPES: readonly EventType[] = [
  'transaction.failed',
  'transaction.dropped',
  'limit.reached',
  'key.revoked',
  'user.frozen',
  'user.unfrozen',
  'wallet.frozen',
  'wallet.unfrozen',
  'key.frozen',
  'key.unfrozen',
  'approval.requested',
  'approval.expired',
]

const TELEGRAM_URL = 'https://api.telegram.org'

/** Which mail may be sent; null: none, since the operator has named no server. */
export interface MailReach {
  readonly recipientDomains: readonly string[] | null
}

/** Whether the operator lets mail go there. */
export function reaches({ recipientDomains }: MailReach, email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return recipientDomains === null || recipientDomains.includes(domain)
}

export interface Channel {
  readonly kind: EndpointKind
  /** What is shown of it. */
  readonly url: string
  /** To be sealed. */
  readonly secret: string
}

/** @returns refusals: INVALID_REQUEST, with the field */
export function channelOf(
  input: ConsoleInput<'create_webhook'>,
  targets: WebhookTargets,
  mail: MailReach | null,
): Result<Channel> {
  const { kind = 'webhook', chat_id, token } = input
  if (kind === 'email') return mailChannelOf(input, mail)
  if (input.email !== undefined) return invalid('email', 'is of email alone')
  const given = input.url ?? (kind === 'telegram' ? TELEGRAM_URL : undefined)
  if (given === undefined) return invalid('url', `is needed for the kind ${kind}`)
  const url = validateWebhookUrl(given, targets)
  if (!url.ok) return url
  if (kind !== 'telegram' && chat_id !== undefined)
    return invalid('chat_id', 'is of telegram alone')
  if ((kind === 'webhook' || kind === 'slack') && token !== undefined) {
    return invalid('token', 'is of telegram and ntfy alone')
  }
  switch (kind) {
    case 'webhook':
      return ok({ kind, url: url.value, secret: generateWebhookSecret() })
    case 'slack':
      // Whoever knows its path may write to the channel.
      return ok(channel(`${new URL(url.value).origin}/`, { kind, url: url.value }))
    case 'ntfy':
      return ok(channel(url.value, { kind, token: token ?? null }))
    case 'telegram':
      if (chat_id === undefined) return invalid('chat_id', 'is needed for the kind telegram')
      if (token === undefined) return invalid('token', 'is needed for the kind telegram')
      return ok(channel(url.value, { kind, token, chatId: chat_id }))
  }
}

/**
 * Spec silent: who an address belongs to is not asked, so an operator may name the domains that
 * mail goes to. Quotas and the pace of deliveries bound the rest.
 */
function mailChannelOf(
  { email, url, chat_id, token }: ConsoleInput<'create_webhook'>,
  mail: MailReach | null,
): Result<Channel> {
  if (mail === null) return invalid('kind', 'email is not set up by the operator')
  if (email === undefined) return invalid('email', 'is needed for the kind email')
  for (const [path, given] of Object.entries({ url, chat_id, token })) {
    if (given !== undefined) return invalid(path, 'is not of email')
  }
  if (!reaches(mail, email)) {
    return invalid('email', 'is in no domain that the operator sends mail to')
  }
  return ok(channel(`mailto:${email}`, { kind: 'email', to: email }))
}

function channel(url: string, secret: AlertSecret): Channel {
  return { kind: secret.kind, url, secret: JSON.stringify(secret) }
}

function invalid(path: string, message: string): Result<never> {
  return refuse(fault('INVALID_REQUEST', { issues: [{ path, message }] }))
}
