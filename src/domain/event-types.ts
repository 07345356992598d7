/**
 * The events of the service, one row each. The API document, the filters of endpoints, the messages to people and
 * the console's queries are made from these rows. To add an event, add its row, emit it, and describe it
 * (CONTRACT.md, "Events and webhooks").
 */

interface EventRow {
  /** When it happens: a sentence of the API document. */
  readonly when: string
  /** The shape of `data`, described in `src/api/openapi-webhooks.ts`. */
  readonly data: EventShape
  /** What people read in a chat, a mail or on a telephone. */
  readonly alert: (data: EventData) => AlertText
  /** The emoji that ntfy shows; null for none. */
  readonly ntfyTag: string | null
  /** The endpoints that receive it when they name no events: programs, people, both or none. */
  readonly byDefault: readonly ('webhook' | 'people')[]
  /** Read routes whose answers it makes stale, with everything below them. */
  readonly stale: readonly string[]
}

export type EventShape =
  | 'transaction'
  | 'key'
  | 'limit'
  | 'user_freeze'
  | 'wallet_freeze'
  | 'key_freeze'
  | 'approval'
  | 'endpoint'

/** The wire's `data` object (snake_case). */
export type EventData = Readonly<Record<string, unknown>>

/** One line, and one of detail. */
export interface AlertText {
  readonly title: string
  readonly text: string
}

const TRANSACTIONS = '/api/v1/agent/transactions'
const SPEND = '/api/v1/agent/spend'
const KEYS = '/api/v1/agent/keys'
const WALLETS = '/api/v1/agent/wallets'
const ME = '/api/v1/agent/me'

const sent = { data: 'transaction', stale: [TRANSACTIONS, SPEND] } as const
const settled = { data: 'transaction', stale: [TRANSACTIONS, SPEND, WALLETS] } as const
const approvals = {
  data: 'approval',
  stale: [TRANSACTIONS, SPEND, '/api/v1/agent/approvals'],
} as const
const keyChange = { data: 'key', stale: [KEYS, SPEND] } as const
const LIFTED = 'A user has lifted a freeze.'

export const EVENTS = {
  'transaction.broadcast': {
    ...sent,
    when: 'A node has accepted a transaction.',
    alert: transactionAlert('was sent'),
    ntfyTag: null,
    byDefault: [],
  },
  'transaction.confirmed': {
    ...settled,
    when: 'A transaction has reached the configured depth on its chain.',
    alert: transactionAlert('is confirmed'),
    ntfyTag: null,
    byDefault: ['webhook'],
  },
  'transaction.failed': {
    ...settled,
    when: 'A transaction was mined and reverted: its gas is spent, its value is not.',
    alert: transactionAlert('failed on chain'),
    ntfyTag: 'warning',
    byDefault: ['webhook', 'people'],
  },
  'transaction.dropped': {
    ...settled,
    when: 'A transaction can no longer be mined; its spend is released.',
    alert: transactionAlert('will not be mined'),
    ntfyTag: 'warning',
    byDefault: ['webhook', 'people'],
  },
  'key.rotated': {
    ...keyChange,
    when: 'A key was rotated; the old one ends after 24 hours.',
    alert: (data) => ({
      title: `API key ${shown(data.name)} was rotated`,
      text: `${shown(data.rotated_from)} gave way to ${shown(data.key_id)}.`,
    }),
    ntfyTag: null,
    byDefault: [],
  },
  'key.revoked': {
    ...keyChange,
    when: 'A key was revoked permanently.',
    alert: (data) => ({
      title: `API key ${shown(data.name)} was revoked`,
      text: `${shown(data.key_id)} of ${shown(data.sub_wallet_id)}.`,
    }),
    ntfyTag: null,
    byDefault: ['people'],
  },
  'limit.reached': {
    when: 'The spend of a key has crossed 80 % or all of a cap.',
    data: 'limit',
    alert: (data) => ({
      title: `API key has used ${shown(data.percent)} % of its ${shown(data.period)} cap`,
      text: `${shown(data.key_id)}: ${shown(data.used_usd)} of ${shown(data.limit_usd)} USD.`,
    }),
    ntfyTag: 'warning',
    byDefault: ['people'],
    stale: [SPEND],
  },
  'user.frozen': {
    when: 'A user was frozen: no new call is signed.',
    data: 'user_freeze',
    alert: freezeAlert('Everything of yours is frozen', 'user_id'),
    ntfyTag: 'no_entry',
    byDefault: ['people'],
    stale: [ME, TRANSACTIONS],
  },
  'user.unfrozen': {
    when: LIFTED,
    data: 'user_freeze',
    alert: freezeAlert('Signing goes on', 'user_id'),
    ntfyTag: null,
    byDefault: ['people'],
    stale: [ME],
  },
  'wallet.frozen': {
    when: 'A sub-wallet was frozen: no new call is signed.',
    data: 'wallet_freeze',
    alert: freezeAlert('A sub-wallet is frozen', 'sub_wallet_id'),
    ntfyTag: 'no_entry',
    byDefault: ['people'],
    stale: [WALLETS, TRANSACTIONS],
  },
  'wallet.unfrozen': {
    when: LIFTED,
    data: 'wallet_freeze',
    alert: freezeAlert('A sub-wallet is no longer frozen', 'sub_wallet_id'),
    ntfyTag: null,
    byDefault: ['people'],
    stale: [WALLETS],
  },
  'key.frozen': {
    when: 'A key lineage was frozen: no new call is signed.',
    data: 'key_freeze',
    alert: freezeAlert('An API key is frozen', 'key_id'),
    ntfyTag: 'no_entry',
    byDefault: ['people'],
    stale: [KEYS, TRANSACTIONS],
  },
  'key.unfrozen': {
    when: LIFTED,
    data: 'key_freeze',
    alert: freezeAlert('An API key is no longer frozen', 'key_id'),
    ntfyTag: null,
    byDefault: ['people'],
    stale: [KEYS],
  },
  'approval.requested': {
    ...approvals,
    when: 'A call waits for a person or for its time, or approval is requested again (see asked_again).',
    alert: approvalAlert('A call waits for you'),
    ntfyTag: 'raised_hand',
    byDefault: ['people'],
  },
  'approval.approved': {
    ...approvals,
    when: 'Enough people approved a call, or its time came.',
    alert: approvalAlert('A call was approved'),
    ntfyTag: null,
    byDefault: [],
  },
  'approval.declined': {
    ...approvals,
    when: 'A person declined a call; comment says why.',
    alert: approvalAlert('A call was declined'),
    ntfyTag: null,
    byDefault: [],
  },
  'approval.expired': {
    ...approvals,
    when: 'Nobody approved a call in time.',
    alert: approvalAlert('A call has expired'),
    ntfyTag: 'hourglass',
    byDefault: ['people'],
  },
  'webhook.test': {
    when: 'A test was requested.',
    data: 'endpoint',
    alert: () => ({
      title: 'A test of this channel',
      text: 'It works: events that you chose arrive here.',
    }),
    ntfyTag: null,
    byDefault: [],
    stale: ['/api/v1/agent/webhooks'],
  },
} as const satisfies Readonly<Record<string, EventRow>>

export type EventType = keyof typeof EVENTS

export const EVENT_TYPES = Object.keys(EVENTS) as [EventType, ...EventType[]]

/** What an endpoint for programs receives when it names no events. */
export const DEFAULT_EVENT_TYPES = defaultsOf('webhook')
/** What a channel for people receives when it names no events. */
export const DEFAULT_ALERT_TYPES = defaultsOf('people')

function defaultsOf(receiver: EventRow['byDefault'][number]): readonly EventType[] {
  return EVENT_TYPES.filter((type) => eventRow(type).byDefault.includes(receiver))
}

/** The row by its common type: each row of the table has literal types of its own. */
export function eventRow(type: EventType): EventRow {
  return EVENTS[type]
}

function transactionAlert(what: string): EventRow['alert'] {
  return (data) => {
    const error = data.error as { readonly message?: unknown } | null | undefined
    const why = error?.message === undefined ? '' : ` ${shown(error.message)}`
    return {
      title: `A transaction ${what}: ${shown(data.spend_usd)} USD`,
      text: `${shown(data.tx_id)} on chain ${shown(data.chain_id)}, to ${shown(data.to)}.${why}`,
    }
  }
}

function approvalAlert(title: string): EventRow['alert'] {
  return (data) => {
    const link = typeof data.url === 'string' ? ` ${data.url}` : ''
    return {
      title: `${title}: ${shown(data.spend_usd)} USD`,
      text: `To ${shown(data.to)} on chain ${shown(data.chain_id)}, by the rule "${shown(data.rule)}", until ${shown(data.expires_at)}.${link}`,
    }
  }
}

function freezeAlert(title: string, idField: string): EventRow['alert'] {
  return (data) => {
    const reason = typeof data.reason === 'string' ? `: ${data.reason}` : ''
    return { title, text: `${shown(data[idField])}, by ${shown(data.by)}${reason}.` }
  }
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '–'
}
