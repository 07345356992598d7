import type { EventType } from '../domain/event.js'

/** What people read of an event in a chat or on a telephone: one line, and one of detail. */
export interface AlertText {
  readonly title: string
  readonly text: string
}

type Data = Readonly<Record<string, unknown>>
type Template = (data: Data) => AlertText

/** Names, reasons and errors come from users and chains. */
const TEXT_CHARS_MAX = 500

/** One template for each type of event; a type without one does not compile. */
const TEMPLATES: Readonly<Record<EventType, Template>> = {
  'transaction.broadcast': transaction('was sent'),
  'transaction.confirmed': transaction('is confirmed'),
  'transaction.failed': transaction('failed on chain'),
  'transaction.dropped': transaction('will not be mined'),
  'key.rotated': (data) => ({
    title: `API key ${said(data.name)} was rotated`,
    text: `${said(data.rotated_from)} gave way to ${said(data.key_id)}.`,
  }),
  'key.revoked': (data) => ({
    title: `API key ${said(data.name)} was revoked`,
    text: `${said(data.key_id)} of ${said(data.sub_wallet_id)}.`,
  }),
  'limit.reached': (data) => ({
    title: `API key has used ${said(data.percent)} % of its ${said(data.period)} cap`,
    text: `${said(data.key_id)}: ${said(data.used_usd)} of ${said(data.limit_usd)} USD.`,
  }),
  'user.frozen': frozen('Everything of yours is frozen', 'user_id'),
  'user.unfrozen': frozen('Signing goes on', 'user_id'),
  'wallet.frozen': frozen('A sub-wallet is frozen', 'sub_wallet_id'),
  'wallet.unfrozen': frozen('A sub-wallet is no longer frozen', 'sub_wallet_id'),
  'key.frozen': frozen('An API key is frozen', 'key_id'),
  'key.unfrozen': frozen('An API key is no longer frozen', 'key_id'),
  'approval.requested': approval('A call waits for you'),
  'approval.approved': approval('A call was approved'),
  'approval.declined': approval('A call was declined'),
  'approval.expired': approval('A call has expired'),
  'webhook.test': () => ({
    title: 'A test of this channel',
    text: 'It works: events that you chose arrive here.',
  }),
}

export function alertText(type: EventType, data: Data): AlertText {
  const { title, text } = TEMPLATES[type](data)
  return { title: bounded(title), text: bounded(text) }
}

function transaction(what: string): Template {
  return (data) => {
    const error = data.error as { readonly message?: unknown } | null | undefined
    const why = error?.message === undefined ? '' : ` ${said(error.message)}`
    return {
      title: `A transaction ${what}: ${said(data.spend_usd)} USD`,
      text: `${said(data.tx_id)} on chain ${said(data.chain_id)}, to ${said(data.to)}.${why}`,
    }
  }
}

function approval(title: string): Template {
  return (data) => {
    const link = typeof data.url === 'string' ? ` ${data.url}` : ''
    return {
      title: `${title}: ${said(data.spend_usd)} USD`,
      text: `To ${said(data.to)} on chain ${said(data.chain_id)}, by the rule "${said(data.rule)}", until ${said(data.expires_at)}.${link}`,
    }
  }
}

function frozen(title: string, idField: string): Template {
  return (data) => {
    const reason = typeof data.reason === 'string' ? `: ${data.reason}` : ''
    return { title, text: `${said(data[idField])}, by ${said(data.by)}${reason}.` }
  }
}

function said(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–'
}

function bounded(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX - 1)}…`
}
