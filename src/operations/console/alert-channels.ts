import type { ConsoleInput } from '../../api/console-operations.js'
import type { EndpointKind } from '../../domain/webhook.js'
import { fault, ok, type Result, refuse } from '../../errors/fault.js'
import type { AlertSecret } from '../../webhooks/alert-request.js'
import { generateWebhookSecret } from '../../webhooks/signature.js'
import type { WebhookTargets } from '../../webhooks/target-address.js'
import { validateWebhookUrl } from '../../webhooks/webhook-url.js'

const TELEGRAM_URL = 'https://api.telegram.org'

/** The mail that may be sent; null if the operator configured no mail server. */
export interface MailReach {
  readonly recipientDomains: readonly string[] | null
}

/** Whether the operator allows mail to this address. */
export function reaches({ recipientDomains }: MailReach, email: string): boolean {
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase()
  return recipientDomains === null || recipientDomains.includes(domain)
}

interface Channel {
  readonly kind: EndpointKind
  /** The URL that is shown. */
  readonly url: string
  /** Is stored sealed. */
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
  if (input.email !== undefined) return invalid('email', 'applies only to the kind email')
  const given = input.url ?? (kind === 'telegram' ? TELEGRAM_URL : undefined)
  if (given === undefined) return invalid('url', `is needed for the kind ${kind}`)
  const url = validateWebhookUrl(given, targets)
  if (!url.ok) return url
  if (kind !== 'telegram' && chat_id !== undefined)
    return invalid('chat_id', 'applies only to the kind telegram')
  if ((kind === 'webhook' || kind === 'slack') && token !== undefined) {
    return invalid('token', 'applies only to the kinds telegram and ntfy')
  }
  switch (kind) {
    case 'webhook':
      return ok({ kind, url: url.value, secret: generateWebhookSecret() })
    case 'slack':
      // Anybody who knows its path may write to the channel.
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
 * Spec silent: the owner of an address is not asked, so an operator may name the domains that mail
 * goes to. Quotas and the pace of deliveries bound the rest.
 */
function mailChannelOf(
  { email, url, chat_id, token }: ConsoleInput<'create_webhook'>,
  mail: MailReach | null,
): Result<Channel> {
  if (mail === null) return invalid('kind', 'email is not configured by the operator')
  if (email === undefined) return invalid('email', 'is needed for the kind email')
  for (const [path, given] of Object.entries({ url, chat_id, token })) {
    if (given !== undefined) return invalid(path, 'does not apply to the kind email')
  }
  if (!reaches(mail, email)) {
    return invalid('email', 'is not in a domain that the operator allows')
  }
  return ok(channel(`mailto:${email}`, { kind: 'email', to: email }))
}

function channel(url: string, secret: AlertSecret): Channel {
  return { kind: secret.kind, url, secret: JSON.stringify(secret) }
}

function invalid(path: string, message: string): Result<never> {
  return refuse(fault('INVALID_REQUEST', { issues: [{ path, message }] }))
}
