import { type AlertText, type EventType, eventRow } from '../domain/event-types.js'
import type { ChatKind } from '../domain/webhook.js'
import { alertText } from './alert-text.js'

/**
 * The request that notifies a person of an event, in the form of each chat or push service. The
 * part that identifies the channel to its service is a secret: it is sealed at rest and never shown
 * again.
 */
export interface AlertRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The sealed part of a channel, by kind. */
export type AlertSecret = ChatSecret | MailSecret

type ChatSecret =
  /** The whole incoming-webhook URL. */
  | { readonly kind: 'slack'; readonly url: string }
  | { readonly kind: 'telegram'; readonly token: string; readonly chatId: string }
  /** Null when anyone may publish to the topic. */
  | { readonly kind: 'ntfy'; readonly token: string | null }

interface MailSecret {
  readonly kind: 'email'
  readonly to: string
}

/**
 * @param url of the endpoint's record, without its secret
 * @param secret the JSON of an `AlertSecret`
 * @param body of the delivery: `{type, timestamp, data}`
 */
export function alertRequest(
  kind: ChatKind,
  url: string,
  secret: string,
  body: string,
): AlertRequest {
  const { type, title, text } = alertOf(body)
  const channel = JSON.parse(secret) as ChatSecret
  if (channel.kind !== kind) throw new Error(`the secret is for ${channel.kind}, not for ${kind}`)
  switch (channel.kind) {
    case 'slack':
      return json(channel.url, { text: `*${escaped(title)}*\n${escaped(text)}` })
    case 'telegram':
      return json(`${url.replace(/\/$/, '')}/bot${channel.token}/sendMessage`, {
        chat_id: channel.chatId,
        text: `${title}\n${text}`,
        disable_web_page_preview: true,
      })
    case 'ntfy':
      return {
        url,
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          title: encodedWord(title),
          tags: eventRow(type).ntfyTag ?? 'information_source',
          ...(channel.token === null ? {} : { authorization: `Bearer ${channel.token}` }),
        },
        body: text,
      }
  }
}

/** @returns the address of a channel of the kind `email` */
export function mailAddressOf(secret: string): string {
  const channel = JSON.parse(secret) as AlertSecret
  if (channel.kind !== 'email') throw new Error(`the secret is for ${channel.kind}, not for email`)
  return channel.to
}

/** @param body of the delivery: `{type, timestamp, data}` */
export function alertOf(body: string): AlertText & { readonly type: EventType } {
  const { type, data } = JSON.parse(body) as {
    readonly type: EventType
    readonly data: Readonly<Record<string, unknown>>
  }
  return { type, ...alertText(type, data) }
}

function json(url: string, body: object): AlertRequest {
  return { url, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** Escapes the three characters with a meaning in Slack's message text. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** Headers are ASCII (RFC 2047). */
function encodedWord(text: string): string {
  return `=?UTF-8?B?${Buffer.from(text, 'utf8').toString('base64')}?=`
}
